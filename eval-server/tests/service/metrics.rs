//! Metrics that the operator of the service added, among them programs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use eval_core::metric::{BoxMetric, CommandMetric, commands_of};
use eval_server::ServerOptions;
use serde_json::{Value, json};

use crate::support::{Reply, SET, Service, trace};

/// A folder that is removed when this is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("eval-server-metrics-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// A service with a metric that a program computes, and the file that the program writes.
fn service(folder: &Path) -> Service {
    let script = format!("cat > '{}'; echo '{{\"score\": 0.75}}'", folder.join("asked").display());
    let calm = CommandMetric::new(Command::new("sh").args(["-c", &script]));
    Service::start(ServerOptions::new().metric("calm", BoxMetric::new(calm)))
}

fn post(service: &Service, path: &str, body: &Value, token: bool) -> Reply {
    let token = if token { format!("authorization: Bearer {}\r\n", service.token) } else { String::new() };
    let headers = format!("content-type: application/json\r\n{token}");
    service.request(&format!("POST {path}"), &headers, body.to_string().as_bytes())
}

#[test]
fn a_program_of_the_operator_scores_turns_for_callers_with_the_token() {
    let folder = Folder::new();
    let service = service(&folder.0);
    let turn = said();
    let body = |threshold: f64| json!({ "actual": [turn], "criteria": { "calm": threshold } });
    assert_eq!(post(&service, "/api/v1/score", &body(0.5), false).status, 401);
    assert!(!folder.0.join("asked").exists());
    let passed = post(&service, "/api/v1/score", &body(0.5), true).data();
    assert_eq!((&passed["verdict"], &passed["metrics"][0]["score"]), (&json!("passed"), &json!(0.75)));
    assert_eq!(post(&service, "/api/v1/score", &body(0.8), true).data()["verdict"], "failed");
    let asked = std::fs::read_to_string(folder.0.join("asked")).unwrap();
    assert!(
        asked.contains(r#""metric_name":"calm""#) && asked.contains(r#""expected_invocations":null"#),
        "{asked}"
    );
}

#[test]
fn traces_are_scored_by_a_program_of_the_operator() {
    let folder = Folder::new();
    let service = service(&folder.0);
    let trace: Value = serde_json::from_str(&trace(1, "Paris?", "Paris", "It is sunny.")).unwrap();
    let set: Value = serde_json::from_str(SET).unwrap();
    let body = json!({ "traces": trace, "evalSet": set, "config": { "evaluators": [{ "name": "calm" }] } });
    let refused = post(&service, "/api/evaluate/json", &body, false).data();
    assert_eq!(refused["traceResults"][0]["metricResults"][0]["errorType"], "TokenRequired", "{refused}");
    assert!(!folder.0.join("asked").exists());
    let scored = post(&service, "/api/evaluate/json", &body, true).data();
    let metric = &scored["traceResults"][0]["metricResults"][0];
    assert_eq!((&metric["score"], &metric["evalStatus"]), (&json!(0.75), &json!("PASSED")), "{scored}");
}

/// A turn with an answer.
fn said() -> Value {
    json!({
        "user_content": { "role": "user", "parts": [{ "text": "Paris?" }] },
        "final_response": { "role": "model", "parts": [{ "text": "Sunny." }] },
    })
}

#[test]
fn no_request_says_what_runs() {
    let folder = Folder::new();
    let service = service(&folder.0);
    let file = folder.0.join("ran");
    let entry = json!({ "command": ["touch", file] });
    // The same config of the operator runs the program, so that a file would tell of one.
    let text = json!({ "criteria": { "own": 0.5 }, "custom_metrics": { "own": entry } }).to_string();
    let (name, own) = commands_of(&eval_core::EvalConfig::parse(&text).unwrap()).remove(0);
    let ran = Service::start(ServerOptions::new().metric(&name, own));
    let body = json!({ "actual": [said()], "criteria": { "own": 0.5 } });
    assert_eq!(post(&ran, "/api/v1/score", &body, true).data()["verdict"], "error");
    std::fs::remove_file(&file).unwrap();
    let turn = said();
    let trace: Value = serde_json::from_str(&trace(1, "Paris?", "Paris", "It is sunny.")).unwrap();
    let evaluator = json!({ "name": "calm", "type": "code", "path": file, "command": ["touch", file] });
    for (path, body) in [
        (
            "/api/v1/score",
            json!({ "actual": [turn], "criteria": { "own": 0.5, "custom_metrics": { "own": entry } } }),
        ),
        (
            "/api/v1/score",
            json!({ "actual": [turn], "criteria": { "own": 0.5 }, "custom_metrics": { "own": entry } }),
        ),
        (
            "/api/v1/score",
            json!({ "actual": [turn], "criteria": { "own": { "threshold": 0.5, "command": ["touch", file] } } }),
        ),
        ("/api/evaluate/json", json!({ "traces": trace, "config": { "evaluators": [evaluator] } })),
    ] {
        let reply = post(&service, path, &body, true);
        assert_eq!(reply.status, 422, "{body}: {}", reply.body);
    }
    // A config is checked, and not run.
    let config = json!({ "criteria": { "own": 0.5 }, "custom_metrics": { "own": entry } });
    assert_eq!(post(&service, "/api/v1/validate/config", &config, true).status, 200);
    assert!(!file.exists());
}
