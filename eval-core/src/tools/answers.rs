//! The answers of a case, turn by turn: a pure state machine, which waits for nothing and asks nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use eval_format::expect::{Relation, Rules, TurnRules};
use eval_format::tools::{FaultOutcome, ToolFault, ToolFaults, ToolInjections, answered_calls};
use eval_format::{ArgsMatch, EvalCase, FunctionCall, Map, Value};
use eval_support::message::cut;
use eval_support::words::{count, short_code_list};

use super::injected::Injected;

/// The answer to one call of a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolAnswer {
    /// The behaviour of the tool.
    pub outcome: ToolOutcome,
    /// The wait before it.
    pub after: Duration,
    /// Changes of the session state that the tool makes.
    pub state: Map,
    /// The name of the fault behind the answer, such as `search#1` or `outage.json:4`; `None` if a golden answers as it is.
    pub fault: Option<String>,
}

/// The behaviour of a tool at a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ToolOutcome {
    /// It answers with this value.
    Response(Value),
    /// It fails as code does, with this message.
    Raises(String),
    /// It does not answer.
    Never,
}

/// The goldens and faults of a case, and their use so far.
#[derive(Debug, Default)]
pub(super) struct Answers {
    turns: Vec<Vec<Golden>>,
    rules: Rules,
    faults: ToolFaults,
    /// One flag for each fault.
    reached: Vec<bool>,
    /// The faults of a file.
    injected: Injected,
    /// The turn that began last, from 1.
    turn: usize,
    /// The number of calls of each tool, turn by turn.
    made: Vec<HashMap<String, usize>>,
}

/// An expected call that a response belongs to.
#[derive(Debug)]
struct Golden {
    call: FunctionCall,
    /// Its position among the expected calls of the turn.
    at: usize,
    response: Map,
    uses: usize,
}

impl Golden {
    fn is_used(&self) -> bool {
        self.uses > 0
    }

    /// Whether a call is this one to the letter. Absent arguments equal empty ones.
    fn equals(&self, call: &FunctionCall) -> bool {
        let none = const { &Map::new() };
        let [expected, actual] = [&self.call, call].map(|call| call.args.as_ref().unwrap_or(none));
        self.call.name == call.name && expected.equals(actual)
    }

    /// Whether a call is this one under the rules of the turn.
    fn matches(&self, call: &FunctionCall, rules: &TurnRules) -> bool {
        rules.compare(self.at, &self.call, call, ArgsMatch::Exact).matches()
    }

    /// The arguments in which a call differs from this one under the rules of the turn.
    fn differing(&self, call: &FunctionCall, rules: &TurnRules) -> Vec<String> {
        match rules.compare(self.at, &self.call, call, ArgsMatch::Exact) {
            Relation::Mismatch(reasons) => reasons.into_iter().map(|reason| reason.path).collect(),
            _ => Vec::new(),
        }
    }
}

/// The number of goldens that a message shows.
const MAX_SHOWN_GOLDENS: usize = 3;

const MAX_CALL_CHARS: usize = 160;

impl Answers {
    pub(super) fn new(case: &EvalCase) -> Self {
        let turns = case.conversation.iter().map(|turn| {
            let answered = answered_calls(turn).into_iter().enumerate();
            let goldens = answered.filter_map(|(at, (call, response))| {
                Some(Golden { call: call.clone(), at, response: response?.clone(), uses: 0 })
            });
            goldens.collect()
        });
        let faults = ToolFaults::of(case);
        let reached = vec![false; faults.iter().count()];
        // Mistakes in rules are found before a case runs.
        let rules = Rules::of(case).unwrap_or_default();
        Self { turns: turns.collect(), rules, faults, reached, ..Self::default() }
    }

    /// Adds the faults of a file.
    pub(super) fn inject(&mut self, injections: Arc<ToolInjections>) {
        let expected =
            self.turns.iter().enumerate().flat_map(|(at, goldens)| self.answered_by_others(at + 1, goldens));
        self.injected = Injected::new(injections, expected);
    }

    /// The calls of a turn that are left to a file of faults: the agent has to make them, and no fault of the case answers.
    fn answered_by_others<'g>(&self, turn: usize, goldens: &'g [Golden]) -> Vec<(usize, &'g str, &'g Map)> {
        let none = const { &Map::new() };
        let mut made: HashMap<&str, usize> = HashMap::new();
        let mut left = Vec::new();
        for golden in goldens {
            let name = golden.call.name.as_deref().unwrap_or_default();
            let number = made.entry(name).or_default();
            *number += 1;
            // A fault with an outcome uses up no golden: the next call asks for it again.
            let own = |number| self.faults.of_call(turn, name, number);
            while own(*number).is_some_and(|fault| fault.outcome.is_some()) {
                *number += 1;
            }
            if own(*number).is_none() && !self.rules.turn(turn - 1).is_optional(golden.at) {
                left.push((turn, name, golden.call.args.as_ref().unwrap_or(none)));
            }
        }
        left
    }

    pub(super) fn begin_turn(&mut self) {
        self.turn += 1;
        self.made.push(HashMap::new());
    }

    pub(super) fn turn(&self) -> usize {
        self.turn
    }

    /// The answer to a call, or the reason why there is none.
    pub(super) fn call(&mut self, name: &str, args: &Map) -> Result<ToolAnswer, String> {
        let Some(made) = self.made.last_mut() else {
            return Err(format!("`{name}` was called before the first turn"));
        };
        let made = made.entry(name.to_owned()).or_default();
        *made += 1;
        let of_call = |fault: &ToolFault| (fault.turn, &*fault.tool, fault.call) == (self.turn, name, *made);
        let fault = self.faults.iter().zip(&mut self.reached).find(|(fault, _)| of_call(fault));
        let mut answer =
            ToolAnswer { outcome: ToolOutcome::Never, after: Duration::ZERO, state: Map::new(), fault: None };
        let outcome = if let Some((fault, reached)) = fault {
            *reached = true;
            answer.fault = Some(fault.name());
            answer.after = fault.after;
            answer.state = fault.state.clone();
            fault.outcome.clone()
        } else if let Some((injection, name)) = self.injected.call(name, args) {
            answer.fault = Some(name);
            answer.after = injection.after;
            Some(injection.outcome.clone())
        } else {
            None
        };
        answer.outcome = match outcome {
            Some(FaultOutcome::Error(error)) => ToolOutcome::Response(error.into()),
            Some(FaultOutcome::Raises(message)) => ToolOutcome::Raises(message),
            Some(FaultOutcome::Response(value)) => ToolOutcome::Response(value),
            Some(FaultOutcome::Never) => ToolOutcome::Never,
            // A fault without an outcome delays the golden, or adds a change of the state.
            _ => ToolOutcome::Response(self.golden(name, args)?.into()),
        };
        Ok(answer)
    }

    /// The number of calls of each tool in the turn in progress.
    pub(super) fn made(&self) -> HashMap<String, usize> {
        self.made.last().cloned().unwrap_or_default()
    }

    /// Whether a golden of the turn in progress is of this tool.
    pub(super) fn expects(&self, name: &str) -> bool {
        let goldens = self.turn.checked_sub(1).and_then(|at| self.turns.get(at));
        goldens.is_some_and(|goldens| goldens.iter().any(|golden| golden.call.name.as_deref() == Some(name)))
    }

    /// The expected calls that have answers, turn by turn.
    pub(super) fn calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.turns.iter().flatten().map(|golden| &golden.call)
    }

    /// The response of the first expected call of the turn that the call matches: an unused one before one that may be
    /// repeated, and among these an equal one before one that only a rule lets match.
    fn golden(&mut self, name: &str, args: &Map) -> Result<Map, String> {
        let call = FunctionCall::new(name, args.clone());
        let turn = self.turn;
        let Some((rules, goldens)) =
            turn.checked_sub(1).and_then(|at| Some((self.rules.turn(at), self.turns.get_mut(at)?)))
        else {
            return Err(missed(&call, turn, &[], &TurnRules::default()));
        };
        let rank = |golden: &Golden| {
            let is_left = golden.uses < rules.most(golden.at);
            let is_equal = is_left && golden.equals(&call);
            (is_equal || is_left && golden.matches(&call, rules)).then_some((golden.is_used(), !is_equal))
        };
        let found = goldens.iter().enumerate().filter_map(|(at, golden)| Some((rank(golden)?, at))).min();
        let Some((_, at)) = found else { return Err(missed(&call, turn, goldens, rules)) };
        goldens[at].uses += 1;
        Ok(goldens[at].response.clone())
    }

    /// A fault that no call reached: the turn and a message. `of` names a turn; `None` for any.
    pub(super) fn unreached(&self, of: Option<usize>) -> Option<(usize, String)> {
        let is_of = |turn: usize| of.is_none_or(|of| of == turn);
        let mut faults = self.faults.iter().zip(&self.reached);
        let Some((fault, _)) = faults.find(|(fault, reached)| !**reached && is_of(fault.turn)) else {
            return self.injected.unreached().filter(|(turn, _)| is_of(*turn));
        };
        let made = self.made.get(fault.turn - 1).and_then(|made| made.get(&fault.tool)).copied();
        let message = format!(
            "the fault `{}` was not reached: the agent called `{}` {} in the turn; change the fault in turn {} of `_tools`, or \
             what the agent does",
            fault.name(),
            fault.tool,
            count(made.unwrap_or_default(), "time"),
            fault.turn,
        );
        Some((fault.turn, message))
    }

    /// A remark for each turn that did not use all of its goldens, and one if a file of faults changed nothing.
    pub(super) fn unused(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (at, goldens) in self.turns.iter().enumerate().take(self.turn) {
            let unused: Vec<&Golden> = goldens.iter().filter(|golden| !golden.is_used()).collect();
            if !unused.is_empty() {
                let which = match goldens.len() {
                    1 => "its golden answer".to_owned(),
                    all => format!("{} of {}", unused.len(), count(all, "golden answer")),
                };
                notes.push(format!("turn {} did not use {which}: {}", at + 1, shown(unused.into_iter())));
            }
        }
        notes.extend(self.injected.note());
        notes
    }
}

/// The beginning of the message about a call that no golden answers. The call follows, [in short](in_short).
pub const NO_GOLDEN: &str = "no golden answers ";

/// The message about a call that no golden answers, with the nearest golden, and the goldens that are used up.
fn missed(call: &FunctionCall, turn: usize, goldens: &[Golden], rules: &TurnRules) -> String {
    let mut text = format!("{NO_GOLDEN}{} in turn {turn}", in_short(call));
    if goldens.is_empty() {
        text.push_str("; the turn has no golden answers");
        return text;
    }
    let of_tool = |golden: &&Golden| golden.call.name == call.name;
    let unused = goldens.iter().filter(|golden| !golden.is_used());
    let of_tool = unused.clone().filter(of_tool).map(|golden| (golden, golden.differing(call, rules)));
    match of_tool.min_by_key(|(_, paths)| paths.len()) {
        Some((near, paths)) => {
            let verb = if paths.len() == 1 { "differs" } else { "differ" };
            text.push_str(&format!(
                "; nearest: {}, {} {verb}",
                in_short(&near.call),
                short_code_list(&paths)
            ));
        }
        None if unused.clone().next().is_some() => {
            text.push_str(&format!("; the turn has answers for {}", shown(unused)));
        }
        None => {}
    }
    let used = goldens.iter().filter(|golden| golden.is_used());
    if used.clone().next().is_some() {
        text.push_str(&format!("; used up: {}", shown(used)));
    }
    text
}

fn shown<'a>(mut goldens: impl Iterator<Item = &'a Golden>) -> String {
    let named: Vec<String> =
        goldens.by_ref().take(MAX_SHOWN_GOLDENS).map(|golden| in_short(&golden.call)).collect();
    let named = named.join(", ");
    match goldens.count() {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// A call on one line, cut if it is long.
pub fn in_short(call: &FunctionCall) -> String {
    cut(&call.to_string().replace('\n', " "), MAX_CALL_CHARS)
}

#[cfg(test)]
mod tests {
    use eval_format::Invocation;
    use serde_json::json;

    use super::*;

    /// A case whose turns expect calls with answers, each `name(x)=n`.
    fn case(turns: &[&str]) -> EvalCase {
        turns.iter().fold(EvalCase::new("c"), |case, turn| {
            let (mut calls, mut responses) = (Vec::new(), Vec::new());
            for (id, text) in turn.split_whitespace().enumerate() {
                let (call, answer) = text.split_once('=').unwrap();
                let (name, x) = call.trim_end_matches(')').split_once('(').unwrap();
                calls.push(json!({"id": id.to_string(), "name": name, "args": {"x": x}}));
                responses.push(json!({"id": id.to_string(), "name": name, "response": {"n": answer}}));
            }
            let data = json!({"tool_uses": calls, "tool_responses": responses});
            let turn = json!({"user_content": {}, "intermediate_data": data}).to_string();
            case.turn(Invocation::parse(&turn).unwrap())
        })
    }

    fn call(answers: &mut Answers, text: &str) -> String {
        let (name, x) = text.trim_end_matches(')').split_once('(').unwrap();
        match answers.call(name, &Map::from([("x", x)])) {
            Ok(ToolAnswer { outcome: ToolOutcome::Response(value), after, state, fault }) => {
                let mut shown = value["n"].as_str().map_or_else(|| value.to_string(), str::to_owned);
                if !after.is_zero() {
                    shown += &format!(" after {after:?}");
                }
                if !state.is_empty() {
                    shown += &format!(" sets {}", Value::Object(state));
                }
                fault.map_or(shown.clone(), |fault| format!("{shown} ({fault})"))
            }
            Ok(other) => format!("{:?}", other.outcome),
            Err(message) => message,
        }
    }

    #[test]
    fn a_miss_names_the_arguments_that_are_unequal_missing_or_further_under_the_rules() {
        for (expected, actual, rules, differ) in [
            (json!({"x": 1, "y": 2}), json!({"y": 3, "z": 4}), json!({}), "`x`, `y` and `z` differ"),
            (json!({"x": null}), json!({}), json!({}), "`x` differs"),
            (json!({"x": 1, "y": 2}), json!({"x": 3, "y": 9}), json!({"y": "any"}), "`x` differs"),
            (json!({"x": {"a": 1}}), json!({"x": {"a": 2}}), json!({}), "`x.a` differs"),
        ] {
            let turn = json!({"user_content": {}, "intermediate_data": {
                "tool_uses": [{"name": "f", "args": expected}], "tool_responses": [{"name": "f", "response": {}}]}});
            let rules = json!({"1": {"calls": {"f": rules}}});
            let case = EvalCase::new("c").turn(Invocation::parse(&turn.to_string()).unwrap());
            let mut answers = Answers::new(&case.with_extra(EvalCase::EXPECT_KEY, rules));
            answers.begin_turn();
            let args = Value::parse(&actual.to_string()).unwrap();
            let message = answers.call("f", args.as_object().unwrap()).unwrap_err();
            assert!(message.ends_with(&format!(", {differ}")), "{message}");
        }
    }

    #[test]
    fn each_golden_of_the_turn_answers_once_in_the_order_of_equal_calls() {
        let mut answers = Answers::new(&case(&["f(a)=1 f(a)=2 g(a)=3", "f(a)=4"]));
        answers.begin_turn();
        let found = ["f(a)", "g(a)", "f(a)"].map(|text| call(&mut answers, text));
        assert_eq!(found, ["1", "3", "2"]);
        assert_eq!(
            call(&mut answers, "f(a)"),
            r#"no golden answers f(x: "a") in turn 1; used up: f(x: "a"), f(x: "a"), g(x: "a")"#
        );
        answers.begin_turn();
        assert_eq!(call(&mut answers, "f(a)"), "4");
        assert!(answers.unused().is_empty());
        answers.begin_turn();
        let gone = r#"no golden answers f(x: "a") in turn 3; the turn has no golden answers"#;
        assert_eq!(call(&mut answers, "f(a)"), gone);
    }

    #[test]
    fn a_miss_names_the_nearest_golden_and_those_that_are_used_up() {
        let mut answers = Answers::new(&case(&["f(Paris)=1 g(1)=2"]));
        answers.begin_turn();
        assert_eq!(
            call(&mut answers, "f(Oslo)"),
            r#"no golden answers f(x: "Oslo") in turn 1; nearest: f(x: "Paris"), `x` differs"#
        );
        assert_eq!(call(&mut answers, "f(Paris)"), "1");
        assert_eq!(
            call(&mut answers, "f(Paris)"),
            r#"no golden answers f(x: "Paris") in turn 1; the turn has answers for g(x: "1"); used up: f(x: "Paris")"#
        );
        assert_eq!(answers.unused(), [r#"turn 1 did not use 1 of 2 golden answers: g(x: "1")"#]);
    }

    #[test]
    fn rules_of_the_case_let_a_golden_answer_other_arguments_and_answer_again() {
        let rules = json!({"1": {"calls": {"f#2": {"x": {"contains": "b"}}}, "repeat": {"g": 2}}});
        let case = case(&["f(b)=1 f(ab)=2 g(a)=3"]).with_extra(EvalCase::EXPECT_KEY, rules);
        let mut answers = Answers::new(&case);
        answers.begin_turn();
        // An equal golden answers first, and by rule no golden answers whose call has none.
        let found = ["f(bb)", "f(b)", "g(a)", "g(a)"].map(|text| call(&mut answers, text));
        assert_eq!(found, ["2", "1", "3", "3"]);
        assert!(call(&mut answers, "f(b)").starts_with("no golden answers f("));
        assert!(call(&mut answers, "g(a)").starts_with("no golden answers g("));
        let mut literal = Answers::new(&self::case(&["f(b)=1 f(ab)=2"]));
        literal.begin_turn();
        assert!(call(&mut literal, "f(bb)").starts_with("no golden answers f("));
    }

    #[test]
    fn a_fault_takes_its_call_and_the_next_call_gets_the_golden() {
        let faults = json!({
            "1": {"f#1": {"error": {"error_code": 503}}, "f#2": {"raises": "reset"}, "f#3": {"after": 2.5, "state": {"k": 1}},
                  "g#1": {"response": "<html>"}, "g#2": "never"},
            "2": {"f#2": "never"}
        });
        let case = case(&["f(a)=1 g(a)=2", "f(a)=3"]).with_extra("_tools", faults);
        let mut answers = Answers::new(&case);
        answers.begin_turn();
        let found = ["f(a)", "f(b)", "f(a)", "g(a)", "g(a)", "g(a)"].map(|text| call(&mut answers, text));
        assert_eq!(
            found,
            [
                r#"{"error_code":503} (f#1)"#,
                r#"Raises("reset")"#,
                r#"1 after 2.5s sets {"k":1} (f#3)"#,
                r#""<html>" (g#1)"#,
                "Never",
                "2"
            ]
        );
        answers.begin_turn();
        assert_eq!(call(&mut answers, "f(a)"), "3");
        let (turn, message) = answers.unreached(None).unwrap();
        assert_eq!(turn, 2);
        assert!(
            message.starts_with("the fault `f#2` was not reached: the agent called `f` 1 time in the turn"),
            "{message}"
        );
        call(&mut answers, "f(a)");
        assert_eq!(answers.unreached(None), None);
    }

    #[test]
    fn a_call_before_the_first_turn_has_no_answer() {
        let mut answers = Answers::new(&case(&["f(a)=1"]));
        assert_eq!(call(&mut answers, "f(a)"), "`f` was called before the first turn");
    }
}
