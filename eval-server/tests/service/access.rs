//! Access to the routes.

use eval_core::journal::{SCHEMA, sealed_line};
use eval_report::document::SCHEMA as REPORT;
use eval_server::ServerOptions;
use serde_json::json;

use crate::faults::faults;
use crate::support::{SET, Service};

#[test]
fn records_need_the_token_and_computing_does_not() {
    let folder = std::env::temp_dir().join(format!("eval-server-records-{}", std::process::id()));
    let service = Service::start(ServerOptions::new().records(&folder));
    assert_eq!(service.get("/api/v1/runs").status, 401);
    assert_eq!(service.get("/api/v1/runs/latest").status, 401);
    assert_eq!(service.get("/api/v1/runs?token=wrong").status, 401);
    let token = service.token.clone();
    let bearer = format!("authorization: Bearer {token}\r\n");
    assert_eq!(service.request("GET /api/v1/runs", &bearer, b"").data(), json!([]));
    assert_eq!(service.get(&format!("/api/v1/runs?token={token}")).status, 200);
    for id in ["..", "%2e%2e%2f%2e%2e", "latest", "nothing"] {
        assert_eq!(service.request(&format!("GET /api/v1/runs/{id}"), &bearer, b"").status, 404, "{id}");
    }
    assert_eq!(service.post("/api/v1/validate/eval-set", SET).status, 200);
}

#[test]
fn recorded_runs_are_shown() {
    let folder = std::env::temp_dir().join(format!("eval-server-shown-{}", std::process::id()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let set = eval_core::EvalSet::parse(SET).unwrap();
    let runner = eval_core::EvalRunner::new()
        .criterion("response_match_score", eval_core::Criterion::new(0.8))
        .journal(&folder)
        // It makes one call, so that its run is complete before this process ends.
        .again(Vec::new());
    let replay = || eval_core::Replay::new([["It rains."]]);
    let report = runtime.block_on(runner.run_set(&set, replay, 1)).unwrap();
    assert!(!report.all_passed());
    drop(runner);
    let service = Service::start(ServerOptions::new().records(&folder));
    let bearer = format!("authorization: Bearer {}\r\n", service.token);
    let runs = service.request("GET /api/v1/runs", &bearer, b"").data();
    let id = runs[0]["id"].as_str().unwrap();
    let run = service.request(&format!("GET /api/v1/runs/{id}"), &bearer, b"").data();
    assert_eq!(faults(REPORT, &run), Vec::<String>::new());
    let case = &run["cases"][0];
    assert_eq!((&case["eval_id"], &case["state"]), (&json!("paris"), &json!("failed")), "{run}");
    assert_eq!(case["metrics"][0]["score"], 0.4);
    assert_eq!((&run["outcome"], &run["runs"]), (&json!("failed"), &json!([id])));
    std::fs::write(folder.join(id).join("missing-parts.txt"), "another machine's journals\n").unwrap();
    let lacking = service.request(&format!("GET /api/v1/runs/{id}"), &bearer, b"").data();
    let problem = json!({ "package": null, "binary": null, "name": "(doubtful run)", "message": "another machine's journals" });
    assert_eq!((&lacking["outcome"], &lacking["problems"]), (&json!("unmeasurable"), &json!([problem])));
    for entry in std::fs::read_dir(folder.join(id)).unwrap().flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "jsonl") {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    let empty = service.request(&format!("GET /api/v1/runs/{id}"), &bearer, b"");
    assert!(empty.status == 404 && empty.body.contains("holds no journal"), "{empty:?}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_run_passed_only_if_each_test_of_its_binaries_began() {
    let folder = std::env::temp_dir().join(format!("eval-server-complete-{}", std::process::id()));
    let service = Service::start(ServerOptions::new().records(&folder));
    let bearer = format!("authorization: Bearer {}\r\n", service.token);
    let at = "2026-11-22T02:31:07.250Z";
    // One test ran. The journal tells of the others, if it does.
    for (id, listed, args, outcome) in [
        ("whole", json!(["weather::sunny"]), json!([]), "passed"),
        ("killed", json!(["weather::sunny", "weather::oslo"]), json!([]), "unmeasurable"),
        ("selected", json!(["weather::sunny", "weather::oslo"]), json!(["sunny"]), "passed"),
        ("untold", json!([]), json!([]), "unmeasurable"),
    ] {
        let run = folder.join(id);
        std::fs::create_dir_all(&run).unwrap();
        std::fs::write(run.join("run.json"), json!({ "run": id, "started": at }).to_string()).unwrap();
        let records = [
            json!({
                "record": "head", "schema": SCHEMA, "evalset": "0.1.0", "run": id, "package": "weather",
                "binary": "evals", "pid": 4711, "started": at, "args": args, "env": {},
            }),
            json!({ "record": "listed", "sets": [{ "tests": listed }] }),
            json!({
                "record": "started", "test": 1, "name": "weather::sunny", "eval_set_id": "weather",
                "eval_id": "sunny", "runs": 1, "pass": "mean", "gate": "mean", "attempt": 1,
                "at": at,
            }),
            json!({ "record": "decided", "test": 1, "verdict": { "is": "passed" }, "elapsed": 1.0, "at": at }),
        ];
        let lines: String =
            records.iter().zip(1..).map(|(record, number)| sealed_line(record, number)).collect();
        std::fs::write(run.join("4711.jsonl"), lines).unwrap();
        let read = service.request(&format!("GET /api/v1/runs/{id}"), &bearer, b"").data();
        assert_eq!(read["cases"][0]["state"], "passed", "{read}");
        assert_eq!(read["outcome"], outcome, "{id}: {read}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn requests_for_other_hosts_and_of_other_pages_are_refused_before_they_are_read() {
    let service = Service::start(ServerOptions::new().allow_host("evals.example.com"));
    let ask = |host: &str, more: &str, path: &str| {
        let request =
            format!("POST {path} HTTP/1.1\r\n{host}{more}connection: close\r\ncontent-length: 2\r\n\r\n{{}}");
        service.raw(request.as_bytes()).unwrap().status
    };
    let path = "/api/v1/validate/eval-set";
    assert_eq!(ask("host: localhost\r\n", "", path), 200);
    assert_eq!(ask("host: rebound.example.com\r\n", "", path), 421);
    assert_eq!(ask("", "", path), 400);
    assert_eq!(ask("host: localhost\r\n", "origin: http://example.com\r\n", path), 403);
    assert_eq!(ask("host: localhost\r\n", "origin: null\r\n", path), 403);
    assert_eq!(ask("host: localhost\r\n", "sec-fetch-site: cross-site\r\n", path), 403);
    // A caller that comes by the name of the proxy is not on this machine.
    assert_eq!(ask("host: evals.example.com\r\n", "", path), 401);
    let bearer = format!("authorization: bearer {}\r\n", service.token);
    assert_eq!(ask("host: evals.example.com\r\n", &bearer, path), 200);
    let health = "GET /api/health HTTP/1.1\r\nhost: evals.example.com\r\nconnection: close\r\n\r\n";
    assert_eq!(service.raw(health.as_bytes()).unwrap().status, 200);
}
