//! Warnings before a change of a golden is accepted: what is hardly right, or hardly right tomorrow.

use std::collections::HashSet;
use std::time::SystemTime;

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use eval_agents::draft::{Volatile, volatile_of};
use eval_format::expect::{CallExpect, Others, TurnExpect};
use eval_format::{Criterion, EvalCase, FunctionCall, Invocation};
use eval_report::run_page::refuses;
use eval_support::untrusted::one_line;
use eval_support::words::ordinal;
use serde::Serialize;

/// A warning about a change. Changes with one are accepted one by one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Warning {
    pub(crate) message: String,
    /// Whether a second question is asked: the change will probably be wrong the next time.
    pub(crate) asks: bool,
}

impl Warning {
    pub(crate) fn told(message: impl Into<String>) -> Self {
        Self { message: message.into(), asks: false }
    }

    fn asked(message: String) -> Self {
        Self { message, asks: true }
    }
}

/// The warnings about a golden that becomes another one. `ran` is when the agent did what is accepted.
pub(crate) fn warnings(
    golden: &EvalCase,
    new: &EvalCase,
    criteria: &[&Criterion],
    ran: Option<SystemTime>,
) -> Vec<Warning> {
    let mut warnings = volatile(golden, new, ran);
    for (at, (old, new)) in golden.conversation.iter().zip(&new.conversation).enumerate() {
        of_turn(at + 1, old, new, criteria, &mut warnings);
    }
    warnings
}

/// The warnings about a golden with looser rules, which then takes what runs did.
pub(crate) fn of_loosened(
    golden: &EvalCase,
    loosened: &EvalCase,
    runs: &[&EvalCase],
    criteria: &[&Criterion],
) -> Vec<Warning> {
    let rules_of = |case: &EvalCase, turn: usize| -> TurnExpect {
        let turns = case.expect().unwrap_or_default().turns;
        turns.into_iter().find(|(number, _)| *number == turn).map(|(_, rules)| rules).unwrap_or_default()
    };
    let mut messages: Vec<String> = Vec::new();
    for turn in 1..=golden.conversation.len() {
        let (old, new) = (rules_of(golden, turn), rules_of(loosened, turn));
        for call in new.optional.iter().filter(|call| !old.optional.contains(call)) {
            messages.push(format!(
                "turn {turn}: a run that does not call `{}` passes with this rule",
                one_line(call)
            ));
        }
        for (call, _) in
            new.calls.iter().filter(|call| call.1 == CallExpect::Any && !old.calls.contains(call))
        {
            messages
                .push(format!("turn {turn}: `{}` passes with any arguments with this rule", one_line(call)));
        }
        if new.others == old.others {
            continue;
        }
        if new.others == Some(Others::Any) {
            messages.push(format!("turn {turn}: a run passes with this rule whatever else it calls"));
        }
        let takes = |tool: &str| match &new.others {
            Some(Others::Tools(tools)) => tools.iter().any(|it| it == tool),
            others => others.is_some(),
        };
        let made =
            runs.iter().filter_map(|run| run.conversation.get(turn - 1)).flat_map(Invocation::tool_calls);
        for tool in made.filter_map(|call| call.name.as_deref()).filter(|tool| takes(tool)) {
            if criteria.iter().any(|it| it.forbidden_tools().any(|forbidden| forbidden == tool)) {
                messages.push(format!(
                    "turn {turn}: `{}` may be called with this rule, and `forbidden_tools` forbids it",
                    one_line(tool)
                ));
            }
        }
    }
    let is_of_answers =
        golden.extra.get(EvalCase::CRITERIA_KEY) != loosened.extra.get(EvalCase::CRITERIA_KEY);
    for (turn, old) in (1..).zip(&golden.conversation).filter(|_| is_of_answers) {
        let answers =
            runs.iter().filter_map(|run| run.conversation.get(turn - 1)).map(Invocation::response_text);
        let changes = answers.filter_map(|new| of_refusal(turn, &old.response_text(), &new));
        messages.extend(changes);
    }
    let mut seen = HashSet::new();
    messages.retain(|message| seen.insert(message.clone()));
    messages.into_iter().map(Warning::told).collect()
}

/// A message about an answer that refuses where the other does not.
fn of_refusal(turn: usize, before: &str, after: &str) -> Option<String> {
    match (refuses(before), refuses(after)) {
        (true, false) => Some(format!("turn {turn}: the agent refused before, and consents now")),
        (false, true) if !before.trim().is_empty() => {
            Some(format!("turn {turn}: the agent refuses what it answered before"))
        }
        _ => None,
    }
}

/// The warnings about a draft, which has no golden beside it.
pub(crate) fn of_draft(draft: &EvalCase) -> Vec<Warning> {
    volatile(&EvalCase::new(""), draft, None)
}

/// New values that will probably differ next time.
fn volatile(golden: &EvalCase, new: &EvalCase, ran: Option<SystemTime>) -> Vec<Warning> {
    let before = volatile_of(golden);
    let is_new = |it: &Volatile| {
        !before.iter().any(|old| (old.turn, &old.tool, &old.value) == (it.turn, &it.tool, &it.value))
    };
    let days = ran.map(days_of).unwrap_or_default();
    let found = volatile_of(new).into_iter().filter(is_new).map(|it| {
        let value = one_line(&it.value);
        let subject = match &it.tool {
            Some(tool) => format!("turn {}, `{}` of `{}`", it.turn, one_line(&it.argument), one_line(tool)),
            None => format!("turn {}, the answer", it.turn),
        };
        let lower = it.value.to_lowercase();
        let is_day = days.iter().any(|day| lower.starts_with(day.as_str()));
        Warning::asked(if is_day {
            format!("{subject}: `{value}` is the day of the run, and wrong on every other day")
        } else {
            format!("{subject}: `{value}` is {}, which will probably differ next time", it.kind)
        })
    });
    found.collect()
}

/// The spellings of the day of a run in lower case, and of the days around it: the agent may be in another time zone.
fn days_of(ran: SystemTime) -> Vec<String> {
    let ran = DateTime::<Utc>::from(ran);
    let days = [-1, 0, 1].map(|days| ran + TimeDelta::days(days));
    let mut spellings: Vec<String> = Vec::new();
    for day in days {
        for format in [
            "%Y-%m-%d",
            "%-d %B",
            "%-d. %B",
            "%B %-d",
            "%-d %b",
            "%b %-d",
            "%m/%d/%y",
            "%m/%d/%Y",
            "%-m/%-d/%Y",
            "%d/%m/%Y",
            "%d.%m.%Y",
            "%-d. %-m. %Y",
            "%Y/%m/%d",
            "%Y%m%d",
            "%-d-%b-%Y",
        ] {
            spellings.push(day.format(format).to_string());
        }
        // 23rd, 1st.
        spellings.push(format!("{} of {}", ordinal(day.day() as usize), day.format("%B")));
        spellings.push(day.format("%A").to_string());
    }
    spellings.iter().map(|day| day.to_lowercase()).collect()
}

fn of_turn(
    number: usize,
    old: &Invocation,
    new: &Invocation,
    criteria: &[&Criterion],
    warnings: &mut Vec<Warning>,
) {
    let (before, after) = (old.response_text(), new.response_text());
    if before != after {
        warnings.extend(of_refusal(number, &before, &after).map(Warning::told));
        let (one, other) = (words(&before), words(&after));
        if !one.is_empty() && !other.is_empty() && one.is_disjoint(&other) {
            let message = format!("the answer of turn {number} shares no word with the accepted one");
            warnings.push(Warning::told(message));
        }
        if !one.is_empty() && after.trim().is_empty() {
            warnings.push(Warning::told(format!("turn {number} has no answer any more")));
        }
    }
    let (calls, made): (Vec<_>, Vec<_>) = (old.tool_calls().collect(), new.tool_calls().collect());
    let count = |calls: &[&FunctionCall], name: Option<&str>| {
        calls.iter().filter(|call| call.name.as_deref() == name).count()
    };
    let mut told = HashSet::new();
    for call in &calls {
        let name = call.name.as_deref();
        if count(&made, name) < count(&calls, name) && told.insert(name) {
            let message = format!("turn {number}: `{}` is not called any more", tool(call));
            warnings.push(Warning::told(message));
        }
    }
    for call in &made {
        let is_forbidden =
            criteria.iter().any(|it| it.forbidden_tools().any(|tool| call.name.as_deref() == Some(tool)));
        if is_forbidden && told.insert(call.name.as_deref()) {
            let message =
                format!("turn {number}: `{}` is called, which `forbidden_tools` forbids", tool(call));
            warnings.push(Warning::told(message));
        }
    }
}

fn tool(call: &FunctionCall) -> String {
    one_line(call.name.as_deref().unwrap_or("(no name)"))
}

fn words(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use eval_format::expect::Expect;
    use serde_json::json;

    use super::*;

    /// 23 November 2026, a Monday.
    fn ran() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_435_647)
    }

    fn told(golden: Invocation, new: Invocation) -> Vec<(String, bool)> {
        let criterion = Criterion::new(1.0).with_forbidden_tools(["refund"]);
        let case = |turn| EvalCase::new("a").turn(turn);
        let warnings = warnings(&case(golden), &case(new), &[&criterion], Some(ran()));
        warnings.into_iter().map(|it| (it.message, it.asks)).collect()
    }

    fn answers(golden: &str, new: &str) -> Vec<(String, bool)> {
        told(Invocation::user("Hi").response(golden), Invocation::user("Hi").response(new))
    }

    #[test]
    fn the_day_of_the_run_is_asked_for_in_each_spelling() {
        for day in [
            "2026-11-23",
            "23 November 2026",
            "11/23/26",
            "Nov 23",
            "Monday",
            "November 23rd",
            "24.11.2026",
            "2026/11/23",
            "23-Nov-2026",
            "monday",
            "23. 11. 2026",
            "20261123",
        ] {
            let warnings = answers("It is sunny today.", &format!("It is sunny today, {day}."));
            let wanted =
                format!("turn 1, the answer: `{day}` is the day of the run, and wrong on every other day");
            assert_eq!(warnings, [(wanted, true)], "{day}");
        }
        let warnings = answers("It began at ten.", "It began at 1795435647.");
        let wanted =
            "turn 1, the answer: `1795435647` is a time since 1970, which will probably differ next time";
        assert_eq!(warnings, [(wanted.to_owned(), true)]);
        for answer in ["It was built in 1926.", "It opens in May.", "It is sunny."] {
            assert_eq!(answers("It is rainy.", answer), [], "{answer}");
        }
        assert_eq!(answers("It is 2026-11-23.", "Well, it is 2026-11-23."), [], "it was accepted before");
    }

    #[test]
    fn ids_and_paths_are_asked_for_in_answers_and_in_arguments() {
        let id = "550e8400-e29b-41d4-a716-446655440000";
        for (value, kind) in [(id, "a UUID"), ("/home/anna/orders.csv", "a path of a machine")] {
            let differs = |subject: &str| {
                vec![(format!("{subject}: `{value}` is {kind}, which will probably differ next time"), true)]
            };
            assert_eq!(
                answers("It is in the file.", &format!("It is in {value}.")),
                differs("turn 1, the answer")
            );
            let move_to = |to: &str| {
                Invocation::user("Hi").call(FunctionCall::new("move", json!({ "to": to }))).response("Done.")
            };
            assert_eq!(told(move_to("a"), move_to(value)), differs("turn 1, `to` of `move`"));
            // The user named it, so it is the same each time.
            let said = |answer: &str| Invocation::user(format!("Where is {value}?")).response(answer);
            assert_eq!(told(said("It is here."), said(&format!("It is here: {value}."))), []);
        }
    }

    #[test]
    fn refusals_that_become_consents_and_answers_without_a_common_word_are_told() {
        let told = |golden, new| answers(golden, new).into_iter().map(|(it, _)| it).collect::<Vec<_>>();
        assert_eq!(
            told("I cannot do that.", "The refund of A-17 is on its way."),
            [
                "turn 1: the agent refused before, and consents now",
                "the answer of turn 1 shares no word with the accepted one"
            ]
        );
        assert_eq!(
            told("I refund it.", "I cannot refund it."),
            ["turn 1: the agent refuses what it answered before"]
        );
        assert_eq!(told("I refund it.", "It was refunded."), [""; 0]);
    }

    #[test]
    fn a_rule_that_takes_a_lost_call_or_a_forbidden_one_is_warned_of() {
        let call = |turn: Invocation, name: &str| turn.call(FunctionCall::new(name, json!({})));
        let case = |turn| EvalCase::new("a").turn(turn);
        let hi = || Invocation::user("Hi").response("Done.");
        let golden = case(call(hi(), "verify_identity"));
        let run = case(call(hi(), "refund"));
        let criterion = Criterion::new(1.0).with_forbidden_tools(["refund"]);
        let told = |rules: TurnExpect| -> Vec<String> {
            let loosened = golden.clone().with_expect(Expect::default().turn(1, rules));
            let warnings = of_loosened(&golden, &loosened, &[&run], &[&criterion]);
            warnings.into_iter().map(|it| it.message).collect()
        };
        let rules = TurnExpect::default;
        assert_eq!(
            told(rules().optional("verify_identity")),
            ["turn 1: a run that does not call `verify_identity` passes with this rule"]
        );
        assert_eq!(
            told(rules().any_args("verify_identity")),
            ["turn 1: `verify_identity` passes with any arguments with this rule"]
        );
        let forbidden = "turn 1: `refund` may be called with this rule, and `forbidden_tools` forbids it";
        assert_eq!(told(rules().others(Others::Tools(vec!["refund".to_owned()]))), [forbidden]);
        assert_eq!(
            told(rules().others(Others::Any)),
            ["turn 1: a run passes with this rule whatever else it calls", forbidden]
        );
        assert_eq!(told(rules().any_order()), [""; 0]);
    }

    #[test]
    fn lost_calls_and_forbidden_ones_are_told_once() {
        let call = |turn: Invocation, name: &str| turn.call(FunctionCall::new(name, json!({})));
        let hi = || Invocation::user("Hi").response("Done.");
        let warnings = told(
            call(call(call(hi(), "find"), "find"), "book"),
            call(call(call(hi(), "book"), "refund"), "refund"),
        );
        let told: Vec<_> = warnings.into_iter().map(|(it, _)| it).collect();
        assert_eq!(
            told,
            [
                "turn 1: `find` is not called any more",
                "turn 1: `refund` is called, which `forbidden_tools` forbids"
            ]
        );
    }
}
