//! Answers about traces without times.

use eval_server::ServerOptions;
use serde_json::{Value, json};

use crate::support::{SET, Service, evaluation, trace};

/// A trace without times.
fn untimed() -> String {
    let trace = trace(1, "Paris?", "Paris", "It is sunny.");
    trace.replace("startTimeUnixNano", "x").replace("endTimeUnixNano", "y")
}

#[test]
fn a_turn_of_unknown_time_does_not_begin_in_1970() {
    let service = Service::start(ServerOptions::new());
    let convert = |trace: &str| -> Value {
        service.form("/api/convert", &[("trace_files", "t.json", trace.as_bytes())]).data()["traces"][0]
            .clone()
    };
    let timed = convert(&trace(1, "Paris?", "Paris", "It is sunny."));
    assert_eq!(timed["metadata"]["startTime"], 1_760_000_000_000_000_u64);
    let untimed = convert(&untimed());
    assert_eq!(untimed["metadata"]["startTime"], Value::Null);
    assert!(untimed["warnings"][0].as_str().unwrap().contains("no_time"), "{untimed}");
}

#[test]
fn a_turn_of_unknown_length_does_not_take_0_ms() {
    let service = Service::start(ServerOptions::new());
    let latency = |trace: &str| -> Value {
        let data = service.post("/api/evaluate/json", &evaluation(trace, SET)).data();
        data["traceResults"][0]["performanceMetrics"]["latency"].clone()
    };
    let counts = |latency: &Value| -> Vec<Value> {
        ["overall", "llmCalls", "toolExecutions"].map(|of| latency[of]["count"].clone()).to_vec()
    };
    let timed = latency(&trace(1, "Paris?", "Paris", "It is sunny."));
    assert_eq!(counts(&timed), [json!(1), json!(1), json!(1)], "{timed}");
    let untimed = latency(&untimed());
    assert_eq!(counts(&untimed), [json!(0), json!(0), json!(0)], "{untimed}");
}
