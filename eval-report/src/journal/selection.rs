//! Which tests the arguments of a test binary select: libtest's filters.

/// The arguments that have a value of their own.
const WITH_VALUE: [&str; 8] =
    ["--color", "--ensure-time", "--format", "--logfile", "--shuffle-seed", "--skip", "--test-threads", "-Z"];

/// What the arguments of a test binary select.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Selection<'a> {
    filters: Vec<&'a str>,
    skipped: Vec<&'a str>,
    exact: bool,
    ignored: bool,
    include_ignored: bool,
}

impl<'a> Selection<'a> {
    pub(super) fn of(args: &'a [String]) -> Self {
        let mut selection = Self::default();
        let mut args = args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            match arg {
                "--exact" => selection.exact = true,
                "--ignored" => selection.ignored = true,
                "--include-ignored" => selection.include_ignored = true,
                "--skip" => selection.skipped.extend(args.next()),
                _ if WITH_VALUE.contains(&arg) => drop(args.next()),
                _ => match arg.strip_prefix("--skip=") {
                    Some(skipped) => selection.skipped.push(skipped),
                    None if arg.starts_with('-') => {}
                    None => selection.filters.push(arg),
                },
            }
        }
        selection
    }

    /// Whether a test runs.
    pub(super) fn selects(&self, test: &str, ignored: bool) -> bool {
        let matches = |filter: &&str| if self.exact { test == *filter } else { test.contains(*filter) };
        let named = self.filters.is_empty() || self.filters.iter().any(matches);
        let asked = match (ignored, self.include_ignored) {
            (_, true) => true,
            (ignored, false) => ignored == self.ignored,
        };
        named && asked && !self.skipped.iter().any(matches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_selected_as_libtest_selects_them() {
        for (args, test, ignored, expected) in [
            ("", "a::x", false, true),
            ("", "a::x", true, false),
            ("--ignored", "a::x", true, true),
            ("--ignored", "a::x", false, false),
            ("--include-ignored", "a::x", true, true),
            ("a::", "a::x", false, true),
            ("b:: ::x", "a::x", false, true),
            ("a:: --exact", "a::x", false, false),
            ("--exact a::x", "a::x", false, true),
            ("--skip x", "a::x", false, false),
            ("--skip=x --exact", "a::x", false, true),
            ("--test-threads 1 --nocapture -Z unstable-options --format json", "a::x", false, true),
            ("--test-threads=1 -q", "a::x", false, true),
        ] {
            let words: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
            assert_eq!(Selection::of(&words).selects(test, ignored), expected, "{args}: {test}");
        }
    }
}
