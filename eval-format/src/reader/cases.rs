//! Sets in the present format: their shape, and rules beyond it.

use std::collections::HashMap;
use std::ops::Range;

use eval_support::spelling::is_misspelling;

use super::checked::{Reading, SetFormat};
use super::scenario;
use crate::expect;
use crate::model::{EvalCase, EvalSet, TAGS};
use crate::problem::{Problem, ProblemCode, shown};
use crate::schema::{EVAL_CASE, EVAL_SET, EVAL_SET_ANY_CASE, Model, Place, Walker, opening};
use crate::syntax::{Entry, Kind, Node};
use crate::{model_faults, rubrics, tags, tools};

pub(super) fn read_eval_set(root: &Node<'_>) -> Reading {
    let mut problems = Vec::new();
    let mut walker = Walker { problems: &mut problems };
    let model = model_of(root);
    let set = walker.record(root, model, &Place::Root).map(EvalSet::from);
    let read = set.as_ref().map(|set| set.eval_cases.as_slice()).unwrap_or_default();
    let mut cases = Vec::new();
    let entry = root.object().and_then(|entries| model.entry(entries, "eval_cases"));
    if let Some((entry, items)) = entry.and_then(|entry| Some((entry, entry.value.array()?))) {
        let place = Place::Key(&Place::Root, &entry.key);
        if items.is_empty() {
            walker.problems.push(no_cases(&entry.value, &place));
        }
        for (at, item) in items.iter().enumerate() {
            let place = Place::Index(&place, at);
            let case = (read.len() == items.len()).then(|| &read[at]);
            check_case(item, case, &place, &mut walker);
            if let Some(id) = id_of(item) {
                cases.push((id.0.to_owned(), id.1, item.range.clone()));
            }
        }
        let ids = items.iter().enumerate().filter_map(|(at, item)| Some((at, id_of(item)?)));
        check_ids(ids, &place, &mut walker);
    }
    Reading { form: SetFormat::EvalSet, set, cases, problems }
}

/// The model of an eval set. If the required keys are in `snake_case`, ADK ignores camelCase keys.
pub(crate) fn model_of(root: &Node<'_>) -> &'static Model {
    let snake = root.get("eval_set_id").is_some() && root.get("eval_cases").is_some();
    if snake { &EVAL_SET } else { &EVAL_SET_ANY_CASE }
}

pub(super) fn case(node: &Node<'_>, place: &Place<'_>, walker: &mut Walker<'_>) -> Option<EvalCase> {
    let record = walker.record(node, &EVAL_CASE, place)?;
    let case = record.into();
    check_case(node, Some(&case), place, walker);
    Some(case)
}

/// Checks the rules for a case beyond its shape.
fn check_case(node: &Node<'_>, case: Option<&EvalCase>, place: &Place<'_>, walker: &mut Walker<'_>) {
    check_conversation(node, place, walker);
    if let Some((_, faults)) = case.and_then(expect::resolved) {
        let path = place.path();
        walker.problems.extend(faults.into_iter().map(|fault| fault.problem(node, &path)));
    }
    check_keys(node, place, walker);
    check_criteria(node, place, walker);
    tools::check(node, place, walker);
    model_faults::check(node, place, walker);
    rubrics::check_case(node, place, walker.problems);
    tags::check_case(node, place, walker.problems);
}

fn id_of<'n>(case: &'n Node<'_>) -> Option<(&'n str, Range<usize>)> {
    let entry = EVAL_CASE.entry(case.object()?, "eval_id")?;
    Some((entry.value.string()?, entry.value.range.clone()))
}

pub(super) fn no_cases(cases: &Node<'_>, place: &Place<'_>) -> Problem {
    place
        .error(ProblemCode::NoCases, cases.range.clone(), "the set has no cases")
        .label("nothing to test")
        .help("add a case: an object with `eval_id` and `conversation`")
}

pub(super) fn empty_conversation(conversation: &Node<'_>, place: &Place<'_>) -> Problem {
    place
        .error(ProblemCode::EmptyConversation, conversation.range.clone(), "the case has no turns")
        .label("nothing to test")
}

/// Reports cases with the same id. ADK refuses to run them, or scores one against the expectations of the other.
pub(super) fn check_ids<'n>(
    ids: impl Iterator<Item = (usize, (&'n str, Range<usize>))>,
    cases: &Place<'_>,
    walker: &mut Walker<'_>,
) {
    let mut seen: HashMap<&str, Range<usize>> = HashMap::new();
    for (at, (id, range)) in ids {
        if let Some(first) = seen.get(id) {
            let message = format!("two cases have the id `{}`", shown(id));
            let problem = Place::Index(cases, at).error(ProblemCode::DuplicateEvalId, range, message);
            walker.problems.push(
                problem
                    .label("used again here")
                    .related(first.clone(), "first used here")
                    .help("rename one of them; tests are named after the id"),
            );
        } else {
            seen.insert(id, range);
        }
    }
}

/// Keys of a case that look like expectations or criteria, and that nothing reads, each with the key that is read.
pub(crate) const LOOK_LIKE_EXPECTATIONS: [(&str, &str); 23] = [
    ("_expectation", EvalCase::EXPECT_KEY),
    ("_expectations", EvalCase::EXPECT_KEY),
    ("_expected", EvalCase::EXPECT_KEY),
    ("_faults", EvalCase::TOOLS_KEY),
    ("_match", EvalCase::EXPECT_KEY),
    ("_metrics", EvalCase::CRITERIA_KEY),
    ("_rules", EvalCase::EXPECT_KEY),
    ("_tag", TAGS),
    ("_tags", TAGS),
    ("assert", ""),
    ("assertion", ""),
    ("assertions", ""),
    ("asserts", ""),
    ("criteria", EvalCase::CRITERIA_KEY),
    ("criterion", EvalCase::CRITERIA_KEY),
    ("expect", EvalCase::EXPECT_KEY),
    ("expected", EvalCase::EXPECT_KEY),
    ("expects", EvalCase::EXPECT_KEY),
    ("faults", EvalCase::TOOLS_KEY),
    ("match", EvalCase::EXPECT_KEY),
    ("threshold", EvalCase::CRITERIA_KEY),
    ("thresholds", EvalCase::CRITERIA_KEY),
    ("tools", EvalCase::TOOLS_KEY),
];

/// Keys that other tools have for notes of their own.
const KEYS_OF_OTHERS: [(&str, &str); 3] = [("expectation", ""), ("expectations", ""), ("tag", TAGS)];

/// Keys of ours. They begin with `_`, so a misspelt one would be a comment.
pub(super) const OWN_KEYS: [&str; 4] =
    [EvalCase::EXPECT_KEY, EvalCase::CRITERIA_KEY, EvalCase::TOOLS_KEY, EvalCase::MODELS_KEY];

/// Reports keys that look as if they decided something. ADK keeps them, and nothing would be checked.
pub(super) fn check_keys(case: &Node<'_>, place: &Place<'_>, walker: &mut Walker<'_>) {
    const INSTEAD: &str = "what decides is `test_config.json` or the arguments of the attribute, and in a turn \
                           `final_response` and `intermediate_data`; what may vary in them is `_expect`, and a remark is \
                           a key like `_note`";
    for entry in case.object().into_iter().flatten() {
        let key = entry.key.as_ref();
        let of = |keys: &[(&str, &'static str)]| {
            keys.iter().find(|(known, _)| *known == key).map(|(_, meant)| *meant)
        };
        let misspelt = || OWN_KEYS.into_iter().find(|own| key.starts_with('_') && is_misspelling(key, own));
        let known = of(&LOOK_LIKE_EXPECTATIONS).or_else(misspelt).or_else(|| in_other_letters(key));
        let (problem, meant): (fn(_, _, _, String) -> Problem, _) = match (known, of(&KEYS_OF_OTHERS)) {
            (Some(meant), _) => (Problem::error, meant),
            (None, Some(meant)) => (Problem::warning, meant),
            (None, None) => continue,
        };
        let does = if meant == TAGS { "selects" } else { "checks" };
        let (path, message) =
            (Place::Key(place, key).path(), format!("`{}` of a case {does} nothing", shown(key)));
        let found = problem(ProblemCode::IgnoredKey, path, entry.key_range.clone(), message);
        let found = found.label("nothing reads this key");
        walker.problems.push(match meant {
            "" => found.help(INSTEAD),
            meant => found.help(format!("did you mean `{meant}`? (a remark can be a key like `_note`)")),
        });
    }
}

/// The key that is meant by one in capital letters: `Expect`, `TAGS`.
fn in_other_letters(key: &str) -> Option<&'static str> {
    if key.len() > MAX_KEY_BYTES || !key.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    let key = key.to_ascii_lowercase();
    let own = OWN_KEYS.into_iter().chain([TAGS]).find(|own| *own == key);
    own.or_else(|| LOOK_LIKE_EXPECTATIONS.iter().find(|(known, _)| *known == key).map(|(_, meant)| *meant))
}

/// The most bytes of a key that may be one of these.
const MAX_KEY_BYTES: usize = 32;

/// Checks the shape of the criteria of a case. Whether they fit its config is checked with the config.
fn check_criteria(case: &Node<'_>, place: &Place<'_>, walker: &mut Walker<'_>) {
    const EXAMPLE: &str =
        r#"write `"_criteria": {"response_match_score": 0.5}`, or `null` for a metric that is not meant"#;
    let Some(entry) = case.get(EvalCase::CRITERIA_KEY).filter(|entry| !entry.value.is_null()) else { return };
    let place = &Place::Key(place, &entry.key);
    let entries = entry.value.object().unwrap_or_default();
    if entries.is_empty() {
        let message = format!(
            "`{}` must be an object of criteria, not {}",
            entry.key,
            match &entry.value.kind {
                Kind::Object(_) => "an empty one",
                _ => entry.value.kind_name(),
            }
        );
        let problem = place.error(ProblemCode::CaseCriteria, entry.value.range.clone(), message);
        walker.problems.push(problem.label("changes no criterion").help(EXAMPLE));
    }
    for entry in entries {
        if matches!(entry.value.kind, Kind::Null | Kind::Number(_) | Kind::Object(_)) {
            continue;
        }
        let found = entry.value.kind_name();
        let message = format!("a criterion of a case must be a threshold, an object or null, not {found}");
        let place = Place::Key(place, &entry.key);
        let problem = place.error(ProblemCode::CaseCriteria, entry.value.range.clone(), message);
        walker.problems.push(problem.label("no criterion").help(EXAMPLE));
    }
}

/// Checks that a case has either turns or a scenario.
fn check_conversation(case: &Node<'_>, place: &Place<'_>, walker: &mut Walker<'_>) {
    const CODE: ProblemCode = ProblemCode::ConversationOrScenario;
    let Some(entries) = case.object() else { return };
    let there = |name: &str| EVAL_CASE.entry(entries, name).filter(|entry| !entry.value.is_null());
    let problem = match (there("conversation"), there("conversation_scenario")) {
        (None, None) if is_misspelt(entries) => return,
        (None, None) => place
            .error(CODE, opening(case), "the eval case has no `conversation`")
            .label("`conversation` is missing here")
            .help(
            r#"add `"conversation": [{"user_content": {"parts": [{"text": "..."}]}}]`, or a `conversation_scenario`"#,
        ),
        (Some(turns), Some(scenario)) => Place::Key(place, &scenario.key)
            .error_at_key(CODE, scenario, "the eval case has both a conversation and a scenario")
        .label("a scenario")
        .related(turns.key_range.clone(), "a conversation")
        .help("keep one of them: the turns as they were recorded, or the scenario to improvise on"),
        (Some(turns), None) if turns.value.array().is_some_and(<[_]>::is_empty) => {
            empty_conversation(&turns.value, &Place::Key(place, &turns.key))
                .help(r#"add a turn: `{"user_content": {"parts": [{"text": "..."}]}}`"#)
        }
        (Some(_), None) => return,
        (None, Some(scenario)) => return scenario::check(scenario, place, walker),
    };
    walker.problems.push(problem);
}

/// Whether one of the two keys is misspelt, which is an error of its own.
fn is_misspelt(entries: &[Entry<'_>]) -> bool {
    let names = ["conversation", "conversation_scenario", "conversationScenario"];
    // The two spellings of the scenario resemble each other, and `_conversation` resembles `conversation`.
    let is_known = |key: &str| key.starts_with('_') || EVAL_CASE.find(key).is_some();
    let mut unknown = entries.iter().filter(|entry| !is_known(&entry.key));
    unknown.any(|entry| names.iter().any(|name| is_misspelling(&entry.key, name)))
}

#[cfg(test)]
mod tests {
    use crate::problem::{ProblemCode, Severity};
    use crate::reader::check_set;

    #[test]
    fn a_key_of_a_case_that_looks_like_an_expectation_is_an_error_with_its_place() {
        for (key, severity) in [
            ("criteria", Severity::Error),
            ("expect", Severity::Error),
            ("expected", Severity::Error),
            ("assertions", Severity::Error),
            ("match", Severity::Error),
            ("_match", Severity::Error),
            ("_tool", Severity::Error),
            ("tools", Severity::Error),
            ("faults", Severity::Error),
            ("_faults", Severity::Error),
            ("Expect", Severity::Error),
            ("EXPECT", Severity::Error),
            ("_EXPECT", Severity::Error),
            ("_expectation", Severity::Error),
            ("_expectations", Severity::Error),
            ("_rules", Severity::Error),
            ("_metrics", Severity::Error),
            ("_tags", Severity::Error),
            ("_tag", Severity::Error),
            ("Tags", Severity::Error),
            ("tag", Severity::Warning),
            ("expectations", Severity::Warning),
        ] {
            let turns = r#"[{"user_content": {"parts": [{"text": "Hi"}]}}]"#;
            let text = format!(
                r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "{key}": {{}}, "conversation": {turns}}}]}}"#
            );
            let checked = check_set("s.json", text.as_bytes(), None);
            let [problem] = checked.problems.as_slice() else { panic!("{key}: {:#?}", checked.problems) };
            assert_eq!((problem.code, problem.severity), (ProblemCode::IgnoredKey, severity), "{key}");
            assert_eq!(&text[problem.range.clone()], format!("\"{key}\""));
            let meant = match key.trim_start_matches('_').to_ascii_lowercase().as_str() {
                "assertions" | "expectations" if !key.starts_with('_') => "",
                "criteria" | "metrics" => "did you mean `_criteria`?",
                "tool" | "tools" | "faults" => "did you mean `_tools`?",
                "tag" | "tags" => "did you mean `tags`?",
                _ => "did you mean `_expect`?",
            };
            assert!(problem.help.as_ref().is_some_and(|help| help.starts_with(meant)), "{problem:?}");
            for free in ["_note", "category", "owner"] {
                let noted = text.replace(&format!("\"{key}\""), &format!("\"{free}\""));
                assert!(check_set("s.json", noted.as_bytes(), None).problems.is_empty(), "{free}");
            }
        }
    }
}
