//! The runtime that tests ask for.

use crate::project::{Draft, Project, echo_set};

fn draft() -> Draft {
    Draft::new("runtime").file("evals/hello.evalset.json", echo_set(&[("hello", "Hello!")]))
}

#[test]
fn with_the_feature_tests_run_on_several_threads() {
    draft()
        .shared()
        .cargo(&["test"])
        .passes()
        .never_says("warning")
        .ran(&[("one_thread::hello", "ok"), ("threads::hello", "ok")]);
}

#[test]
fn without_the_feature_the_error_names_it() {
    without_features()
        .cargo(&["test", "--no-run"])
        .fails()
        .says("error: `flavor = \"multi_thread\"` needs the feature `multi-thread` of `eval-core`")
        .says("features = [\"multi-thread\"]")
        .says("--> tests/runtime.rs:4:")
        .says("due to 1 previous error");
}

fn without_features() -> Project {
    let dependencies = "[dev-dependencies]\neval-core.path = \"{workspace}/eval-core\"\n\
         tokio = { version = \"1\", default-features = false, features = [\"macros\", \"rt\", \"time\"] }\n";
    draft().named("runtime_without_features").dependencies(dependencies).shared()
}
