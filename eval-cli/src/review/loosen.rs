//! Rules with which a golden takes what runs did, rather than expecting it: the key `_expect` of the case.
//!
//! A threshold or a distance is never proposed: it would be fitted to the runs.

use eval_agents::draft::{argument_path, shape};
use eval_core::metric::arithmetic::call_names;
use eval_format::expect::{Expect, Matcher, Others, Rules, TurnExpect};
use eval_format::{EvalCase, FunctionCall, Value};
use eval_support::untrusted::one_line;

use super::change::GoldenChange;
use super::lines::{CallLine, arguments};

/// A rule in words, and the case with it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Loosening {
    pub(crate) what: String,
    pub(crate) case: EvalCase,
}

/// The metrics of a case that read its answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnswerMetrics {
    /// Metrics of words that failed.
    pub(crate) failed_words: Vec<&'static str>,
    /// Metrics that decide about the meaning of an answer.
    pub(crate) judges: Vec<&'static str>,
}

/// The rules that fit what runs of a golden did, the narrowest first for each difference.
pub(crate) fn loosenings(runs: &[GoldenChange], answers: &AnswerMetrics) -> Vec<Loosening> {
    let Some(first) = runs.first() else { return Vec::new() };
    let golden = &first.golden;
    let mut all: Vec<Loosening> = Vec::new();
    let mut add = |what: String, case: EvalCase| {
        let is_fit = case.check().is_ok() && Rules::of(&case).is_ok() && case != *golden;
        if is_fit && !all.iter().any(|known| known.case == case) {
            all.push(Loosening { what, case });
        }
    };
    for turn in 0..golden.conversation.len() {
        let calls: Vec<&FunctionCall> = golden.conversation[turn].tool_calls().collect();
        let names = call_names(&calls);
        let with = |change: &dyn Fn(TurnExpect) -> TurnExpect| with_rules(golden, turn, change);
        for (at, call) in calls.iter().enumerate() {
            let name = &names[at];
            for (key, golden_value) in differing(runs, turn, at, call) {
                let place = format!("`{}` in this call of `{}`", one_line(&key), tool(call));
                let seen = seen(runs, turn, at, &key);
                for (matcher, what) in matchers(golden_value, &seen) {
                    let path = argument_path(&key);
                    let what = format!("{what} of {place}");
                    add(what, with(&|rules| rules.arg(name.as_str(), &path, matcher.clone())));
                }
            }
            if !differing(runs, turn, at, call).is_empty() {
                add(
                    format!("any arguments of this call of `{}`", tool(call)),
                    with(&|rules| rules.any_args(name.as_str())),
                );
            }
        }
        if runs.iter().any(|run| is_reordered(run, turn)) {
            add("the calls of this turn in any order".to_owned(), with(&TurnExpect::any_order));
        }
        for run in runs {
            let made: Vec<&FunctionCall> = run.run.conversation[turn].tool_calls().collect();
            for line in &run.lines[turn] {
                match *line {
                    CallLine::Extra(at) => {
                        let name = made[at].name.clone().unwrap_or_default();
                        let what = format!("other calls of `{}` may come between", tool(made[at]));
                        add(what, with(&|rules| more_others(rules, &name)));
                    }
                    CallLine::Missing(at) => {
                        let what = format!("`{}` may be left out", tool(calls[at]));
                        add(what, with(&|rules| rules.optional(names[at].as_str())));
                    }
                    CallLine::Kept(_) | CallLine::Changed(..) => {}
                }
            }
        }
        if runs.iter().any(|run| run.lines[turn].iter().any(|line| matches!(line, CallLine::Extra(_)))) {
            add("any other calls may come between".to_owned(), with(&|rules| rules.others(Others::Any)));
        }
    }
    let AnswerMetrics { failed_words, judges } = answers;
    if !failed_words.is_empty() && !judges.is_empty() {
        let what = format!("leave the words of the answers to `{}`", judges.join("`, `"));
        let without = |case: EvalCase, name: &&str| case.with_criterion(*name, Value::Null);
        add(what, failed_words.iter().fold(golden.clone(), without));
    }
    all
}

fn tool(call: &FunctionCall) -> String {
    one_line(call.name.as_deref().unwrap_or("(no name)"))
}

/// The golden with other rules for one of its turns.
fn with_rules(golden: &EvalCase, turn: usize, change: &dyn Fn(TurnExpect) -> TurnExpect) -> EvalCase {
    let expect = golden.expect().unwrap_or_default();
    let known = expect.turns.iter().find(|(number, _)| *number == turn + 1).map(|(_, rules)| rules.clone());
    let rules = change(known.unwrap_or_default());
    let mut turns: Vec<(usize, TurnExpect)> = expect.turns;
    match turns.iter_mut().find(|(number, _)| *number == turn + 1) {
        Some((_, known)) => *known = rules,
        None => turns.push((turn + 1, rules)),
    }
    let all = turns.into_iter().fold(Expect::default(), |all, (number, rules)| all.turn(number, rules));
    golden.clone().with_expect(all)
}

fn more_others(rules: TurnExpect, name: &str) -> TurnExpect {
    let mut tools = match &rules.others {
        Some(Others::Tools(tools)) => tools.clone(),
        Some(Others::Any) => return rules,
        None => Vec::new(),
    };
    if !tools.iter().any(|tool| tool == name) {
        tools.push(name.to_owned());
    }
    rules.others(Others::Tools(tools))
}

/// The arguments of a golden call that differed in a run, each with its golden value.
fn differing<'c>(
    runs: &[GoldenChange],
    turn: usize,
    at: usize,
    golden: &'c FunctionCall,
) -> Vec<(String, Option<&'c Value>)> {
    let mut found: Vec<(String, Option<&Value>)> = Vec::new();
    for run in runs {
        let made: Vec<&FunctionCall> = run.run.conversation[turn].tool_calls().collect();
        for line in &run.lines[turn] {
            let CallLine::Changed(of, other) = *line else { continue };
            if of != at {
                continue;
            }
            for (key, ..) in arguments(golden, made[other]) {
                if !found.iter().any(|(known, _)| known == key) {
                    found.push((key.to_owned(), golden.args.as_ref().and_then(|args| args.get(key))));
                }
            }
        }
    }
    found
}

/// The values of an argument of a golden call in the runs that made the call with other arguments.
fn seen<'r>(runs: &'r [GoldenChange], turn: usize, at: usize, key: &str) -> Vec<Option<&'r Value>> {
    let of_run = |run: &'r GoldenChange| {
        let made: Vec<&FunctionCall> = run.run.conversation[turn].tool_calls().collect();
        let lines = run.lines[turn].iter();
        lines.filter_map(move |line| match *line {
            CallLine::Changed(of, other) if of == at => {
                Some(made[other].args.as_ref().and_then(|args| args.get(key)))
            }
            _ => None,
        })
    };
    runs.iter().flat_map(of_run).collect()
}

/// The matchers that take all of these values, with words for them.
fn matchers(golden: Option<&Value>, seen: &[Option<&Value>]) -> Vec<(Matcher, String)> {
    let there: Vec<&Value> = golden.into_iter().chain(seen.iter().copied().flatten()).collect();
    let narrow = shape(&there).or_else(|| {
        let are_numbers = there.iter().all(|value| value.as_f64().is_some());
        are_numbers.then_some(Matcher::Number)
    });
    let is_optional = golden.is_none() || seen.contains(&None);
    let all = narrow.into_iter().chain([Matcher::Any]).map(|matcher| {
        let what = match &matcher {
            Matcher::Any => "any value".to_owned(),
            Matcher::Unordered => "any order of the list".to_owned(),
            narrow => format!("any {}", narrow.name().replace('_', " ")),
        };
        if is_optional { (matcher.or_absent(), format!("{what}, or none,")) } else { (matcher, what) }
    });
    all.collect()
}

/// Whether a run made the calls of a turn in another order.
fn is_reordered(run: &GoldenChange, turn: usize) -> bool {
    let key = |call: &FunctionCall| format!("{call}");
    let sorted = |case: &EvalCase| {
        let mut calls: Vec<String> = case.conversation[turn].tool_calls().map(key).collect();
        calls.sort_unstable();
        calls
    };
    let is_as_expected = run.lines[turn].iter().all(|line| matches!(line, CallLine::Kept(_)));
    !is_as_expected && sorted(&run.golden) == sorted(&run.run)
}
