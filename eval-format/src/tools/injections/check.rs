//! Reading and checking fault files. What ADK would answer with a model, by chance or with the real tool is refused.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::time::Duration;

use eval_support::key_case::snake;
use eval_support::words::{code_list, did_you_mean, short_code_list};

use super::{ToolInjection, ToolInjections, error_response};
use crate::coerce;
use crate::config::check_model_config;
use crate::expect::{Rules, TurnRules};
use crate::metric::choices::ArgsMatch;
use crate::model::{EvalCase, FunctionCall, Invocation};
use crate::problem::{JsonPath, Positions, Problem, ProblemCode, Problems, shown};
use crate::schema::{Place, Type, wrong_type};
use crate::syntax::{Entry, Kind, Node};
use crate::text;
use crate::tools::TRANSFER_TO_AGENT;
use crate::tools::faults::FaultOutcome;
use crate::value::Map;

/// A checked fault file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckedInjections {
    /// The name of the file, as messages show it.
    pub file: String,
    /// The text that the ranges of the problems point into.
    pub text: String,
    /// The injections, unless a problem is an error.
    pub injections: Option<ToolInjections>,
    /// All problems, in the order of the text.
    pub problems: Vec<Problem>,
    named: Vec<Named>,
}

/// A tool, or arguments of its calls, where the file names them.
#[derive(Clone, Debug)]
struct Named {
    tool: String,
    /// `match_args` of an injection; `None` for the name of a tool.
    args: Option<Map>,
    path: JsonPath,
    range: Range<usize>,
}

impl Named {
    /// Whether the turn expects or allows a call that has these arguments.
    fn is_of(&self, turn: &Invocation, rules: &TurnRules) -> bool {
        let mut calls = turn.tool_calls().enumerate();
        let of_tool = |call: &FunctionCall| call.name.as_deref() == Some(&*self.tool);
        let Some(args) = &self.args else { return calls.any(|(_, call)| of_tool(call)) };
        // The rules of the case say what an argument may be in place of the golden value.
        let may_have = |at: usize, call: &FunctionCall| {
            let mut like_it = call.clone();
            let of_like = like_it.args.get_or_insert_default();
            for (key, value) in args {
                of_like.insert(key, value.clone());
            }
            rules.compare(at, call, &like_it, ArgsMatch::Exact).matches()
        };
        rules.allows(Some(&self.tool)) || calls.any(|(at, call)| of_tool(call) && may_have(at, call))
    }
}

impl CheckedInjections {
    /// The injections, or the problems of the file if one of them is an error.
    pub fn into_result(self) -> Result<ToolInjections, Problems> {
        self.injections.ok_or(Problems { file: self.file, text: self.text, items: self.problems })
    }

    /// A problem for each tool that none of the cases expects a call of, and for each `match_args` that no expected call has, or
    /// may have by the rules of its case: such faults would never be seen.
    pub fn unexpected<'c>(&self, cases: impl IntoIterator<Item = &'c EvalCase>) -> Vec<Problem> {
        let mut unexpected: Vec<&Named> = self.named.iter().collect();
        let mut calls: BTreeMap<&str, Vec<&FunctionCall>> = BTreeMap::new();
        for case in cases {
            let rules = Rules::of(case).unwrap_or_default();
            for (at, turn) in case.conversation.iter().enumerate() {
                unexpected.retain(|named| !named.is_of(turn, rules.turn(at)));
                for call in turn.tool_calls() {
                    calls.entry(call.name.as_deref().unwrap_or_default()).or_default().push(call);
                }
            }
        }
        let problem = |named: &Named| {
            let of_tool = calls.get(&*named.tool);
            let (message, help) = match (&named.args, of_tool) {
                (None, _) => {
                    let tools: Vec<&str> = calls.keys().copied().collect();
                    let expected = || match tools.as_slice() {
                        [] => "the cases expect no calls of tools at all".to_owned(),
                        tools => format!("the cases expect calls of {}", short_code_list(tools)),
                    };
                    let help = did_you_mean(&named.tool, tools.iter().copied()).unwrap_or_else(expected);
                    (format!("no case expects a call of `{}`", shown(&named.tool)), help)
                }
                // It is named once, by its tool.
                (Some(_), None) => return None,
                (Some(args), Some(of_tool)) => {
                    let call = FunctionCall::new(&*named.tool, args.clone());
                    let mut expected: Vec<String> =
                        of_tool.iter().map(|call| shown(&call.to_string())).collect();
                    expected.dedup();
                    let help = format!("the cases expect {}", short_code_list(&expected));
                    (format!("no case expects a call like `{}`", shown(&call.to_string())), help)
                }
            };
            let problem =
                Problem::error(ProblemCode::ToolFault, named.path.clone(), named.range.clone(), message);
            Some(problem.label("its faults would change nothing").help(help))
        };
        unexpected.into_iter().filter_map(problem).collect()
    }

    /// The problems of these tools as one error.
    pub fn problems_of(&self, items: Vec<Problem>) -> Problems {
        Problems { file: self.file.clone(), text: self.text.clone(), items }
    }
}

impl ToolInjections {
    /// Reads a fault file.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        check_injections("<faults>", text.as_bytes()).into_result()
    }
}

/// Reads and checks a fault file: JSON of ADK's environment simulation.
///
/// ```
/// use eval_format::tools::check_injections;
///
/// let text = r#"{"tool_simulation_configs": [{"tool_name": "search", "injection_configs": [
///     {"injected_response": {"hits": []}, "injection_probability": 0.5}]}]}"#;
/// let checked = check_injections("outage.json", text.as_bytes());
/// assert_eq!(checked.problems[0].message, "`injection_probability` is 0.5");
/// ```
pub fn check_injections(file: &str, bytes: &[u8]) -> CheckedInjections {
    let mut named = Vec::new();
    let (text, items, problems) = text::read(
        bytes,
        |_, problem| problem,
        |root, problems| {
            let mut reader = Reader { problems, named: &mut named, seen: HashMap::new(), items: Vec::new() };
            reader.file(root);
            Some(reader.items)
        },
    );
    let injections = items.map(|items| {
        let positions = Positions::from_offsets(&text, items.iter().map(|(at, _)| *at).collect());
        let placed =
            items.into_iter().map(|(at, item)| ToolInjection { line: positions.get(at).line, ..item });
        ToolInjections { file: file.to_owned(), items: placed.collect() }
    });
    CheckedInjections { file: file.to_owned(), text, injections, problems, named }
}

const FILE_KEYS: [&str; 5] = [
    "tool_simulation_configs",
    "simulation_model",
    "simulation_model_configuration",
    "environment_data",
    "tracing",
];
const TOOL_KEYS: [&str; 3] = ["tool_name", "injection_configs", "mock_strategy_type"];
const INJECTION_KEYS: [&str; 7] = [
    "match_args",
    "calls",
    "injected_response",
    "injected_error",
    "injected_latency_seconds",
    "injection_probability",
    "random_seed",
];
const ERROR_KEYS: [&str; 2] = ["injected_http_error_code", "error_message"];

/// The model that ADK names unless a config does. It is asked nothing.
const ADK_MODEL: &str = "gemini-2.5-flash";

/// The longest wait, in seconds, as in ADK.
const MAX_WAIT_SECONDS: f64 = 120.0;

const EXAMPLE: &str = r#"{"tool_simulation_configs": [{"tool_name": "search", "injection_configs": [{"injected_response": {"hits": []}}]}]}"#;

struct Reader<'r> {
    problems: &'r mut Vec<Problem>,
    named: &'r mut Vec<Named>,
    /// The first place of each tool.
    seen: HashMap<String, Range<usize>>,
    /// Each with the byte at which it begins.
    items: Vec<(usize, ToolInjection)>,
}

impl Reader<'_> {
    fn file(&mut self, root: &Node<'_>) {
        let place = &Place::Root;
        let Some(keys) = self.object(root, place, "a fault file", &FILE_KEYS) else { return };
        for entry in keys {
            let at = &Place::Key(place, &entry.key);
            match &*entry.key {
                "tool_simulation_configs" => match entry.value.array() {
                    Some(tools) if !tools.is_empty() => {
                        for (index, tool) in tools.iter().enumerate() {
                            self.tool(tool, &Place::Index(at, index));
                        }
                    }
                    _ => self.wrong(
                        &entry.value,
                        at,
                        "`tool_simulation_configs` names no tools",
                        &format!("write {EXAMPLE}"),
                    ),
                },
                "simulation_model_configuration" if entry.value.object().is_none() => {
                    let message = format!("`{}` is {}", entry.key, entry.value.kind_name());
                    self.wrong(&entry.value, at, &message, "leave it out: no model is asked here");
                }
                "simulation_model_configuration" => {
                    check_model_config(&entry.value, "`simulation_model_configuration`", at, self.problems);
                }
                "simulation_model" if entry.value.string() != Some(ADK_MODEL) => self.unread(entry, at),
                "environment_data" | "tracing" if !entry.value.is_null() => self.unread(entry, at),
                _ => {}
            }
        }
        self.needed(root, place, keys, "tool_simulation_configs", &format!("write {EXAMPLE}"));
    }

    /// A key that is for the model with which ADK invents answers.
    fn unread(&mut self, entry: &Entry<'_>, place: &Place<'_>) {
        let message = format!("`{}` is for a model that invents answers, and none is asked here", entry.key);
        self.problems.push(
            place
                .error(ProblemCode::NotAvailable, entry.key_range.clone(), message)
                .label("nothing reads it")
                .help("leave it out: the golden answers of the case take the place of a model"),
        );
    }

    fn tool(&mut self, node: &Node<'_>, place: &Place<'_>) {
        let Some(keys) = self.object(node, place, "an entry of `tool_simulation_configs`", &TOOL_KEYS) else {
            return;
        };
        let mut name = None;
        if let Some(entry) =
            self.needed(node, place, keys, "tool_name", "name the tool as the agent calls it")
        {
            let at = &Place::Key(place, "tool_name");
            match entry.value.string().filter(|name| !name.is_empty()) {
                Some(text) => name = Some(text),
                None => self.wrong(&entry.value, at, "`tool_name` is no name", "write the name as a text"),
            }
            if let Some(text) = name {
                let range = entry.value.range.clone();
                if let Some(first) = self.seen.get(text).cloned() {
                    let message = format!("there are two entries for the tool `{}`", shown(text));
                    self.problems.push(
                        at.error(ProblemCode::DuplicateKey, range.clone(), message)
                            .related(first, "the first one")
                            .help("put the injections of a tool into one entry"),
                    );
                }
                self.seen.entry(text.to_owned()).or_insert_with(|| range.clone());
                if text == TRANSFER_TO_AGENT {
                    let message = format!("`{text}` always runs, so no fault takes its place");
                    self.problems.push(
                        at.error(ProblemCode::NotAvailable, range, message)
                            .label("its faults would change nothing")
                            .help("name a tool that the case answers"),
                    );
                } else {
                    self.named.push(Named { tool: text.to_owned(), args: None, path: at.path(), range });
                }
            }
        }
        if let Some(entry) = node.get("mock_strategy_type")
            && number_of_strategy(&entry.value) != Some(0)
        {
            self.strategy(entry, &Place::Key(place, "mock_strategy_type"));
        }
        let help = "list what the tool does: `[{\"injected_response\": {..}}]`";
        let Some(entry) = self.needed(node, place, keys, "injection_configs", help) else { return };
        let at = &Place::Key(place, "injection_configs");
        match entry.value.array() {
            Some(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    self.injection(name.unwrap_or_default(), item, &Place::Index(at, index));
                }
            }
            _ => self.wrong(&entry.value, at, "`injection_configs` has no injection", help),
        }
    }

    fn strategy(&mut self, entry: &Entry<'_>, place: &Place<'_>) {
        let message = match number_of_strategy(&entry.value) {
            Some(1) => "`mock_strategy_type` 1 has a model invent the answers",
            Some(2) => {
                "`mock_strategy_type` 2 answers each call with an error of its own: \"Not implemented\""
            }
            _ => "`mock_strategy_type` is not one of ADK's: it is 0, 1 or 2",
        };
        self.problems.push(
            place
                .error(ProblemCode::NotAvailable, entry.value.range.clone(), message)
                .help("leave it out: the golden answers of the case take the place of a model"),
        );
    }

    fn injection(&mut self, tool: &str, node: &Node<'_>, place: &Place<'_>) {
        let before = self.problems.len();
        let Some(keys) = self.object(node, place, "an injection", &INJECTION_KEYS) else { return };
        let mut item = ToolInjection {
            tool: tool.to_owned(),
            match_args: Map::new(),
            calls: Vec::new(),
            outcome: FaultOutcome::Never,
            after: Duration::ZERO,
            line: 0,
        };
        let (mut outcomes, mut never, mut matches_at) = (Vec::new(), false, None);
        for entry in keys {
            let (node, at) = (&entry.value, &Place::Key(place, &entry.key));
            match &*entry.key {
                "injected_response" | "injected_error" | "match_args" | "random_seed" if node.is_null() => {}
                "injected_response" => match node.to_value().as_object() {
                    Some(response) if !response.is_empty() => {
                        outcomes.push((entry, FaultOutcome::Response(response.clone().into())));
                    }
                    _ => self.wrong(
                        node,
                        at,
                        "`injected_response` is no object with something in it",
                        "write what the tool answers: {\"hits\": []}; ADK takes no other values",
                    ),
                },
                "injected_error" => outcomes.extend(self.error(node, at).map(|error| (entry, error))),
                "match_args" => match node.to_value().as_object() {
                    Some(args) => {
                        item.match_args = args.clone();
                        matches_at = Some((at.path(), node.range.clone()));
                    }
                    None => self.wrong(
                        node,
                        at,
                        &format!("`match_args` is {}", node.kind_name()),
                        "write the arguments that the call must have: {\"city\": \"Paris\"}",
                    ),
                },
                "calls" => item.calls = self.calls(node, at),
                "injected_latency_seconds" => item.after = self.latency(node, at),
                "injection_probability" => never |= self.never(node, at),
                "random_seed" if coerce::int(node).is_none() => {
                    self.problems.push(wrong_type(node, &Type::Int, "42", at));
                }
                _ => {}
            }
        }
        match outcomes.as_slice() {
            [(_, outcome)] => item.outcome = outcome.clone(),
            [] if self.problems.len() == before => self.wrong(
                node,
                place,
                "the injection changes nothing",
                "add `injected_response` or `injected_error`",
            ),
            [] => {}
            [_, (second, _), ..] => self.problems.push(
                place
                    .error_at_key(ProblemCode::ToolFault, second, "the injection answers in two ways")
                    .help("keep one of `injected_response` and `injected_error`"),
            ),
        }
        // The first one that matches answers.
        let hides = |known: &ToolInjection| {
            known.tool == item.tool && known.calls.is_empty() && known.matches(&item.match_args)
        };
        if let Some((at, _)) = self.items.iter().find(|(_, known)| !never && hides(known)) {
            let message = "an injection before this one answers each call that it matches";
            self.problems.push(
                place
                    .error(ProblemCode::ToolFault, node.range.start..node.range.start + 1, message)
                    .label("this one never answers")
                    .related(*at..at + 1, "the one that answers")
                    .help("put the one that matches fewer calls first, or let `calls` say which of them it answers"),
            );
        }
        if !never && self.problems.len() == before {
            if let Some((path, range)) = matches_at.filter(|_| !item.match_args.is_empty()) {
                let args = Some(item.match_args.clone());
                self.named.push(Named { tool: tool.to_owned(), args, path, range });
            }
            self.items.push((node.range.start, item));
        }
    }

    fn error(&mut self, node: &Node<'_>, place: &Place<'_>) -> Option<FaultOutcome> {
        let example = r#"write {"injected_http_error_code": 503, "error_message": "down"}"#;
        let keys = self.object(node, place, "`injected_error`", &ERROR_KEYS)?;
        let code = self.needed(node, place, keys, "injected_http_error_code", example);
        let message = self.needed(node, place, keys, "error_message", example);
        let (code, message) = (code?, message?);
        let number = coerce::int(&code.value);
        if number.is_none() {
            let at = &Place::Key(place, &code.key);
            self.wrong(&code.value, at, "`injected_http_error_code` is no whole number", example);
        }
        let text = message.value.string();
        if text.is_none() {
            let at = &Place::Key(place, &message.key);
            self.wrong(&message.value, at, "`error_message` is no text", example);
        }
        Some(error_response(number?, text?))
    }

    fn calls(&mut self, node: &Node<'_>, place: &Place<'_>) -> Vec<usize> {
        let numbers = node.array().filter(|items| !items.is_empty()).and_then(|items| {
            let number = |item: &Node<'_>| usize::try_from(item.to_value().as_i64()?).ok().filter(|n| *n > 0);
            items.iter().map(number).collect::<Option<Vec<_>>>()
        });
        if numbers.is_none() {
            self.wrong(
                node,
                place,
                "`calls` is no list of numbers from 1",
                "write which of the calls that it matches are answered: [2] for the second one",
            );
        }
        numbers.unwrap_or_default()
    }

    fn latency(&mut self, node: &Node<'_>, place: &Place<'_>) -> Duration {
        let seconds = coerce::float(node).filter(|seconds| (0.0..=MAX_WAIT_SECONDS).contains(seconds));
        let found = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        if found.is_none() {
            let message = format!("`injected_latency_seconds` is {}", node.to_value());
            let help = format!("it is a number of seconds, from 0 to {MAX_WAIT_SECONDS}");
            self.wrong(node, place, &message, &help);
        }
        found.unwrap_or_default()
    }

    /// Whether the injection never answers. Only 0 and 1 are the same each time.
    fn never(&mut self, node: &Node<'_>, place: &Place<'_>) -> bool {
        match coerce::float(node) {
            Some(1.0) => false,
            Some(0.0) => true,
            _ => {
                let message = format!("`injection_probability` is {}", node.to_value());
                let help = "chance decides no test: leave it out, or say which call fails: `\"calls\": [2]`";
                self.wrong(node, place, &message, help);
                false
            }
        }
    }

    /// The keys of an object. Unknown keys are errors: ADK passes over them, and so over what they were meant to do.
    fn object<'n, 'a>(
        &mut self,
        node: &'n Node<'a>,
        place: &Place<'_>,
        what: &str,
        known: &[&str],
    ) -> Option<&'n [Entry<'a>]> {
        let Some(keys) = node.object() else {
            let message = format!("{what} is an object, and this is {}", node.kind_name());
            self.wrong(node, place, &message, &format!("the keys are {}", code_list(known)));
            return None;
        };
        for entry in keys.iter().filter(|entry| !known.contains(&&*entry.key)) {
            let snake = Some(snake(&entry.key)).filter(|snake| known.contains(&snake.as_str()));
            let help = match snake {
                Some(snake) => format!("write `{snake}`: ADK reads no camelCase here"),
                None => did_you_mean(&entry.key, known.iter().copied())
                    .unwrap_or_else(|| format!("the keys are {}", code_list(known))),
            };
            let message = format!("{what} has no key `{}`", shown(&entry.key));
            let at = &Place::Key(place, &entry.key);
            self.problems.push(
                at.error_at_key(ProblemCode::UnknownKey, entry, message)
                    .label("ADK passes over it")
                    .help(help),
            );
        }
        Some(keys)
    }

    fn needed<'n, 'a>(
        &mut self,
        node: &Node<'a>,
        place: &Place<'_>,
        keys: &'n [Entry<'a>],
        key: &str,
        help: &str,
    ) -> Option<&'n Entry<'a>> {
        let found = keys.iter().find(|entry| entry.key == key);
        if found.is_none() {
            let start = node.range.start;
            let message = format!("`{key}` is missing");
            let problem = place.error(ProblemCode::MissingKey, start..start + 1, message);
            self.problems.push(problem.help(help));
        }
        found
    }

    fn wrong(&mut self, node: &Node<'_>, place: &Place<'_>, message: &str, help: &str) {
        self.problems.push(place.error(ProblemCode::WrongType, node.range.clone(), message).help(help));
    }
}

/// The number of a strategy. As in Python, `false` is 0; a text is no number.
fn number_of_strategy(node: &Node<'_>) -> Option<i64> {
    let number = || coerce::int(node)?.as_i64();
    (!matches!(node.kind, Kind::String(_))).then(number).flatten()
}

#[cfg(test)]
mod tests;
