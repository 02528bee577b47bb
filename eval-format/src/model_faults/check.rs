//! Faults of models, checked with places.

use eval_support::words::count;

use super::ModelFaults;
use crate::mistakes::{Mistake, Step, located};
use crate::model::EvalCase;
use crate::problem::{Problem, ProblemCode};
use crate::schema::{EVAL_CASE, Place, Walker};
use crate::syntax::Node;
use crate::text;

/// Checks the key `_models` of a case.
pub(crate) fn check(case: &Node<'_>, place: &Place<'_>, walker: &mut Walker<'_>) {
    let Some(entry) = case.get(EvalCase::MODELS_KEY) else { return };
    let (faults, mut mistakes) = ModelFaults::read(&entry.value.to_value());
    let turns = case.object().and_then(|entries| EVAL_CASE.entry(entries, "conversation"));
    let turns = turns.and_then(|turns| turns.value.array()).map_or(0, <[_]>::len);
    if mistakes.is_empty() {
        let beyond = faults.iter().enumerate().filter(|(_, fault)| turns > 0 && fault.turn > turns);
        mistakes.extend(beyond.map(|(at, fault)| Mistake {
            code: ProblemCode::ModelFault,
            path: vec![
                Step::named(ModelFaults::LIST_KEY),
                Step::Index(at),
                Step::named("at"),
                Step::named("turn"),
            ],
            at_key: false,
            message: format!("there is no turn {}: the case has {}", fault.turn, count(turns, "turn")),
            help: "number the turns from 1".to_owned(),
        }));
    }
    let place = &Place::Key(place, EvalCase::MODELS_KEY);
    walker.problems.extend(mistakes.iter().map(|mistake| located(mistake, Some(entry), &entry.value, place)));
}

/// The faults of a text such as the value of `_models`, and its problems, in the order of the text.
pub fn check_model_faults(text: &str) -> (ModelFaults, Vec<Problem>) {
    let (_, faults, problems) = text::read(
        text.as_bytes(),
        |_, problem| problem,
        |root, problems| {
            let (faults, mistakes) = ModelFaults::read(&root.to_value());
            problems.extend(mistakes.iter().map(|mistake| located(mistake, None, root, &Place::Root)));
            Some(faults)
        },
    );
    (faults.unwrap_or_default(), problems)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::model_faults::{AnswerChange, FaultKind};
    use crate::reader::check_set;

    use super::*;

    fn problems(models: &str) -> Vec<String> {
        let turn = r#"{"user_content": {"parts": [{"text": "Hi"}]}}"#;
        let text = format!(
            r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "_models": {models}, "conversation": [{turn}]}}]}}"#
        );
        let checked = check_set("s.json", text.as_bytes(), None);
        let shown = checked.problems.iter().map(|problem| {
            format!(
                "{} {} at {} `{}`",
                problem.code,
                problem.message,
                problem.path,
                &text[problem.range.clone()]
            )
        });
        shown.collect()
    }

    fn of_one(fault: &str) -> String {
        format!(r#"{{"faults": [{{"at": {{"turn": 1, "call": 1}}, "fault": {fault}}}]}}"#)
    }

    #[test]
    fn each_fault_is_read_whatever_the_order_of_its_keys() {
        let status = |status, wait| FaultKind::Status { status, retry_after: wait };
        for (fault, expected) in [
            (r#"{"status": 429}"#, status(429, None)),
            (r#"{"retry_after": 0.001, "status": 429}"#, status(429, Some(Duration::from_millis(1)))),
            (r#""reset""#, FaultKind::Reset),
            (r#"{"hang": 2, "_note": "a comment"}"#, FaultKind::Hang(Duration::from_secs(2))),
            (r#""cut""#, FaultKind::Cut { events: 1, is_error: false }),
            (r#"{"cut": {"events": 3}}"#, FaultKind::Cut { events: 3, is_error: false }),
            (r#"{"error_in_stream": {"events": 0}}"#, FaultKind::Cut { events: 0, is_error: true }),
            (r#"{"truncate": "max_tokens"}"#, FaultKind::Changed(AnswerChange::Truncated)),
            (r#""malformed_arguments""#, FaultKind::Changed(AnswerChange::MalformedArguments)),
            (r#""empty""#, FaultKind::Changed(AnswerChange::Empty)),
        ] {
            let (faults, problems) = check_model_faults(&of_one(fault));
            assert!(problems.is_empty(), "{problems:?}");
            assert_eq!(faults.at(1, 1).map(|fault| fault.kind), Some(expected), "{fault}");
            assert!(faults.at(1, 2).is_none() && faults.at(2, 1).is_none());
        }
        assert_eq!(problems("null"), Vec::<String>::new());
    }

    #[test]
    fn a_mistake_is_an_error_with_its_place() {
        let list = "eval_cases[0]._models.faults";
        for (models, expected) in [
            ("[]".to_owned(), "wrong-type `_models` is an object with `faults`, and this is an array at eval_cases[0]._models `[]`".to_owned()),
            (r#"{"fault": []}"#.to_owned(), "unknown-key the key `fault` is unknown at eval_cases[0]._models.fault `\"fault\"`".to_owned()),
            (r#"{"faults": {}}"#.to_owned(), format!("wrong-type `faults` is an array, and this is an object at {list} `{{}}`")),
            (of_one(r#""explode""#), format!("model-fault \"explode\" is no fault at {list}[0].fault `\"explode\"`")),
            (of_one(r#"{"status": 200}"#), format!("wrong-type `status` is 200 at {list}[0].fault.status `200`")),
            (
                of_one(r#"{"status": 429, "retry_after": "x"}"#),
                format!("wrong-type `retry_after` is \"x\" at {list}[0].fault.retry_after `\"x\"`"),
            ),
            (
                of_one(r#"{"cut": 3}"#),
                format!("wrong-type `cut` is an object with `events`, and this is a number at {list}[0].fault.cut `3`"),
            ),
            (
                of_one(r#"{"cut": {"event": 3}}"#),
                format!("unknown-key the key `event` is unknown at {list}[0].fault.cut.event `\"event\"`"),
            ),
            (of_one(r#"{"truncate": 7}"#), format!("wrong-type `truncate` is 7 at {list}[0].fault.truncate `7`")),
            (
                of_one(r#"{"hang": 1, "status": 500}"#),
                format!("unknown-key the key `hang` is unknown at {list}[0].fault.hang `\"hang\"`"),
            ),
            (of_one(r#"{"hang": -1}"#), format!("wrong-type `hang` is -1 at {list}[0].fault.hang `-1`")),
            (
                r#"{"faults": [{"at": {"turn": 0, "call": 1}, "fault": "reset"}]}"#.to_owned(),
                format!("wrong-type `turn` is 0 at {list}[0].at.turn `0`"),
            ),
            (
                r#"{"faults": [{"at": {"turn": 2, "call": 1}, "fault": "reset"}]}"#.to_owned(),
                format!("model-fault there is no turn 2: the case has 1 turn at {list}[0].at.turn `2`"),
            ),
            (
                r#"{"faults": [{"at": {"turn": 1}, "fault": "reset"}]}"#.to_owned(),
                format!("missing-key `call` is missing at {list}[0].at `{{\"turn\": 1}}`"),
            ),
        ] {
            let found = problems(&models);
            assert!(found.contains(&expected), "{models}: {found:?}");
        }
        let twice = r#"{"at": {"turn": 1, "call": 1}, "fault": "reset"}"#;
        let found = problems(&format!(r#"{{"faults": [{twice}, {twice}]}}"#));
        assert!(found[0].starts_with("model-fault turn 1, call 1 has two faults at"), "{found:?}");
        assert_eq!(
            ModelFaults::parse(&crate::Value::parse(&of_one(r#""explode""#)).unwrap())
                .unwrap_err()
                .split(';')
                .next(),
            Some("fault 1: \"explode\" is no fault")
        );
    }
}
