//! The command line of cargo or nextest, and the test binaries that it selects.

use std::path::Path;

use eval_core::journal::Head;

/// The selection that a runner was asked for.
#[derive(Debug, Default)]
pub(crate) struct Asked<'a> {
    tests: Vec<&'a str>,
    packages: Vec<&'a str>,
    /// Whether all test binaries are selected, even if some are named.
    all_tests: bool,
    /// Whether targets of other kinds are named.
    others: bool,
    pub(crate) goes_on: bool,
}

/// The options with a value that do not select test binaries.
const WITH_VALUE: [&str; 18] = [
    "--cargo-profile",
    "--color",
    "--config",
    "--exclude",
    "--features",
    "--jobs",
    "--lockfile-path",
    "--manifest-path",
    "--message-format",
    "--profile",
    "--retries",
    "--target",
    "--target-dir",
    "--test-threads",
    "-C",
    "-F",
    "-Z",
    "-j",
];

/// The options by which nextest selects tests other than by names of binaries.
const FILTERS: [&str; 9] = [
    "--archive-file",
    "--default-filter",
    "--filter-expr",
    "--filterset",
    "--partition",
    "--profile",
    "--run-ignored",
    "-E",
    "-P",
];

impl<'a> Asked<'a> {
    /// The selection of the runner of a process; `None` if it is not known.
    pub(crate) fn from_head(head: &'a Head) -> Option<Self> {
        let (program, words) = head.runner.split_first()?;
        let is_nextest = Path::new(program).file_name()? == "cargo-nextest";
        let mut words = words.iter().map(String::as_str);
        words.find(
            |word| if is_nextest { ["run", "r"].contains(word) } else { ["test", "t"].contains(word) },
        )?;
        let mut asked = Self::default();
        while let Some(word) = words.next().filter(|word| *word != "--") {
            let (option, inline) =
                word.split_once('=').map_or((word, None), |(option, it)| (option, Some(it)));
            let mut value = || inline.or_else(|| words.next());
            match option {
                // Only the runner can match a pattern.
                "--test" => asked.tests.push(value().filter(|name| !name.contains(['*', '?', '[']))?),
                "-p" | "--package" => asked.packages.push(value()?),
                "--tests" | "--all-targets" => asked.all_tests = true,
                "--bin" | "--example" | "--bench" => asked.others = value().is_some(),
                "--lib" | "--bins" | "--examples" | "--benches" | "--doc" => asked.others = true,
                "--no-fail-fast" | "--nff" => asked.goes_on = true,
                _ if is_nextest && (FILTERS.contains(&option) || !word.starts_with('-')) => return None,
                _ if WITH_VALUE.contains(&option) => drop(value()),
                // Names of tests, which are among the arguments of the test binaries too, and options without
                // a value.
                _ => {}
            }
        }
        // For nextest, words after `--` filter too.
        (!is_nextest || words.next().is_none()).then_some(asked)
    }

    /// Whether a test binary was to run, if its package was.
    pub(crate) fn has(&self, binary: &str) -> bool {
        let is_all = self.all_tests || self.tests.is_empty() && !self.others;
        is_all || self.tests.iter().any(|name| name.replace('-', "_") == binary.replace('-', "_"))
    }

    pub(crate) fn has_of(&self, package: &str, binary: &str) -> bool {
        (self.packages.is_empty() || self.packages.contains(&package)) && self.has(binary)
    }

    /// Whether each test binary that was to run is among these.
    pub(crate) fn is_within(&self, started: &[&str]) -> bool {
        let is_started =
            |name: &&str| started.iter().any(|it| it.replace('-', "_") == name.replace('-', "_"));
        !self.all_tests && !self.tests.is_empty() && self.tests.iter().all(is_started)
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn the_command_line_says_which_test_binaries_were_to_run() {
        for (line, expected) in [
            ("cargo test", Some(true)),
            ("/bin/cargo +nightly --offline t -p shop --features x", Some(true)),
            ("cargo test --test a --test=b -- --test-threads 1", Some(true)),
            ("cargo test --test a", Some(false)),
            ("cargo test --test a --tests", Some(true)),
            ("cargo test --lib", Some(false)),
            ("cargo test --bin shop --test b", Some(true)),
            ("cargo test --test my-evals", Some(false)),
            ("cargo test --test *", None),
            ("cargo test sunny -- --exact", Some(true)),
            ("cargo test --workspace --test a", Some(false)),
            ("cargo-nextest nextest run --filterset=all()", None),
            ("cargo-nextest nextest run --retries 2", Some(true)),
            ("cargo test --target-dir --test", Some(true)),
            ("cargo evals", None),
            ("cargo-nextest nextest run --no-fail-fast --workspace", Some(true)),
            ("cargo-nextest nextest run --test a", Some(false)),
            ("cargo-nextest nextest run --partition slice:1/2", None),
            ("cargo-nextest nextest run -E all()", None),
            ("cargo-nextest nextest run sunny", None),
            ("cargo-nextest nextest run -- sunny", None),
            ("", None),
        ] {
            let head = head(line);
            assert_eq!(Asked::from_head(&head).map(|asked| asked.has("b")), expected, "{line}");
        }
    }

    fn head(line: &str) -> Head {
        let mut head = Head::unwritten(SystemTime::UNIX_EPOCH);
        head.runner = line.split_whitespace().map(str::to_owned).collect();
        head
    }

    #[test]
    fn a_binary_is_to_run_where_its_package_is() {
        for (line, package, binary, expected) in [
            ("cargo test", "shop", "b", true),
            ("cargo test -p shop", "shop", "b", true),
            ("cargo test -p shop", "other", "b", false),
            ("cargo test -p shop --test a", "shop", "b", false),
            ("cargo test --test a", "other", "a", true),
        ] {
            let head = head(line);
            let asked = Asked::from_head(&head).expect("it is known");
            assert_eq!(asked.has_of(package, binary), expected, "{line}: {package} {binary}");
        }
    }

    #[test]
    fn all_that_was_named_is_within_what_started() {
        for (line, started, expected) in [
            ("cargo test --test a", &["a"][..], true),
            ("cargo test --test my-evals", &["other", "my_evals"], true),
            ("cargo test --test a --test b", &["a"], false),
            ("cargo test --test a", &["b"], false),
            ("cargo test --test a --tests", &["a"], false),
            ("cargo test", &["a"], false),
        ] {
            let head = head(line);
            assert_eq!(Asked::from_head(&head).expect("it is known").is_within(started), expected, "{line}");
        }
    }
}
