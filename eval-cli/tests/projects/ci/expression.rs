//! The expressions of GitHub's workflows, as far as they are used.

use std::collections::BTreeMap;

/// The values that an expression can read: contexts such as `github.run_id`, and whether a step has failed.
#[derive(Default)]
pub(super) struct Context {
    pub(super) values: BTreeMap<String, String>,
    pub(super) has_failed: bool,
}

/// The functions that say of the job how far it has come.
const STATUS: [&str; 4] = ["success()", "failure()", "always()", "cancelled()"];

impl Context {
    /// A text with the values of `${{ .. }}` in it.
    pub(super) fn fill(&self, text: &str) -> Result<String, String> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${{") {
            let (expression, after) =
                after.split_once("}}").ok_or_else(|| format!("`{text}` has no `}}}}`"))?;
            filled += before;
            filled += &self.value(expression.trim())?;
            rest = after;
        }
        Ok(filled + rest)
    }

    /// Whether a step with this condition runs. Without a function about the job, a step needs its success.
    pub(super) fn holds(&self, condition: Option<&str>) -> Result<bool, String> {
        let condition = condition.unwrap_or("success()").trim();
        let condition =
            condition.strip_prefix("${{").and_then(|it| it.strip_suffix("}}")).unwrap_or(condition);
        let is_implied = !STATUS.iter().any(|function| condition.contains(function));
        let mut holds = !(is_implied && self.has_failed);
        for term in condition.split("&&") {
            holds &= self.term(term.trim())?;
        }
        Ok(holds)
    }

    /// A comparison, or a function that may be negated.
    fn term(&self, term: &str) -> Result<bool, String> {
        for (operator, is_equal) in [("==", true), ("!=", false)] {
            if let Some((left, right)) = term.split_once(operator) {
                // GitHub compares texts without regard to their case.
                let equal = self.value(left.trim())?.eq_ignore_ascii_case(&self.value(right.trim())?);
                return Ok(equal == is_equal);
            }
        }
        match term {
            "success()" => Ok(!self.has_failed),
            "failure()" => Ok(self.has_failed),
            // No run here is cancelled.
            "always()" | "!cancelled()" => Ok(true),
            _ => Err(format!("`{term}` is no condition that is known here")),
        }
    }

    /// A text in quotes, or the value of a context.
    fn value(&self, name: &str) -> Result<String, String> {
        let quoted = name.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        if let Some(text) = quoted.filter(|text| !text.contains('\'')) {
            return Ok(text.to_owned());
        }
        self.values.get(name).cloned().ok_or_else(|| format!("`{name}` is no value that is known here"))
    }
}

#[test]
fn conditions_decide_as_at_github() {
    let context = |has_failed| Context {
        values: [("steps.tests.outcome", "failure"), ("github.run_id", "7")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        has_failed,
    };
    for (condition, before, after) in [
        (None, true, false),
        (Some("steps.tests.outcome == 'Failure'"), true, false),
        (Some("always()"), true, true),
        (Some("failure()"), false, true),
        (Some("${{ !cancelled() }}"), true, true),
        (Some("always() && steps.tests.outcome != 'skipped'"), true, true),
        (Some("always() && steps.tests.outcome != 'failure'"), false, false),
        (Some("${{ always() && success() }}"), true, false),
    ] {
        assert_eq!(context(false).holds(condition), Ok(before), "{condition:?}");
        assert_eq!(context(true).holds(condition), Ok(after), "{condition:?}, after a failure");
    }
    assert_eq!(context(false).fill("${{ github.run_id }}-${{github.run_id}}"), Ok("7-7".to_owned()));
    for unknown in
        ["always() || failure()", "(always())", "steps.test.outcome != 'skipped'", "hashFiles('a')"]
    {
        assert!(context(false).holds(Some(unknown)).is_err(), "{unknown}");
    }
    for unknown in ["${{ github.sha }}", "${{ github.run_id", "${{ format('{0}', github.run_id) }}"] {
        assert!(context(false).fill(unknown).is_err(), "{unknown}");
    }
}
