//! Comparison with captured answers of agentevals' own service to the same requests.

use std::fs;
use std::path::{Path, PathBuf};

use eval_server::ServerOptions;
use eval_support::variables::OF_THIS_PROJECT;
use serde_json::{Value, json};

use crate::support::{Reply, Service};

/// A request and its answer.
struct Capture {
    name: String,
    text: String,
    status: u16,
    answer: String,
}

/// A folder that a variable names; `None` without it.
fn folder(name: &str) -> Option<PathBuf> {
    assert!(OF_THIS_PROJECT.contains(&name));
    std::env::var_os(name).map(PathBuf::from)
}

fn captures(folder: &Path) -> Vec<Capture> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.extension().is_none_or(|end| end != "txt") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let (_, rest) = text.split_once("HTTP/1.1 ").unwrap();
        let status = rest[..3].parse().unwrap();
        let (_, answer) = rest.split_once("\n\n").unwrap();
        let answer = answer.split("\n--- eval_set.json\n").next().unwrap().to_owned();
        all.push(Capture { name, text, status, answer });
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

/// The body of a request, with the files that it names.
fn body(text: &str, traces: &Path) -> Value {
    let line = text.lines().find_map(|line| line.strip_prefix("BODY = ")).unwrap();
    let mut body: Value = serde_json::from_str(line).unwrap();
    for key in ["traces", "evalSet"] {
        if let Some(file) = body[key].as_str() {
            let file = file.trim_start_matches("<shared/traces/").trim_end_matches('>');
            body[key] = serde_json::from_str(&fs::read_to_string(traces.join(file)).unwrap()).unwrap();
        }
    }
    body
}

/// The evaluations that agentevals gets wrong: what it does not score, or scores although something is missing.
const WRONG: [&str; 7] = [
    "evaluate_json_content_not_captured",
    "evaluate_json_empty_set",
    "evaluate_json_failed_turn",
    "evaluate_json_half_missing_turn",
    "evaluate_json_judge_without_key",
    "evaluate_json_no_eval_set",
    "evaluate_json_no_match",
];

#[test]
fn the_same_requests_get_the_same_answers_or_better_ones() {
    let (Some(folder), Some(traces)) = (folder("EVALSET_SERVICE"), folder("EVALSET_TRACES")) else {
        eprintln!("skipped: EVALSET_SERVICE and EVALSET_TRACES name no folders");
        return;
    };
    let service = Service::start(ServerOptions::new());
    let mut compared = 0;
    for capture in captures(&folder) {
        let name = capture.name.as_str();
        let reply = match name {
            "health" | "config" | "metrics" => service.get(&format!("/api/{name}")),
            "validate_no_file" => service.request("POST /api/validate/eval-set", "", b""),
            "convert" => {
                let trace = fs::read(traces.join("01_semconv_agent_tool.json")).unwrap();
                service.form("/api/convert", &[("trace_files", "01.json", &trace)])
            }
            "evaluate_multipart_pass" | "evaluate_multipart_bad_config" => {
                let (trace, set) = ("01_semconv_agent_tool.json", "evalsets/weather.json");
                let [trace, set] = [trace, set].map(|file| fs::read(traces.join(file)).unwrap());
                let (_, config) = capture.text.lines().next().unwrap().split_once("'config=").unwrap();
                let config = config.trim_end_matches('\'').as_bytes();
                let fields: &[(&str, &str, &[u8])] = &[
                    ("trace_files", "t.json", &trace),
                    ("eval_set_file", "s.json", &set),
                    ("config", "", config),
                ];
                service.form("/api/evaluate", fields)
            }
            _ if name.starts_with("validate_") => {
                let (_, set) = capture.text.split_once("--- eval_set.json\n").unwrap();
                service.form("/api/validate/eval-set", &[("eval_set_file", "eval_set.json", set.as_bytes())])
            }
            "evaluate_json_stream_pass" => {
                service.post("/api/evaluate/json/stream", &body(&capture.text, &traces).to_string())
            }
            _ if name.starts_with("evaluate_json_") => {
                service.post("/api/evaluate/json", &body(&capture.text, &traces).to_string())
            }
            // Live sessions and stored runs are not served.
            "runs_without_store" | "sessions_empty" => continue,
            _ => panic!("what is the capture {name}?"),
        };
        assert_eq!(reply.status, capture.status, "{name}: {}", reply.body);
        compare(&capture, &reply);
        compared += 1;
    }
    assert!(compared > 30, "{compared}");
}

fn compare(capture: &Capture, reply: &Reply) {
    let name = capture.name.as_str();
    if name == "evaluate_json_stream_pass" {
        let last = |text: &str| -> Value {
            let event = text.trim_end().rsplit("data: ").next().unwrap();
            serde_json::from_str(event).unwrap()
        };
        return same_results(name, &last(&capture.answer)["result"], &last(&reply.body)["result"]);
    }
    let theirs: Value = serde_json::from_str(&capture.answer).unwrap();
    let ours = reply.json();
    if capture.status != 200 {
        let detail = |answer: &Value| match &answer["detail"] {
            Value::Array(fields) => {
                fields.iter().map(|field| json!([field["type"], field["loc"], field["msg"]])).collect()
            }
            text => json!(text.as_str().unwrap().split(':').next()),
        };
        assert_eq!(detail(&ours), detail(&theirs), "{name}");
        return;
    }
    let (theirs, ours) = (&theirs["data"], &ours["data"]);
    match name {
        "health" => assert_eq!(ours["status"], theirs["status"]),
        "config" => assert!(
            ours["apiKeys"].as_object().unwrap().keys().eq(theirs["apiKeys"].as_object().unwrap().keys())
        ),
        "metrics" => same_metrics(theirs, ours),
        "convert" => same_turns(theirs, ours),
        // A set without cases checks nothing.
        "validate_empty_cases" => {
            assert_eq!((&ours["valid"], &theirs["valid"]), (&json!(false), &json!(true)));
        }
        _ if name.starts_with("validate_") => {
            for field in ["valid", "evalSetId", "numCases"] {
                assert_eq!(ours[field], theirs[field], "{name}, {field}: {ours}");
            }
            assert_eq!(ours["errors"].as_array().unwrap().is_empty(), ours["valid"] == true, "{name}");
        }
        _ if WRONG.contains(&name) => {
            assert_eq!(ours["passed"], false, "{name}");
            let metrics = |answer: &'_ Value| -> Vec<Value> {
                let results = answer["traceResults"].as_array().unwrap().iter();
                results.flat_map(|result| result["metricResults"].as_array().unwrap().clone()).collect()
            };
            let (all, own) = (metrics(theirs), metrics(ours));
            assert!(!own.is_empty() && names(&own).eq(names(&all)), "{name}: {own:?}");
            for metric in own {
                assert_eq!(
                    (&metric["score"], &metric["evalStatus"]),
                    (&Value::Null, &json!("NOT_EVALUATED")),
                    "{name}"
                );
                assert!(metric["error"].as_str().is_some_and(|error| error.len() > 20), "{name}: {metric}");
            }
        }
        _ => {
            same_results(name, theirs, ours);
            if name == "evaluate_json_uncovered_case" {
                let error = ours["errors"][0].as_str().unwrap();
                assert!(error.contains("has no trace") && ours["passed"] == false, "{ours}");
            }
        }
    }
}

/// The names of metrics.
fn names(metrics: &[Value]) -> impl Iterator<Item = &Value> {
    metrics.iter().map(|metric| &metric["metricName"])
}

fn same_metrics(theirs: &Value, ours: &Value) {
    assert!(theirs.as_array().unwrap().len() > 5, "{theirs}");
    for metric in theirs.as_array().unwrap() {
        let name = &metric["name"];
        let own = ours.as_array().unwrap().iter().find(|own| own["name"] == *name);
        let own = own.unwrap_or_else(|| panic!("{name} is missing"));
        assert_eq!(
            (&own["category"], &own["requiresRubrics"]),
            (&metric["category"], &metric["requiresRubrics"]),
            "{name}"
        );
        // Questions that go to Vertex AI there go to a judge here.
        let asks = metric["requiresLLM"] == true || metric["requiresGCP"] == true;
        assert!(own["requiresLLM"] == true || !asks, "{name}");
        assert_eq!(own["working"], true);
    }
}

fn same_turns(theirs: &Value, ours: &Value) {
    let (theirs, ours) = (&theirs["traces"][0], &ours["traces"][0]);
    for field in ["traceId", "traceIds", "invocations", "warnings"] {
        assert_eq!(ours[field], theirs[field], "{field}");
    }
    for field in ["agentName", "model", "startTime", "userInputPreview", "finalOutputPreview"] {
        assert_eq!(ours["metadata"][field], theirs["metadata"][field], "{field}");
    }
}

fn same_results(name: &str, theirs: &Value, ours: &Value) {
    let (all, own) = (theirs["traceResults"].as_array().unwrap(), ours["traceResults"].as_array().unwrap());
    assert_eq!(own.len(), all.len(), "{name}");
    assert!(!own.is_empty(), "{name}");
    for (theirs, ours) in all.iter().zip(own) {
        let fields = [
            "traceId",
            "numInvocations",
            "traceIds",
            "groupKey",
            "conversationId",
            "evalCaseId",
            "evalCaseMatch",
            "turnRefs",
            "agentName",
        ];
        for field in fields {
            assert_eq!(ours[field], theirs[field], "{name}, {field}");
        }
        for field in ["latency", "tokens", "counts", "models", "toolNames"] {
            // agentevals takes the time of the whole trace as the turns' time, if there are no turns.
            if field == "latency" && ours["numInvocations"] == 0 {
                continue;
            }
            let (theirs, ours) = (&theirs["performanceMetrics"][field], &ours["performanceMetrics"][field]);
            assert!(!ours.is_null(), "{name}, {field}");
            assert_eq!(ours, theirs, "{name}, {field}");
        }
        let [theirs, ours] = [theirs, ours].map(|it| it["metricResults"].as_array().unwrap());
        assert!(!ours.is_empty() && names(ours).eq(names(theirs)), "{name}: {ours:?}");
        for (theirs, ours) in theirs.iter().zip(ours) {
            for field in [
                "metricName",
                "score",
                "evalStatus",
                "perInvocationScores",
                "perInvocationStatuses",
                "error",
                "errorType",
            ] {
                assert_eq!(ours[field], theirs[field], "{name}, {field}: {ours}");
            }
            let comparisons = |metric: &Value| metric["details"]["comparisons"].clone();
            assert_eq!(comparisons(ours), comparisons(theirs), "{name}");
        }
    }
}
