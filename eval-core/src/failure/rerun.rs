//! The command that runs a test again.

use eval_support::variables::NEXTEST_BINARY_ID;

use crate::compiled::Test;

/// What the command cannot know: no variable tells a test how it was built.
pub(crate) const NOT_KNOWN: &str = "with the --features and the --profile of this run, if it had any";

/// The command that runs this test alone, with the runner that runs it now.
pub(crate) fn rerun_command(test: &Test) -> String {
    let set = test.set;
    let takes_ignored = std::env::args_os().any(|arg| arg == "--ignored" || arg == "--include-ignored");
    let is_nextest = std::env::var_os("NEXTEST").is_some();
    // `app::evals`, and `app` for the library of the package `app`.
    let id = std::env::var(NEXTEST_BINARY_ID).ok().filter(|_| is_nextest);
    let id = id.as_deref().and_then(|id| id.strip_prefix(set.package));
    let id = id.and_then(|id| if id.is_empty() { Some(id) } else { id.strip_prefix("::") });
    let target = set.target.option(id, std::env::current_exe().ok().as_deref());
    command(set.package, target.as_deref(), &test.path(), is_nextest, takes_ignored)
}

/// If ignored tests were asked for, the command asks for them again: without that it would run no test, and pass.
fn command(package: &str, target: Option<&str>, path: &str, is_nextest: bool, takes_ignored: bool) -> String {
    let which = target.map_or(format!("-p {package}"), |target| format!("-p {package} {target}"));
    match (is_nextest, takes_ignored) {
        (true, false) => format!("cargo nextest run {which} -E 'test(={path})'"),
        (true, true) => format!("cargo nextest run {which} --run-ignored all -E 'test(={path})'"),
        (false, false) => format!("cargo test {which} {path} -- --exact"),
        (false, true) => format!("cargo test {which} {path} -- --exact --include-ignored"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_run_again_in_its_target_and_an_ignored_one_as_such() {
        for (target, is_nextest, takes_ignored, expected) in [
            (None, false, false, "cargo test -p app a::x -- --exact"),
            (Some("--test evals"), false, false, "cargo test -p app --test evals a::x -- --exact"),
            (Some("--lib"), false, true, "cargo test -p app --lib a::x -- --exact --include-ignored"),
            (Some("--test evals"), true, false, "cargo nextest run -p app --test evals -E 'test(=a::x)'"),
            (Some("--lib"), true, true, "cargo nextest run -p app --lib --run-ignored all -E 'test(=a::x)'"),
        ] {
            assert_eq!(command("app", target, "a::x", is_nextest, takes_ignored), expected);
        }
    }
}
