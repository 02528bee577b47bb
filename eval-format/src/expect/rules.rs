//! The rules of a case: each name of the notation resolved to its call.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use eval_support::words::{count, did_you_mean};

use super::answer::Demands;
use super::compare::{CallRules, Point, Reason, Relation, compare};
use super::fault::{Fault, Faults};
use super::matcher::Matcher;
use super::notation::{CallExpect, Expect, KEY, Others, TurnExpect};
use super::path::ArgPath;
use super::{answers, fit, read};
use crate::metric::ArgsMatch;
use crate::model::{EvalCase, FunctionCall, FunctionResponse, Invocation};
use crate::problem::{ProblemCode, Problems, shown};
use crate::value::{Map, Value};

/// The rules and demands of a case, turn by turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    turns: Vec<TurnRules>,
}

/// The rules and demands of a turn, with calls by their position among its expected calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnRules {
    /// One for each expected call, or none at all.
    pub(super) calls: Vec<CallRule>,
    pub(super) any_order: bool,
    pub(super) others: Option<Others>,
    /// Rules of responses, by the position of the response in the turn.
    pub(super) responses: BTreeMap<usize, CallRules>,
    demands: Demands,
    /// The number of expected calls.
    expected: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CallRule {
    pub(super) args: Option<CallRules>,
    pub(super) optional: bool,
    pub(super) most: Option<usize>,
}

/// The rules of a turn that has none.
static NONE: TurnRules = TurnRules {
    calls: Vec::new(),
    any_order: false,
    others: None,
    responses: BTreeMap::new(),
    demands: Demands {
        contains: Vec::new(),
        contains_any: Vec::new(),
        lacks: Vec::new(),
        regex: Vec::new(),
        is: Vec::new(),
        number: Vec::new(),
        json: Vec::new(),
        max_words: None,
    },
    expected: 0,
};

impl Rules {
    /// The rules of a case, or the problems of the case if `_expect` has a mistake. A case without the key has no rules.
    pub fn of(case: &EvalCase) -> Result<Self, Problems> {
        let Some((rules, faults)) = resolved(case) else { return Ok(Self::default()) };
        if faults.iter().any(Fault::is_error) {
            case.check()?;
        }
        Ok(rules)
    }

    /// The rules of a turn, counted from 0. A turn without rules has empty ones.
    pub fn turn(&self, at: usize) -> &TurnRules {
        self.turns.get(at).unwrap_or(&NONE)
    }

    /// Whether no turn has a rule or a demand.
    pub fn is_empty(&self) -> bool {
        self.turns.iter().all(|turn| *turn == NONE)
    }
}

impl TurnRules {
    /// Whether calls are compared and paired as without rules.
    pub fn is_literal(&self) -> bool {
        self.calls.is_empty() && !self.any_order && self.others.is_none()
    }

    /// Whether the arguments of an expected call have rules.
    pub fn has_rules(&self, call: usize) -> bool {
        self.call(call).is_some_and(|call| call.args.is_some())
    }

    /// Whether an expected call may be left out.
    pub fn is_optional(&self, call: usize) -> bool {
        self.call(call).is_some_and(|call| call.optional)
    }

    /// The largest number of times that an expected call may be made: 1 without a rule.
    pub fn most(&self, call: usize) -> usize {
        self.call(call).and_then(|call| call.most).unwrap_or(1)
    }

    /// Whether the expected calls may come in any order.
    pub fn any_order(&self) -> bool {
        self.any_order
    }

    /// The calls that may be made beside the expected ones; `None` without a rule.
    pub fn others(&self) -> Option<&Others> {
        self.others.as_ref()
    }

    /// Whether a call of this tool may be made beside the expected calls.
    pub fn allows(&self, tool: Option<&str>) -> bool {
        match &self.others {
            None => false,
            Some(Others::Any) => true,
            Some(Others::Tools(tools)) => tool.is_some_and(|tool| tools.iter().any(|known| known == tool)),
        }
    }

    /// Whether any calls fulfil the turn: all expected ones may be left out, and any others made.
    pub fn is_free(&self) -> bool {
        self.others == Some(Others::Any) && (0..self.expected).all(|call| self.is_optional(call))
    }

    /// The demands on the answer.
    pub fn demands(&self) -> &Demands {
        &self.demands
    }

    /// The rules for the arguments of an expected call, as if none was needed.
    pub fn points(&self, call: usize) -> Vec<Point> {
        points(self.call(call).and_then(|call| call.args.as_ref()))
    }

    /// Compares an actual call with the expected call at a position of the turn. Ids are never compared.
    pub fn compare(
        &self,
        call: usize,
        expected: &FunctionCall,
        actual: &FunctionCall,
        args: ArgsMatch,
    ) -> Relation {
        if expected.name != actual.name {
            return another_tool();
        }
        let rules = self.call(call).and_then(|call| call.args.as_ref());
        compare(rules, expected.args.as_ref(), actual.args.as_ref(), args)
    }

    /// Compares an actual response with the expected response at a position of the turn.
    pub fn compare_responses(
        &self,
        at: usize,
        expected: &FunctionResponse,
        actual: &FunctionResponse,
    ) -> Relation {
        compare(
            self.responses.get(&at),
            expected.response.as_ref(),
            actual.response.as_ref(),
            ArgsMatch::Exact,
        )
    }

    /// Whether the expected response at a position of the turn has rules.
    pub fn has_response_rules(&self, at: usize) -> bool {
        self.responses.contains_key(&at)
    }

    /// The rules for an expected response, as if none was needed.
    pub fn response_points(&self, at: usize) -> Vec<Point> {
        points(self.responses.get(&at))
    }

    fn call(&self, at: usize) -> Option<&CallRule> {
        self.calls.get(at)
    }
}

fn points(rules: Option<&CallRules>) -> Vec<Point> {
    match rules {
        None => Vec::new(),
        Some(CallRules::Any) => vec![Point::new("", &Matcher::Any)],
        Some(CallRules::Args(args)) => {
            args.iter().map(|(path, matcher)| Point::new(path.as_str(), matcher)).collect()
        }
    }
}

fn another_tool() -> Relation {
    let text = "is a call of another tool".to_owned();
    Relation::Mismatch(vec![Reason { path: String::new(), text }])
}

/// The rules of a case and the mistakes in its key `_expect`; `None` without the key.
pub(crate) fn resolved(case: &EvalCase) -> Option<(Rules, Vec<Fault>)> {
    let (expect, mut found) = read::expect(read::of(case)?);
    let mut faults = Faults::below(KEY);
    let rules = resolve(case, &expect.unwrap_or_default(), &mut faults);
    found.append(&mut faults.found);
    Some((rules, found))
}

fn resolve(case: &EvalCase, expect: &Expect, faults: &mut Faults) -> Rules {
    let mut rules = Rules { turns: vec![TurnRules::default(); case.conversation.len()] };
    for (number, turn) in &expect.turns {
        let position = number - 1;
        faults.at(&number.to_string(), |faults| match case.conversation.get(position) {
            Some(golden) => rules.turns[position] = resolve_turn(*number, golden, turn, faults),
            None => no_turn(case, *number, faults),
        });
    }
    rules
}

fn no_turn(case: &EvalCase, number: usize, faults: &mut Faults) {
    let turns = count(case.conversation.len(), "turn");
    let (message, help) = match case.conversation_scenario {
        Some(_) => (
            "a scenario has no expected turns, so nothing of it can be expected here".to_owned(),
            "remove `_expect`; a rubric metric or a `final_session_state` decides a scenario".to_owned(),
        ),
        None => (
            format!("there is no turn {number}: the case has {turns}"),
            "turns are counted from 1".to_owned(),
        ),
    };
    faults.key(ProblemCode::UnknownPlace, message, "no such turn").help(help);
}

/// The expected calls or responses of a turn, by the names of their tools.
struct Golden<'g> {
    /// In words, for messages: `call`, `response`.
    what: &'static str,
    turn: usize,
    tools: Vec<&'g str>,
    /// The positions of each tool.
    positions: HashMap<&'g str, Vec<usize>>,
}

fn resolve_turn(number: usize, golden: &Invocation, turn: &TurnExpect, faults: &mut Faults) -> TurnRules {
    let calls: Vec<&FunctionCall> = golden.tool_calls().collect();
    let names = calls.iter().map(|call| call.name.as_deref().unwrap_or_default());
    let tools = Golden::new("call", number, names.collect());
    let mut rules = TurnRules {
        calls: Vec::new(),
        any_order: turn.any_order,
        others: turn.others.clone(),
        responses: BTreeMap::new(),
        demands: turn.answer.clone(),
        expected: calls.len(),
    };
    let mut by_call: HashMap<usize, CallRule> = HashMap::new();
    faults.at("calls", |faults| {
        for (name, call) in &turn.calls {
            let mut checked = Shared::new(call);
            for at in faults.at(name, |faults| tools.find(name, faults)) {
                faults.at(name, |faults| checked.check(calls[at].args.as_ref(), &tools, faults));
                let rule = by_call.entry(at).or_default();
                if rule.args.is_some() {
                    faults.at(name, |faults| twice(&tools, at, faults));
                }
                rule.args.clone_from(&checked.rules);
            }
        }
    });
    faults.at("optional", |faults| {
        for (item, name) in turn.optional.iter().enumerate() {
            for at in faults.item(item, |faults| tools.find_in_list(name, faults)) {
                by_call.entry(at).or_default().optional = true;
            }
        }
    });
    faults.at("repeat", |faults| {
        for (name, most) in &turn.repeat {
            for at in faults.at(name, |faults| tools.find(name, faults)) {
                let rule = by_call.entry(at).or_default();
                if rule.most.is_some() {
                    faults.at(name, |faults| twice(&tools, at, faults));
                }
                rule.most = Some(*most);
            }
        }
    });
    if !by_call.is_empty() {
        rules.calls = (0..calls.len()).map(|at| by_call.remove(&at).unwrap_or_default()).collect();
    }
    let responses: Vec<&FunctionResponse> = golden.tool_responses().collect();
    let names = responses.iter().map(|response| response.name.as_deref().unwrap_or_default());
    let tools = Golden::new("response", number, names.collect());
    faults.at("responses", |faults| {
        for (name, values) in &turn.responses {
            let mut checked = Shared::of(values);
            for at in faults.at(name, |faults| tools.find(name, faults)) {
                faults.at(name, |faults| checked.check(responses[at].response.as_ref(), &tools, faults));
                let twin = checked.rules.clone().and_then(|shared| rules.responses.insert(at, shared));
                if twin.is_some() {
                    faults.at(name, |faults| twice(&tools, at, faults));
                }
            }
        }
    });
    faults.at("answer", |faults| answers::check(&turn.answer, &golden.response_text(), faults));
    rules
}

/// The rules that a name has, which all calls or responses of the name share.
struct Shared {
    /// No rules are as good as none.
    rules: Option<CallRules>,
    /// Whether a mistake was found, which is told once and not for each call.
    is_wrong: bool,
}

impl Shared {
    fn new(call: &CallExpect) -> Self {
        match call {
            CallExpect::Any => Self { rules: Some(CallRules::Any), is_wrong: false },
            CallExpect::Args(args) => Self::of(args),
        }
    }

    fn of(values: &[(ArgPath, Matcher)]) -> Self {
        let mut values = values.to_vec();
        values.sort_by_key(|(path, _)| path.wildcards());
        let rules = (!values.is_empty()).then(|| CallRules::Args(Arc::from(values)));
        Self { rules, is_wrong: false }
    }

    /// Checks the rules against the golden values of one call or response.
    fn check(&mut self, values: Option<&Map>, golden: &Golden<'_>, faults: &mut Faults) {
        let Some(CallRules::Args(args)) = self.rules.as_ref().filter(|_| !self.is_wrong) else { return };
        let before = faults.found.len();
        let values = values.cloned().map(Value::Object);
        check_values(args, values.as_ref(), golden, faults);
        self.is_wrong = faults.found[before..].iter().any(Fault::is_error);
    }
}

fn check_values(
    args: &[(ArgPath, Matcher)],
    value: Option<&Value>,
    golden: &Golden<'_>,
    faults: &mut Faults,
) {
    for (path, matcher) in args.iter().filter(|(path, _)| !path.is_further()) {
        faults.at(path.as_str(), |faults| {
            let values = value.map(|value| path.values(value)).unwrap_or_default();
            if let Some((above, _)) =
                args.iter().find(|(above, matcher)| matcher.hides_items() && above.is_above(path))
            {
                let (above, path) = (shown(above.as_str()), shown(path.as_str()));
                let message = format!("the rule for `{above}` decides before `{path}` is looked at");
                faults
                    .key(ProblemCode::UnreadRule, message, "nothing reads this rule")
                    .help("remove one of the two rules");
            } else if values.is_empty() && !matches!(matcher, Matcher::Optional(Some(_))) {
                no_value(path, value, golden, faults);
            } else {
                fit::check(faults, matcher, &values);
            }
        });
    }
}

fn no_value(path: &ArgPath, value: Option<&Value>, golden: &Golden<'_>, faults: &mut Faults) {
    let (what, part) = (golden.what, golden.part());
    let known: Vec<&str> = value.and_then(Value::as_object).into_iter().flat_map(Map::keys).collect();
    let message = format!("the expected {what} has no {part} `{}`", shown(path.as_str()));
    let help = did_you_mean(path.as_str(), known.iter().copied()).unwrap_or_else(|| {
        let names: Vec<String> = known.iter().take(8).map(|name| format!("`{}`", shown(name))).collect();
        let has =
            if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
        let article = if part == "argument" { "an" } else { "a" };
        format!(r#"{has}; {article} {part} that may be added is `{{"optional": ..}}`"#)
    });
    faults.key(ProblemCode::UnknownPlace, message, golden.label_of_part()).help(help);
}

fn twice(golden: &Golden<'_>, at: usize, faults: &mut Faults) {
    let tool = golden.tools[at];
    let number = golden.tools[..=at].iter().filter(|known| **known == tool).count();
    let what = golden.what;
    let message = format!("two names are names of {what} {number} of `{}`", shown(tool));
    faults.key(ProblemCode::DuplicateKey, message, "said again here").help(format!("name each {what} once"));
}

impl<'g> Golden<'g> {
    fn new(what: &'static str, turn: usize, tools: Vec<&'g str>) -> Self {
        let mut positions: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, tool) in tools.iter().enumerate() {
            positions.entry(tool).or_default().push(at);
        }
        Self { what, turn, tools, positions }
    }

    /// The positions of the calls of a name. A mistake is one of the key.
    fn find(&self, name: &str, faults: &mut Faults) -> Vec<usize> {
        match self.resolve(name) {
            Ok(found) => found,
            Err((message, help)) => {
                faults.key(ProblemCode::UnknownPlace, message, self.label()).help(help);
                Vec::new()
            }
        }
    }

    /// The place of a name in a list.
    fn find_in_list(&self, name: &str, faults: &mut Faults) -> Vec<usize> {
        match self.resolve(name) {
            Ok(found) => found,
            Err((message, help)) => {
                faults.value(ProblemCode::UnknownPlace, message, self.label()).help(help);
                Vec::new()
            }
        }
    }

    fn label(&self) -> &'static str {
        if self.what == "call" { "names no expected call" } else { "names no expected response" }
    }

    fn label_of_part(&self) -> &'static str {
        if self.what == "call" { "no such argument" } else { "no such field" }
    }

    /// The parts of a call or a response, in words.
    fn part(&self) -> &'static str {
        if self.what == "call" { "argument" } else { "field" }
    }

    fn resolve(&self, name: &str) -> Result<Vec<usize>, (String, String)> {
        let (tool, number) = match name.rsplit_once('#') {
            Some((tool, number)) if !self.positions.contains_key(name) => (tool, Some(number)),
            _ => (name, None),
        };
        let found = self.positions.get(tool).map(Vec::as_slice).unwrap_or_default();
        let tool = shown(tool);
        let (what, turn) = (self.what, self.turn);
        match (number, found.len()) {
            (_, 0) => Err((format!("no {what} of `{tool}` is expected in turn {turn}"), self.nearest(&tool))),
            (Some("*"), _) | (None, 1) => Ok(found.to_vec()),
            (None, times) => Err((
                format!("`{tool}` is expected {times} times in turn {turn}"),
                format!("say which one: `{tool}#1`, .. or `{tool}#*` for all of them"),
            )),
            (Some(number), times) => {
                let at = number.parse::<usize>().ok().and_then(|number| found.get(number.checked_sub(1)?));
                at.map(|at| vec![*at]).ok_or_else(|| {
                    let times = count(times, "time");
                    (
                        format!(
                            "there is no `{tool}#{}`: turn {turn} expects `{tool}` {times}",
                            shown(number)
                        ),
                        format!("calls of a tool are counted from 1; `{tool}#*` are all of them"),
                    )
                })
            }
        }
    }

    fn nearest(&self, tool: &str) -> String {
        if let Some(meant) = did_you_mean(tool, self.tools.iter().copied()) {
            return meant;
        }
        let mut tools: Vec<String> = Vec::new();
        for name in self.tools.iter().map(|name| format!("`{}`", shown(name))) {
            if !tools.contains(&name) && tools.len() < 8 {
                tools.push(name);
            }
        }
        if tools.is_empty() {
            return format!("turn {} expects no {}", self.turn, self.what);
        }
        format!("turn {} expects {}", self.turn, tools.join(", "))
    }
}
