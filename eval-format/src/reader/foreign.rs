//! Files of other schemas that were given as an eval set: their names and the remedies.
//!
//! Only files that cannot be read get here. So a sign need not be certain. It has to explain more than a list
//! of missing and unknown keys would.

use std::ops::Range;

use eval_support::spelling::is_misspelling;

use crate::problem::{JsonPath, Problem, ProblemCode, short};
use crate::schema::{EVAL_SET_ANY_CASE, opening};
use crate::syntax::{self, Entry, Node};

/// The key by which a schema is recognised.
struct Sign {
    path: JsonPath,
    range: Range<usize>,
}

/// A schema and the key by which it is known.
struct Schema {
    /// Completes *this is ...*.
    what: &'static str,
    help: &'static str,
    sign: fn(&Node<'_>) -> Option<Sign>,
}

/// The known schemas, the most specific first.
const SCHEMAS: &[Schema] = &[
    Schema {
        what: "an OpenTelemetry trace",
        help: "a trace says what happened, not what is expected; `cargo evalset import FILE -o SET` makes a draft of it",
        sign: |root| {
            let keys = &["resourceSpans", "resource_spans", "spanId", "span_id"];
            unless_set(root, keys).or_else(|| Some(any(first(root)?, keys)?.below_index(0)))
        },
    },
    Schema {
        what: "a Jaeger trace",
        help: "a trace says what happened, not what is expected; `cargo evalset import FILE -o SET` makes a draft of it",
        sign: |root| {
            let data = root.get("data")?;
            any(first(&data.value)?, &["traceID", "spans"]).map(|sign| sign.below_index(0).below("data"))
        },
    },
    Schema {
        what: "a metrics config",
        help: "name it as `config = \"...\"`, or `test_config.json` beside the set; the set is a file of its own",
        sign: |root| unless_set(root, &["criteria", "custom_metrics", "customMetrics"]),
    },
    Schema {
        what: "a result file of an evaluation",
        help: "name the eval set that was evaluated",
        sign: |root| unless_set(root, &["eval_case_results", "evalCaseResults", "eval_set_result_id"]),
    },
    Schema {
        what: "a file of conversation scenarios",
        help: "ADK makes cases of it with `adk eval_set add_eval_case`",
        sign: |root| unless_set(root, &["scenarios"]),
    },
    Schema {
        what: "an exported session",
        help: "a session says what happened, not what is expected; `cargo evalset import FILE -o SET` makes a draft of it",
        sign: |root| {
            any(root, &["app_name", "appName", "user_id", "userId"]).and(unless_set(root, &["events"]))
        },
    },
    Schema {
        what: "a session input",
        help: "write it into the cases as `session_input`; beside an old test file name it as `session = \"...\"`",
        sign: |root| any(root, &["app_name", "appName"]).and(unless_set(root, &["user_id", "userId"])),
    },
    Schema {
        what: "a single eval case",
        help: r#"put it into a set: `{"eval_set_id": "...", "eval_cases": [...]}`"#,
        sign: |root| unless_set(root, &["conversation"]),
    },
    Schema {
        what: "an array of eval cases",
        help: r#"put it into a set: `{"eval_set_id": "...", "eval_cases": [...]}`"#,
        sign: |root| {
            any(first(root)?, &["conversation", "eval_id", "evalId"]).map(|sign| sign.below_index(0))
        },
    },
    Schema {
        what: "an array of eval sets",
        help: "write each set to a file of its own",
        sign: |root| any(first(root)?, &["eval_cases", "evalCases"]).map(|sign| sign.below_index(0)),
    },
    Schema {
        what: "an array of invocations",
        help: r#"put it into a case: `{"eval_id": "...", "conversation": [...]}`, and the case into a set"#,
        sign: |root| any(first(root)?, &["user_content", "userContent"]).map(|sign| sign.below_index(0)),
    },
    Schema {
        what: "a dataset of agents-cli",
        help: "make an invocation of each `prompt`: `user_content`, `intermediate_data.tool_uses`, `final_response`",
        sign: |root| in_cases(root, |case| without_turns(case, &["prompt", "reference_trajectory"])),
    },
    Schema {
        what: "an eval set of trpc-agent-go",
        help: r#"ADK writes `"content": "..."` as `"parts": [{"text": "..."}]` and `tools` as `intermediateData.toolUses`"#,
        sign: trpc_agent_go,
    },
    Schema {
        what: "a set of cases of trpc-agent-go's examples",
        help: "make an eval case of each of the `cases`: `eval_id` and a `conversation` of invocations",
        sign: |root| unless_set(root, &["cases"]),
    },
    Schema {
        what: "a set with rubrics of another schema",
        help: r#"ADK writes a rubric as `{"rubric_id": "...", "rubric_content": {"text_property": "..."}}`"#,
        sign: |root| in_cases(root, rubrics).or_else(|| rubrics(root)),
    },
    Schema {
        what: "an eval set of agentevals' examples",
        help: "`cargo evalset import FILE -o SET` makes drafts of its cases",
        sign: |root| {
            in_cases(root, |case| case.get("eval_id").is_none().then(|| any(case, &["case_id"])).flatten())
        },
    },
    Schema {
        what: "an eval set of adk-eval",
        help: "`cargo evalset import FILE -o SET` makes drafts of its cases",
        sign: |root| in_cases(root, result_in_a_call),
    },
    Schema {
        what: "a dataset of single prompts",
        help: "make an eval case of each: `eval_id` and a `conversation` of one invocation",
        sign: |root| {
            in_cases(root, |case| without_turns(case, PROMPTS))
                .or_else(|| any(first(root)?, PROMPTS).map(|sign| sign.below_index(0)))
                .or_else(|| unless_set(root, PROMPTS))
        },
    },
];

const PROMPTS: &[&str] =
    &["input", "prompt", "question", "messages", "userMessage", "user_message", "userInput", "user_input"];

/// The problem of a file of another schema.
pub(super) fn recognise(root: &Node<'_>) -> Option<Problem> {
    SCHEMAS
        .iter()
        .find_map(|schema| Some(problem(schema.what, schema.help, (schema.sign)(root)?)))
        .or_else(|| nothing_known(root))
}

/// Like [`recognise`], for JSON lines: a text that is no JSON document, but whose first line is one.
pub(super) fn recognise_lines(text: &str) -> Option<Problem> {
    let mut lines = text.lines();
    let first = lines.next()?;
    if !lines.any(|line| line.starts_with(['{', '['])) {
        return None;
    }
    let root = syntax::parse(first, &mut Vec::new()).ok()?;
    root.object()?;
    let known = SCHEMAS.iter().find_map(|schema| Some((schema, (schema.sign)(&root)?)));
    let what = "a file of JSON lines";
    let help = "an eval set is one JSON document: `{\"eval_set_id\": \"...\", \"eval_cases\": [...]}`";
    Some(match known {
        Some((schema, sign)) => problem(&format!("{what}, {}", schema.what), schema.help, sign),
        None => problem(what, help, Sign { path: JsonPath::default(), range: opening(&root) }),
    })
}

fn problem(what: &str, help: &str, sign: Sign) -> Problem {
    let message = format!("this is {what}, not an eval set");
    Problem::error(ProblemCode::ForeignSchema, sign.path, sign.range, message)
        .label("eval sets have no such thing here")
        .help(help)
}

/// The problem of an object or array that has no key of an eval set.
fn nothing_known(root: &Node<'_>) -> Option<Problem> {
    let strange = match (root.object(), root.array()) {
        (Some(entries), _) => !entries.iter().any(|entry| is_of_eval_set(&entry.key)),
        (_, Some(items)) => !items.is_empty() && !items.iter().any(is_turn),
        _ => false,
    };
    strange.then(|| {
        let path = JsonPath::default();
        Problem::error(ProblemCode::ForeignSchema, path, opening(root), "this is not an eval set")
            .label("neither `eval_set_id` nor `eval_cases` is here")
            .help("an eval set is an object: `{\"eval_set_id\": \"...\", \"eval_cases\": [...]}`")
    })
}

fn is_of_eval_set(key: &str) -> bool {
    ["eval_set_id", "eval_cases", "evalSetId", "evalCases"]
        .iter()
        .any(|known| key == *known || is_misspelling(key, known))
}

/// Whether an element of an array has a key of the old formats.
fn is_turn(item: &Node<'_>) -> bool {
    ["query", "reference", "expected_tool_use", "data"].iter().any(|key| item.get(key).is_some())
}

/// The sign of trpc-agent-go's port of the format, which has ADK's outer keys and messages of plain text.
fn trpc_agent_go(root: &Node<'_>) -> Option<Sign> {
    root.get("evalCases")?;
    in_cases(root, |case| {
        let turn = case.get("conversation").and_then(|turns| first(&turns.value));
        let in_turn = turn.and_then(|turn| {
            let message = ["userContent", "finalResponse"].into_iter().find_map(|name| {
                let entry = turn.get(name)?.value.get("content")?;
                Some(Sign::of(entry).below(name))
            });
            message.or_else(|| any(turn, &["tools", "toolMock"]))
        });
        in_turn
            .map(|sign| sign.below_index(0).below("conversation"))
            .or_else(|| any(case, &["evalMode", "actualConversation", "expectedTools"]))
            .or_else(|| {
                let scenario = case.get("conversationScenario")?;
                let sign = any(&scenario.value, &["stopSignal", "driver", "maxAllowedInvocations"])?;
                Some(sign.below("conversationScenario"))
            })
    })
}

/// The sign of adk-eval, which writes the result of a call into the call.
fn result_in_a_call(case: &Node<'_>) -> Option<Sign> {
    let turns = case.get("conversation")?.value.array()?;
    turns.iter().enumerate().find_map(|(at, turn)| {
        let calls = turn.get("intermediate_data")?.value.get("tool_uses")?;
        let sign = any(first(&calls.value)?, &["expected_response"])?.below_index(0);
        Some(sign.below("tool_uses").below("intermediate_data").below_index(at).below("conversation"))
    })
}

/// The sign of rubrics that have a statement and its weight.
fn rubrics(node: &Node<'_>) -> Option<Sign> {
    let rubrics = node.get("rubrics")?;
    let sign = any(first(&rubrics.value)?, &["criterion", "points"])?;
    Some(sign.below_index(0).below("rubrics"))
}

/// A sign in the first case of a set.
fn in_cases(root: &Node<'_>, sign: impl Fn(&Node<'_>) -> Option<Sign>) -> Option<Sign> {
    let cases = EVAL_SET_ANY_CASE.entry(root.object()?, "eval_cases")?;
    Some(sign(first(&cases.value)?)?.below_index(0).below(&cases.key))
}

/// The first of these keys in an object without `eval_cases`.
fn unless_set(root: &Node<'_>, keys: &[&str]) -> Option<Sign> {
    EVAL_SET_ANY_CASE.entry(root.object()?, "eval_cases").is_none().then(|| any(root, keys)).flatten()
}

/// The first of these keys in a case without `conversation`.
fn without_turns(case: &Node<'_>, keys: &[&str]) -> Option<Sign> {
    case.get("conversation").is_none().then(|| any(case, keys)).flatten()
}

/// The first of these keys that an object has.
fn any(node: &Node<'_>, keys: &[&str]) -> Option<Sign> {
    keys.iter().find_map(|key| node.get(key)).map(Sign::of)
}

fn first<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Node<'a>> {
    node.array()?.first()
}

impl Sign {
    fn of(entry: &Entry<'_>) -> Self {
        Self { path: JsonPath::default().key(&short(&entry.key)), range: entry.key_range.clone() }
    }

    /// The same sign, seen from an object that holds it under a key.
    fn below(self, key: &str) -> Self {
        Self { path: JsonPath::default().key(key).join(&self.path), range: self.range }
    }

    /// The same sign, seen from an array that holds it.
    fn below_index(self, index: usize) -> Self {
        Self { path: JsonPath::default().index(index).join(&self.path), range: self.range }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::check_set;

    fn only_problem(text: &str) -> Problem {
        let mut problems = check_set("s.evalset.json", text.as_bytes(), None).problems;
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems.remove(0)
    }

    #[test]
    fn other_schemas_are_known_by_a_key() {
        let check = |text: &str, what: &str, path: &str| {
            let problem = only_problem(text);
            assert_eq!(problem.code, ProblemCode::ForeignSchema, "{text}");
            assert_eq!(problem.message, format!("this is {what}, not an eval set"));
            assert_eq!(problem.path.to_string(), path);
        };
        let cases = |case: &str| format!(r#"{{"eval_set_id": "s", "eval_cases": [{case}]}}"#);
        check(r#"{"resourceSpans": []}"#, "an OpenTelemetry trace", "resourceSpans");
        check(r#"[{"traceId": "1", "spanId": "2"}]"#, "an OpenTelemetry trace", "[0].spanId");
        check(r#"{"data": [{"traceID": "1"}]}"#, "a Jaeger trace", "data[0].traceID");
        check(r#"{"criteria": {"response_match_score": 1}}"#, "a metrics config", "criteria");
        check(r#"{"eval_case_results": []}"#, "a result file of an evaluation", "eval_case_results");
        check(r#"{"scenarios": []}"#, "a file of conversation scenarios", "scenarios");
        check(r#"{"id": "1", "app_name": "a", "events": []}"#, "an exported session", "events");
        check(r#"{"app_name": "a", "user_id": "u", "state": {}}"#, "a session input", "user_id");
        check(r#"{"eval_id": "c", "conversation": []}"#, "a single eval case", "conversation");
        check(r#"[{"eval_id": "c", "conversation": []}]"#, "an array of eval cases", "[0].conversation");
        check(r#"[{"eval_set_id": "s", "eval_cases": []}]"#, "an array of eval sets", "[0].eval_cases");
        check(r#"[{"user_content": {}}]"#, "an array of invocations", "[0].user_content");
        check(
            &cases(r#"{"eval_id": "c", "prompt": "Hi", "reference_trajectory": []}"#),
            "a dataset of agents-cli",
            "eval_cases[0].prompt",
        );
        check(
            r#"{"evalSetId": "s", "evalCases": [{"evalId": "c", "conversation":
                [{"userContent": {"role": "user", "content": "Hi"}}]}]}"#,
            "an eval set of trpc-agent-go",
            "evalCases[0].conversation[0].userContent.content",
        );
        check(
            r#"{"evalSetId": "s", "cases": [{"id": "c", "input": "Hi"}]}"#,
            "a set of cases of trpc-agent-go's examples",
            "cases",
        );
        check(
            &cases(
                r#"{"eval_id": "c", "conversation": [{"user_content": {}}],
                "rubrics": [{"criterion": "is kind", "points": 2}]}"#,
            ),
            "a set with rubrics of another schema",
            "eval_cases[0].rubrics[0].criterion",
        );
        check(
            &cases(r#"{"case_id": "c", "conversation": []}"#),
            "an eval set of agentevals' examples",
            "eval_cases[0].case_id",
        );
        check(
            &cases(
                r#"{"eval_id": "c", "conversation": [{"user_content": {}, "intermediate_data": {"tool_uses":
                [{"name": "f", "args": {}, "expected_response": null}]}}]}"#,
            ),
            "an eval set of adk-eval",
            "eval_cases[0].conversation[0].intermediate_data.tool_uses[0].expected_response",
        );
        check(r#"[{"input": "Hi", "expected": "Hello"}]"#, "a dataset of single prompts", "[0].input");
        check(r#"{"question": "Hi"}"#, "a dataset of single prompts", "question");
        check(
            "{\"traceId\": \"1\", \"spanId\": \"2\"}\n{\"traceId\": \"1\"}\n",
            "a file of JSON lines, an OpenTelemetry trace",
            "spanId",
        );
        check("{\"a\": 1}\n{\"a\": 2}\n", "a file of JSON lines", "the document");
    }

    #[test]
    fn what_nothing_is_known_of_is_one_problem() {
        for text in ["{}", r#"{"a": 1}"#, "[1, 2]", r#"["a"]"#, r#"[{"a": 1}]"#] {
            let problem = only_problem(text);
            assert_eq!((problem.code, problem.range), (ProblemCode::ForeignSchema, 0..1), "{text}");
        }
    }

    #[test]
    fn a_slip_in_an_eval_set_is_not_taken_for_another_schema() {
        for (text, code) in [
            (r#"{"eval_set_id": "s", "eval_casse": []}"#, ProblemCode::MisspeltKey),
            (r#"[{"query": "Hi", "expected_tool_use": ["f"]}]"#, ProblemCode::WrongType),
            (
                r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [{"user_content": "Hi"}]}]}"#,
                ProblemCode::WrongType,
            ),
            ("{\"a\": 1\n}\n}", ProblemCode::Syntax),
            ("3", ProblemCode::WrongType),
        ] {
            assert_eq!(only_problem(text).code, code, "{text}");
        }
    }
}
