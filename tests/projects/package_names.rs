//! Names that a package gives: to its library, and to eval-core.

use crate::project::{Draft, echo_set};

/// A file of tests with one function under the attribute.
fn tests_of(function: &str) -> String {
    format!(
        "use eval_core::{{Agent, BoxError, agent_fn, eval_set}};\n\n\
         #[eval_set(\"evals/hello.evalset.json\")]\n\
         fn {function}() -> impl Agent {{\n    \
         agent_fn(|_message, _recorder| async {{ Ok::<_, BoxError>(said::hello()) }})\n}}\n\n\
         mod said {{\n    pub(super) fn hello() -> &'static str {{\n        \"Hello!\"\n    }}\n}}\n"
    )
}

fn package(name: &'static str) -> Draft {
    Draft::empty(name).file("evals/hello.evalset.json", echo_set(&[("hello", "Hello!")]))
}

#[test]
fn a_function_that_hides_the_library_is_an_error() {
    package("weather-desk")
        .file("src/lib.rs", "pub fn sky() -> &'static str {\n    \"sunny\"\n}\n")
        .file(
            "tests/weather_desk.rs",
            tests_of("weather_desk").replace("said::hello()", "weather_desk::sky()"),
        )
        .shared()
        .cargo(&["test", "--no-run"])
        .fails()
        .says("error: `weather_desk` is the name of this package's library")
        .says("call the function `weather_desk_cases`, say")
        .says("tests/weather_desk.rs:4:4")
        .says("due to 1 previous error");
}

#[test]
fn the_name_is_that_of_the_library_and_not_of_the_package() {
    let project = package("weather-post")
        .dependencies("[lib]\nname = \"sky\"\n\n[dev-dependencies]\neval-core = { {evals} }\n")
        .file("src/lib.rs", "")
        .file("tests/own.rs", tests_of("sky"))
        .file("tests/others.rs", tests_of("weather_post"))
        .shared();
    project.cargo(&["test", "--test", "own"]).fails().says("`sky` is the name of this package's library");
    project.cargo(&["test", "--test", "others"]).passes().ran(&[("weather_post::hello", "ok")]);
}

#[test]
fn in_the_library_itself_and_without_one_the_name_is_free() {
    let inside = tests_of("weather_van").replace('\n', "\n    ");
    package("weather-van")
        .file("src/lib.rs", format!("#[cfg(test)]\nmod evals {{\n    {inside}\n}}\n"))
        .shared()
        .cargo(&["test"])
        .passes()
        .ran(&[("evals::weather_van::hello", "ok")]);
    package("weather-bin")
        .file("src/main.rs", "fn main() {}\n")
        .file("tests/evals.rs", tests_of("weather_bin"))
        .shared()
        .cargo(&["test"])
        .passes()
        .ran(&[("weather_bin::hello", "ok")]);
}

#[test]
fn a_renamed_dependency_that_the_attribute_was_not_told_is_one_error() {
    let dependencies = "[dev-dependencies]\nmy-evals = { package = \"eval-core\", {evals} }\n";
    package("renamed-silently")
        .dependencies(dependencies)
        .file("src/lib.rs", "")
        .file("tests/evals.rs", tests_of("greetings").replace("use eval_core::", "use my_evals::"))
        .shared()
        .cargo(&["test", "--no-run"])
        .fails()
        .says("this package calls `eval-core` `my_evals`, and the attribute was not told")
        .says("add `crate = my_evals` to its arguments")
        .never_says("E0433")
        .says("due to 1 previous error");
}
