//! Drafts in a file: cases that are not reviewed yet, which no test runs.

use eval_support::shell;

use super::checked::{CaseSpan, CheckedSet};
use crate::model::DRAFT;
use crate::problem::{Problem, ProblemCode, shown};

/// The number of drafts that a message names. Further drafts are only counted.
const MAX_NAMED_DRAFTS: usize = 3;

impl CheckedSet {
    /// The cases that are drafts, with their places; none if the set has an error. See
    /// [`EvalCase::draft`](crate::EvalCase::draft).
    pub fn drafts(&self) -> impl Iterator<Item = &CaseSpan> {
        self.placed_cases().filter(|(case, _)| case.draft().is_some()).map(|(_, span)| span)
    }

    /// One problem for all drafts among the cases that `takes` accepts, at the first mark in the text. A file
    /// with drafts is valid, so [`check_set`](super::check_set) does not report them; the attribute and the
    /// runner refuse them.
    ///
    /// ```
    /// let text = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "sunny", "_draft": {"from": "a chat"},
    ///     "conversation": [{"user_content": {"parts": [{"text": "Weather in Paris?"}]}}]}]}"#;
    /// let checked = eval_format::reader::check_set("s.evalset.json", text.as_bytes(), None);
    /// assert!(checked.problems.is_empty());
    /// let problem = checked.draft_problem(|_| true).unwrap();
    /// assert_eq!(problem.message, "the case `sunny` is a draft that nobody has accepted");
    /// assert_eq!(&text[problem.range], "\"_draft\"");
    /// assert!(checked.draft_problem(|eval_id| eval_id != "sunny").is_none());
    /// ```
    pub fn draft_problem(&self, takes: impl Fn(&str) -> bool) -> Option<Problem> {
        let drafts = self.placed_cases().enumerate().filter(|(_, (case, _))| case.draft().is_some());
        let taken: Vec<(usize, &CaseSpan)> =
            drafts.map(|(at, (_, span))| (at, span)).filter(|(_, span)| takes(&span.eval_id)).collect();
        let (at, first) = *taken.first()?;
        let ids: Vec<&str> = taken.iter().map(|(_, span)| span.eval_id.as_str()).collect();
        let range = self.key_in(first, &[DRAFT]).map_or_else(|| first.id_range.clone(), |(_, range)| range);
        let path = self.path_of(at).key(DRAFT);
        let problem = Problem::error(ProblemCode::Draft, path, range, drafts_are(&ids));
        Some(problem.label("the mark of a draft").help(how_to_accept(&self.file, &ids)))
    }
}

/// The message about drafts: the first few by name, and their number.
pub fn drafts_are(eval_ids: &[&str]) -> String {
    let named: Vec<String> =
        eval_ids.iter().take(MAX_NAMED_DRAFTS).map(|id| format!("`{}`", shown(id))).collect();
    match (eval_ids.len(), named.as_slice()) {
        (1, [one]) => format!("the case {one} is a draft that nobody has accepted"),
        (all @ ..=MAX_NAMED_DRAFTS, [first @ .., last]) => {
            format!("{all} cases are drafts that nobody has accepted: {} and {last}", first.join(", "))
        }
        (all, _) => format!(
            "{all} cases are drafts that nobody has accepted: {} and {} more",
            named.join(", "),
            all.saturating_sub(MAX_NAMED_DRAFTS)
        ),
    }
}

/// The help for accepting drafts: by name if they are few, else one by one.
pub fn how_to_accept(file: &str, eval_ids: &[&str]) -> String {
    let named =
        eval_ids.len() <= MAX_NAMED_DRAFTS && eval_ids.iter().all(|id| id.len() < 100 && shown(id) == **id);
    let selected = if named { format!("{file}:{}", eval_ids.join(",")) } else { file.to_owned() };
    let word = shell::word(&selected);
    format!(
        "review what is expected, then `cargo evalset accept {word}`; or `cargo evalset remove-case` drops a draft"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::check_set;

    fn set(cases: &[(&str, bool)]) -> CheckedSet {
        let case = |(id, draft): &(&str, bool)| {
            let mark = if *draft { r#", "_draft": {}"# } else { "" };
            format!(r#"{{"eval_id": "{id}", "conversation": [{{"user_content": {{}}}}]{mark}}}"#)
        };
        let cases: Vec<String> = cases.iter().map(case).collect();
        let text = format!(r#"{{"eval_set_id": "s", "eval_cases": [{}]}}"#, cases.join(", "));
        check_set("e/s.evalset.json", text.as_bytes(), None)
    }

    #[test]
    fn all_drafts_of_a_file_are_one_problem_that_names_the_command() {
        for (cases, message, command) in [
            (&[("a", true)][..], "the case `a` is a draft that nobody has accepted", "e/s.evalset.json:a"),
            (
                &[("a", false), ("b", true), ("in c", true)],
                "2 cases are drafts that nobody has accepted: `b` and `in c`",
                "'e/s.evalset.json:b,in c'",
            ),
            (
                &[("a", true), ("b", true), ("it's", true)],
                "3 cases are drafts that nobody has accepted: `a`, `b` and `it's`",
                r"'e/s.evalset.json:a,b,it'\''s'",
            ),
            (
                &[("a", true), ("b", true), ("c", true), ("d", true), ("e", true)],
                "5 cases are drafts that nobody has accepted: `a`, `b`, `c` and 2 more",
                "e/s.evalset.json",
            ),
        ] {
            let checked = set(cases);
            let problem = checked.draft_problem(|_| true).unwrap();
            assert_eq!(problem.message, message);
            let help = problem.help.as_deref().unwrap();
            assert!(help.contains(&format!("`cargo evalset accept {command}`")), "{help}");
            let first = cases.iter().position(|(_, draft)| *draft).unwrap();
            assert_eq!(problem.path.to_string(), format!("eval_cases[{first}]._draft"));
            assert_eq!(problem.range.start, checked.text.find("\"_draft\"").unwrap());
            assert_eq!(checked.drafts().count(), cases.iter().filter(|(_, draft)| *draft).count());
        }
        assert!(set(&[("a", false)]).draft_problem(|_| true).is_none());
        assert!(set(&[("a", true), ("b", false)]).draft_problem(|id| id == "b").is_none());
    }

    #[test]
    fn a_draft_in_the_old_form_is_a_draft() {
        let text = r#"[{"name": "a", "data": [{"query": "Hi"}], "_draft": {"from": "x"}}]"#;
        let checked = check_set("s.evalset.json", text.as_bytes(), None);
        assert_eq!(checked.draft_problem(|_| true).unwrap().path.to_string(), "[0]._draft");
        #[cfg(feature = "export")]
        assert!(checked.unwritten().is_empty(), "a set of today's form keeps it");
        let case = &checked.set.unwrap().eval_cases[0];
        assert_eq!(case.draft().unwrap()["from"].as_str(), Some("x"));
    }
}
