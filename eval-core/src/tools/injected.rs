//! The injections of a fault file in one conversation: which of them answers a call, and which the agent did not reach.

use std::sync::Arc;

use eval_format::Map;
use eval_format::tools::{ToolInjection, ToolInjections};
use eval_support::message::NO_FAULT;
use eval_support::words::count;

/// The injections and their use so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Injected {
    injections: Arc<ToolInjections>,
    /// For each injection, the number of calls that came to it so far.
    seen: Vec<usize>,
    /// Whether each injection answered a call.
    reached: Vec<bool>,
    /// For each injection, the first turn in which an expected call would reach it.
    owed: Vec<Option<usize>>,
}

impl Injected {
    /// The injections for a case whose turns expect these calls.
    pub(super) fn new<'c>(
        injections: Arc<ToolInjections>,
        expected: impl Iterator<Item = (usize, &'c str, &'c Map)>,
    ) -> Self {
        let of_each = injections.items.len();
        let fresh = Self {
            injections,
            seen: vec![0; of_each],
            reached: vec![false; of_each],
            owed: vec![None; of_each],
        };
        let (mut plays, mut owed) = (fresh.clone(), vec![None; of_each]);
        for (turn, name, args) in expected {
            if let Some(at) = plays.next(name, args) {
                owed[at] = owed[at].or(Some(turn));
            }
        }
        Self { owed, ..fresh }
    }

    /// The injection that answers a call, and its name in messages.
    pub(super) fn call(&mut self, name: &str, args: &Map) -> Option<(&ToolInjection, String)> {
        let at = self.next(name, args)?;
        self.reached[at] = true;
        let injection = &self.injections.items[at];
        Some((injection, self.name(injection)))
    }

    /// The position of the first injection that matches a call and whose turn it is. As in ADK, one that is passed over has seen the call,
    /// and one behind the one that answers has not.
    fn next(&mut self, name: &str, args: &Map) -> Option<usize> {
        let mut matching = self.injections.matching(name, args);
        let found = matching.find(|(at, injection)| {
            self.seen[*at] += 1;
            injection.answers(self.seen[*at])
        });
        found.map(|(at, _)| at)
    }

    fn name(&self, injection: &ToolInjection) -> String {
        format!("{}:{}", self.injections.file, injection.line)
    }

    /// An injection that an expected call matches and no call of the agent did: its turn, and the message.
    pub(super) fn unreached(&self) -> Option<(usize, String)> {
        let items = self.injections.items.iter().zip(&self.owed).zip(&self.reached);
        let (at, turn) = items
            .enumerate()
            .find_map(|(at, ((_, owed), reached))| Some((at, (*owed)?)).filter(|_| !reached))?;
        let injection = &self.injections.items[at];
        let message = format!(
            "the fault of `{}` in {} was not reached: the case expects a call that it answers, and the agent made {} that it \
             matches; change the fault, or what the agent does",
            injection.tool,
            self.name(injection),
            count(self.seen[at], "call"),
        );
        Some((turn, message))
    }

    /// A remark if there is a fault file and none of its injections answered.
    pub(super) fn note(&self) -> Option<String> {
        let file = &self.injections.file;
        let idle = !file.is_empty() && !self.reached.contains(&true);
        idle.then(|| format!("{NO_FAULT}{file} answered a call"))
    }
}

#[cfg(test)]
mod tests {
    use eval_format::{EvalCase, Invocation, Value};
    use serde_json::json;

    use crate::tools::{GoldenTools, ToolOutcome};

    use super::*;

    fn map(value: &serde_json::Value) -> Map {
        Value::parse(&value.to_string()).unwrap().as_object().unwrap().clone()
    }

    /// A case of one turn whose calls are answered with their number.
    fn case(calls: &serde_json::Value) -> EvalCase {
        let (mut uses, mut responses) = (Vec::new(), Vec::new());
        for (id, call) in calls.as_array().unwrap().iter().enumerate() {
            let id = id.to_string();
            uses.push(json!({"id": id, "name": call[0], "args": call[1]}));
            responses.push(json!({"id": id, "name": call[0], "response": {"golden": id}}));
        }
        let data = json!({"tool_uses": uses, "tool_responses": responses});
        let turn = json!({"user_content": {}, "intermediate_data": data});
        EvalCase::new("c").turn(Invocation::parse(&turn.to_string()).unwrap())
    }

    fn tools(case: &EvalCase, file: &serde_json::Value) -> GoldenTools {
        let injections = ToolInjections::parse(&file.to_string()).unwrap();
        let tools = GoldenTools::new(case).with_injections(Arc::new(injections));
        tools.begin_turn();
        tools
    }

    fn of(injections: &serde_json::Value) -> serde_json::Value {
        json!({"tool_simulation_configs": [{"tool_name": "f", "injection_configs": injections}]})
    }

    /// The answers of google-adk 2.13.0: `tests/adk/environment_simulation.py` wrote it. Where its real tool ran, a golden
    /// answers. What it refuses is refused, and so are files that it reads as something else than they say.
    #[tokio::test(start_paused = true)]
    async fn an_injection_answers_as_the_plugin_of_adk_does() {
        let rows: serde_json::Value =
            serde_json::from_str(include_str!("environment_simulation.json")).unwrap();
        let mut played = Vec::new();
        for row in rows.as_array().unwrap() {
            let case = case(&row["calls"]);
            let file = row["file"].to_string();
            let checked = eval_format::tools::check_injections("outage.json", file.as_bytes());
            let fits = checked.unexpected([&case]).is_empty();
            let number = row["number"].as_u64().unwrap();
            let is_refused_by_adk = !row["error"].is_null();
            let Some(injections) = checked.injections.clone().filter(|_| fits) else {
                assert!(
                    is_refused_by_adk || [5, 15, 18, 24].contains(&number),
                    "{row}: {:?}",
                    checked.problems
                );
                continue;
            };
            assert!(!is_refused_by_adk, "{row}");
            let tools = GoldenTools::new(&case).with_injections(Arc::new(injections));
            tools.begin_turn();
            for (at, call) in row["calls"].as_array().unwrap().iter().enumerate() {
                let answered = tools.answer(call[0].as_str().unwrap(), &map(&call[1])).await.unwrap();
                let of_adk = &row["answers"][at];
                let golden = answered.response.as_object().is_some_and(|it| it.contains_key("golden"));
                assert_eq!(golden, of_adk.is_null(), "{row}");
                if !golden {
                    assert_eq!(answered.response.to_string(), of_adk.to_string(), "{row}");
                }
            }
            played.push(number);
        }
        assert_eq!(played, [1, 2, 3, 4, 6, 7, 13, 31, 32, 33]);
    }

    #[test]
    fn calls_are_counted_among_those_that_come_to_the_injection() {
        let file = of(&json!([
            {"match_args": {"x": 1}, "calls": [2], "injected_response": {"n": "second of x=1"}, "injected_latency_seconds": 2},
            {"calls": [1], "injected_error": {"injected_http_error_code": 503, "error_message": "down"}},
        ]));
        let case = case(&json!([["f", {"x": 1}], ["f", {"x": 1}], ["f", {"x": 2}]]));
        let tools = tools(&case, &file);
        let mut answers = Vec::new();
        for x in [1, 1, 2, 1] {
            let answer = tools.call("f", &Map::from([("x", x)])).unwrap();
            let ToolOutcome::Response(value) = &answer.outcome else { panic!("{answer:?}") };
            answers.push(format!(
                "{value} {:?} {}",
                answer.after.as_secs(),
                answer.fault.unwrap_or_default()
            ));
        }
        assert_eq!(
            answers,
            [
                r#"{"error_code":503,"error_message":"down"} 0 <faults>:1"#,
                r#"{"n":"second of x=1"} 2 <faults>:1"#,
                r#"{"golden":"2"} 0 "#,
                r#"{"golden":"0"} 0 "#,
            ]
        );
        assert!(tools.misses().is_empty());
    }

    #[test]
    fn a_fault_that_the_calls_of_the_case_would_reach_has_to_be_reached() {
        let file = of(&json!([{"match_args": {"x": 1}, "calls": [2], "injected_response": {"n": 1}}]));
        let twice = case(&json!([["f", {"x": 1}], ["f", {"x": 1}]]));
        let idle = tools(&twice, &file);
        idle.call("f", &Map::from([("x", 1)])).unwrap();
        let (turn, message) = idle.unreached().unwrap();
        assert_eq!(turn, 1);
        assert_eq!(
            message,
            "the fault of `f` in <faults>:1 was not reached: the case expects a call that it answers, and the agent made 1 call \
             that it matches; change the fault, or what the agent does"
        );
        idle.call("f", &Map::from([("x", 1)])).unwrap();
        assert_eq!(idle.unreached(), None);

        let once = case(&json!([["f", {"x": 1}]]));
        let other = tools(&once, &file);
        assert_eq!(other.unreached(), None);
        assert!(other.unused().contains(&"no fault of <faults> answered a call".to_owned()));
        // A fault of the case itself answers first, and its call is not one that the file would answer.
        let own = once.with_extra("_tools", json!({"1": {"f#1": {"after": 1}}}));
        let all = of(&json!([{"injected_response": {"n": 1}}]));
        let own = tools(&own, &all);
        assert_eq!(own.call("f", &Map::from([("x", 1)])).unwrap().fault.as_deref(), Some("f#1"));
        assert_eq!(own.unreached(), None);
    }
}
