//! The runtime that tests ask for.

use crate::project::{Draft, Project, echo_set};

fn project(name: &'static str, features: &str) -> Project {
    let dependencies = format!(
        "[dev-dependencies]\neval-core = {{ path = \"{{workspace}}/eval-core\", features = [{features}] }}\n\
         tokio = {{ version = \"1\", default-features = false, features = [\"macros\", \"rt\", \"time\"] }}\n"
    );
    Draft::new("runtime")
        .named(name)
        .dependencies(&dependencies)
        .file("evals/hello.evalset.json", echo_set(&[("hello", "Hello!")]))
        .shared()
}

#[test]
fn with_the_feature_tests_run_on_several_threads() {
    project("runtime_multi", "\"judges\", \"multi-thread\"")
        .cargo(&["test"])
        .passes()
        .never_says("warning")
        .ran(&[("one_thread::hello", "ok"), ("threads::hello", "ok")]);
}

#[test]
fn without_the_feature_the_error_names_it() {
    project("runtime_single", "\"judges\"")
        .cargo(&["test", "--no-run"])
        .fails()
        .says("error: `flavor = \"multi_thread\"` needs the feature `multi-thread` of `eval-core`")
        .says("features = [\"multi-thread\"]")
        .says("--> tests/runtime.rs:4:")
        .says("due to 1 previous error");
}
