//! Answers of the routes.

use eval_server::ServerOptions;
use serde_json::{Value, json};

use crate::support::{SET, Service, evaluation, trace};

fn service() -> Service {
    Service::start(ServerOptions::new())
}

#[test]
fn the_plain_routes_answer() {
    let service = service();
    let health = service.get("/api/health").data();
    assert_eq!((&health["status"], &health["version"]), (&json!("ok"), &json!(env!("CARGO_PKG_VERSION"))));
    let config = service.get("/api/config").data();
    assert!(config["apiKeys"]["google"].is_boolean() && config["otlp"].is_null());
    let metrics = service.get("/api/metrics").data();
    let trajectory = &metrics[0];
    assert_eq!(trajectory["name"], "tool_trajectory_avg_score");
    assert_eq!(
        (&trajectory["category"], &trajectory["requiresEvalSet"]),
        (&json!("trajectory"), &json!(true))
    );
    let page = service.get("/");
    assert!(page.headers.contains("content-security-policy: default-src 'none'"), "{}", page.headers);
    assert_eq!(service.get("/api/nothing").json(), json!({ "detail": "Not Found" }));
    let wrong = service.get("/api/convert");
    assert_eq!((wrong.status, wrong.json()), (405, json!({ "detail": "Method Not Allowed" })));
}

#[test]
fn metrics_are_listed_by_what_they_are_about() {
    let metrics = service().get("/api/metrics").data();
    let of = |category: &str| -> Vec<&str> {
        let all = metrics.as_array().unwrap().iter();
        all.filter(|it| it["category"] == category).map(|it| it["name"].as_str().unwrap()).collect()
    };
    let table: [(&str, &[&str]); 6] = [
        (
            "trajectory",
            &[
                "tool_trajectory_avg_score",
                "trajectory_exact_match",
                "trajectory_in_order_match",
                "trajectory_any_order_match",
                "trajectory_precision",
                "trajectory_recall",
                "trajectory_match_ratio",
            ],
        ),
        (
            "response",
            &[
                "response_match_score",
                "final_response_match_v2",
                "response_evaluation_score",
                "per_turn_user_simulator_quality_v1",
                "final_response_match_v1",
                "response_similarity",
                "answer_demands",
                "intermediate_response_match",
            ],
        ),
        ("safety", &["safety_v1", "hallucinations_v1"]),
        (
            "multi-turn",
            &[
                "rubric_based_multi_turn_trajectory_quality_v1",
                "multi_turn_task_success_v1",
                "multi_turn_trajectory_quality_v1",
                "multi_turn_tool_use_quality_v1",
            ],
        ),
        ("quality", &["rubric_based_final_response_quality_v1", "rubric_based_tool_use_quality_v1"]),
        (
            "other",
            &[
                "tool_call_count_v1",
                "inference_call_count_v1",
                "token_usage_v1",
                "invocation_duration_v1",
                "trajectory_single_tool_use",
                "final_session_state_match",
                "tool_response_match",
            ],
        ),
    ];
    for (category, names) in table {
        assert_eq!(of(category), names, "{category}");
    }
    let count: usize = table.iter().map(|(_, names)| names.len()).sum();
    assert_eq!(metrics.as_array().unwrap().len(), count);
}

#[test]
fn each_route_is_described() {
    let service = Service::start(ServerOptions::new().records(std::env::temp_dir().join("eval-server-none")));
    let document = service.get("/openapi.json").json();
    let paths = document["paths"].as_object().unwrap();
    let bearer = format!("authorization: Bearer {}\r\n", service.token);
    let mut asked = 0;
    for (path, methods) in paths {
        for method in methods.as_object().unwrap().keys() {
            let line = format!("{} {}", method.to_uppercase(), path.replace("{id}", "x"));
            let reply = service.beginning(&line, &bearer);
            // A handler that was reached says what there is none of.
            let is_routed = match reply.status {
                404 => path.contains("{id}") && reply.body.contains("there is no such "),
                401 | 405 => false,
                _ => true,
            };
            assert!(is_routed, "{line}: {} {}", reply.status, reply.body);
            asked += 1;
        }
    }
    assert_eq!((paths.len(), asked), (20, 21));
    // Requests without a route are told apart.
    let wrong = service.beginning("GET /api/v1/nothing/x", &bearer);
    assert_eq!((wrong.status, wrong.body.contains("no such")), (404, false));
    let operations = paths.values().flat_map(|methods| methods.as_object().unwrap().values());
    let answers = operations.flat_map(|operation| operation["responses"].as_object().unwrap());
    for (status, answer) in answers {
        assert!(answer["description"].as_str().is_some_and(|told| !told.is_empty()), "{status}: {answer}");
    }
    let text = document.to_string();
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(!document["components"]["schemas"][name].is_null(), "{name} is described");
    }
}

#[test]
fn a_set_is_checked_and_its_problems_have_places() {
    let service = service();
    let good = service.form("/api/validate/eval-set", &[("eval_set_file", "s.json", SET.as_bytes())]).data();
    assert_eq!(good["valid"], true);
    assert_eq!(
        (&good["evalSetId"], &good["numCases"], &good["errors"]),
        (&json!("weather"), &json!(1), &json!([]))
    );
    let text = "{\"eval_set_id\": \"s\",\n \"eval_cases\": [{\"eval_id\": 1, \"conversation\": []}]}";
    let wrong = service.post("/api/v1/validate/eval-set", text).data();
    assert_eq!(
        (&wrong["valid"], &wrong["evalSetId"], &wrong["numCases"]),
        (&json!(false), &Value::Null, &Value::Null)
    );
    let errors = wrong["errors"].as_array().unwrap();
    assert!(errors.len() == 2 && errors[0].as_str().unwrap().starts_with("2:"), "{errors:?}");
    assert_eq!(wrong["problems"][0]["place"]["line"], 2);
    assert_eq!(wrong["problems"][0]["code"], "wrong-type");
    let old = service.post("/api/v1/validate/eval-set", r#"[{"query": "hi", "reference": "hello"}]"#).data();
    assert!(old["valid"] == false && old["form"] == "old_test_file", "{old}");
    assert!(old["errors"][0].as_str().unwrap().contains("migrate"), "{old}");
}

#[test]
fn a_form_without_its_file_is_refused() {
    let service = service();
    let missing = json!([{ "type": "missing", "loc": ["body", "eval_set_file"], "msg": "Field required", "input": null }]);
    for reply in [
        service.request("POST /api/validate/eval-set", "", b""),
        service.form("/api/validate/eval-set", &[("other", "s.json", SET.as_bytes())]),
    ] {
        assert_eq!((reply.status, &reply.json()["detail"]), (422, &missing));
    }
    assert_eq!(service.post("/api/validate/eval-set", SET).status, 422);
}

#[test]
fn a_config_is_checked() {
    let service = service();
    let good =
        service.post("/api/v1/validate/config", r#"{"criteria": {"response_match_score": 0.8}}"#).data();
    assert_eq!((&good["valid"], &good["metrics"]), (&json!(true), &json!(["response_match_score"])));
    let wrong =
        service.post("/api/v1/validate/config", r#"{"criteria": {"response_match_scores": 0.8}}"#).data();
    assert!(wrong["valid"] == false && wrong["problems"][0]["code"] == "unknown-metric", "{wrong}");
}

fn turn(text: &str) -> Value {
    json!({
        "user_content": { "role": "user", "parts": [{ "text": "Paris?" }] },
        "final_response": { "role": "model", "parts": [{ "text": text }] },
    })
}

#[test]
fn turns_are_scored_with_criteria() {
    let service = service();
    let request = |actual: Value, expected: Value, criteria: Value| {
        service.post(
            "/api/v1/score",
            &json!({ "actual": actual, "expected": expected, "criteria": criteria }).to_string(),
        )
    };
    let criteria = json!({ "response_match_score": 0.8 });
    let rains = request(json!([turn("It rains.")]), json!([turn("It is sunny.")]), criteria.clone()).data();
    assert_eq!((&rains["passed"], &rains["verdict"]), (&json!(false), &json!("failed")));
    assert_eq!(
        (&rains["metrics"][0]["score"], &rains["metrics"][0]["threshold"]),
        (&json!(0.4), &json!(0.8))
    );
    let same = request(json!([turn("It is sunny.")]), json!([turn("It is sunny.")]), criteria.clone()).data();
    assert_eq!((&same["passed"], &same["metrics"][0]["scores"][0]["score"]), (&json!(true), &json!(1.0)));
    // Turns that cannot be scored are refused at their place.
    for (actual, expected, field, said) in [
        (json!([]), json!([]), "actual", "it has no turn"),
        (json!([turn("a")]), json!([]), "expected", "its length is 0, and the length of `actual` is 1"),
        (
            json!([turn("a")]),
            json!([turn("a"), turn("b")]),
            "expected",
            "its length is 2, and the length of `actual` is 1",
        ),
        (
            json!([turn("a")]),
            Value::Null,
            "expected",
            "`response_match_score` compares with what is expected",
        ),
    ] {
        let refused = request(actual, expected, criteria.clone());
        let detail = &refused.json()["detail"][0];
        assert_eq!((refused.status, &detail["loc"]), (422, &json!(["body", field])), "{said}");
        assert!(detail["msg"].as_str().unwrap().contains(said), "{detail}");
    }
    let alone = request(
        json!([turn("a")]),
        Value::Null,
        json!({ "trajectory_single_tool_use": { "threshold": 1.0, "tool_name": "look" } }),
    );
    assert_eq!(alone.data()["verdict"], "failed", "{}", alone.body);
    let wrong = request(json!([{ "user_content": 1 }]), json!([]), criteria);
    let detail = &wrong.json()["detail"][0];
    assert_eq!((wrong.status, &detail["loc"]), (422, &json!(["body", "actual", 0, "user_content"])));
    assert!(detail["msg"].as_str().unwrap().starts_with("1:"), "{detail}");
    assert_eq!(request(json!([turn("a")]), json!([turn("a")]), json!({ "nothing": 1 })).status, 422);
    assert_eq!(service.post("/api/v1/score", r#"{"actual": [], "criteria": {}, "more": 1}"#).status, 422);
    let judged = request(json!([turn("a")]), json!([turn("a")]), json!({ "final_response_match_v2": 1 }));
    assert_eq!(judged.status, 401, "{}", judged.body);
}

#[test]
fn traces_are_shown_as_turns() {
    let service = service();
    let trace = trace(1, "Paris?", "Paris", "It is sunny.");
    let data = service.form("/api/convert", &[("trace_files", "t.json", trace.as_bytes())]).data();
    let turn = &data["traces"][0]["invocations"][0];
    assert_eq!(turn["userContent"]["parts"][0]["text"], "Paris?");
    assert_eq!(turn["intermediateData"]["toolUses"][0]["args"], json!({ "city": "Paris" }));
    assert_eq!(turn["finalResponse"]["parts"][0]["text"], "It is sunny.");
    assert_eq!(service.form("/api/convert", &[("trace_files", "t.json", b"{}")]).status, 400);
    assert_eq!(
        service.form("/api/convert", &[("trace_files", "t.json.gz", &[0x1f, 0x8b, 8, 0])]).status,
        400
    );
}

#[test]
fn traces_are_scored_with_a_set() {
    let service = service();
    let score = |trace: &str, set: &str| service.post("/api/evaluate/json", &evaluation(trace, set)).data();
    let right = score(&trace(1, "Paris?", "Paris", "It is sunny."), SET);
    assert_eq!((&right["passed"], &right["errors"]), (&json!(true), &json!([])), "{right}");
    let result = &right["traceResults"][0];
    assert_eq!((&result["evalCaseId"], &result["evalCaseMatch"]), (&json!("paris"), &json!("user_text")));
    assert_eq!(result["metricResults"][0]["details"]["comparisons"][0]["matched"], true);
    assert_eq!(result["performanceMetrics"]["tokens"]["total"], 39);
    let wrong = score(&trace(1, "Paris?", "Rome", "It rains."), SET);
    let statuses = |data: &Value| -> Vec<Value> {
        let metrics = data["traceResults"][0]["metricResults"].as_array().unwrap();
        metrics.iter().map(|metric| json!([metric["score"], metric["evalStatus"]])).collect()
    };
    assert_eq!(statuses(&wrong), [json!([0.0, "FAILED"]), json!([0.4, "FAILED"])]);
    assert_eq!(wrong["passed"], false);
    // Nothing that was not scored passes, and each says why.
    let uncovered = SET.replace("]}]}", "]}, {\"eval_id\": \"oslo\", \"conversation\": [{\"user_content\": {\"parts\": [{\"text\": \"Oslo?\"}]}, \"final_response\": {\"parts\": [{\"text\": \"Rain.\"}]}}]}]}");
    let uncovered = score(&trace(1, "Paris?", "Paris", "It is sunny."), &uncovered);
    assert!(
        uncovered["passed"] == false && uncovered["errors"][0].as_str().unwrap().contains("`oslo`"),
        "{uncovered}"
    );
    for set in ["null", r#"{"eval_set_id": "e", "eval_cases": []}"#] {
        let none = score(&trace(1, "Paris?", "Paris", "It is sunny."), set);
        assert_eq!((&none["passed"], &statuses(&none)[0]), (&json!(false), &json!([null, "NOT_EVALUATED"])));
        assert!(none["traceResults"][0]["metricResults"][0]["error"].is_string(), "{none}");
    }
    let invalid =
        service.post("/api/evaluate/json", &evaluation(&trace(1, "a", "b", "c"), r#"{"eval_cases": 1}"#));
    assert_eq!((invalid.status, &invalid.json()["detail"][0]["loc"][1]), (422, &json!("evalSet")));
}

#[test]
fn a_metric_that_cannot_be_used_says_so_and_leaves_the_others() {
    let service = service();
    let trace = trace(1, "Paris?", "Paris", "It is sunny.");
    let config = json!({ "evaluators": [
        { "name": "no_such_metric" },
        { "name": "response_match_score" },
        { "name": "trajectory_single_tool_use" },
        { "name": "final_response_match_v2" },
    ] });
    let request = format!("{{\"traces\": {trace}, \"evalSet\": {SET}, \"config\": {config}}}");
    let data = service.post("/api/evaluate/json", &request).data();
    let metrics = data["traceResults"][0]["metricResults"].as_array().unwrap();
    let shown: Vec<_> =
        metrics.iter().map(|it| (it["evalStatus"].as_str().unwrap(), it["errorType"].as_str())).collect();
    assert_eq!(
        shown,
        [
            ("NOT_EVALUATED", Some("NotFoundError")),
            ("PASSED", None),
            ("NOT_EVALUATED", Some("ConfigError")),
            ("NOT_EVALUATED", Some("TokenRequired")),
        ]
    );
    assert_eq!(data["passed"], false);
}

#[test]
fn progress_comes_in_events_and_the_result_at_last() {
    let service = service();
    let request = evaluation(&trace(1, "Paris?", "Paris", "It is sunny."), SET);
    let reply = service.post("/api/evaluate/json/stream", &request);
    assert!(
        reply.status == 200 && reply.headers.contains("content-type: text/event-stream"),
        "{}",
        reply.headers
    );
    let events: Vec<&str> = reply.body.split_terminator("\n\n").collect();
    assert!(events[0].starts_with("event: performance_metrics\ndata: {"), "{}", events[0]);
    let last: Value = serde_json::from_str(events.last().unwrap().strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!(last["done"], true);
    assert_eq!(last["result"], service.post("/api/evaluate/json", &request).data());
    assert!(events.iter().any(|event| event.contains("traceProgress")));
    // An error in the request is a status, not an event.
    assert_eq!(service.post("/api/evaluate/json/stream", "{}").status, 422);
}

#[test]
fn forms_and_json_get_the_same_scores() {
    let service = service();
    let trace = trace(1, "Paris?", "Paris", "It is very sunny.");
    let by_json = service.post("/api/evaluate/json", &evaluation(&trace, SET)).data();
    let config = br#"{"evaluators": [{"name": "tool_trajectory_avg_score"}, {"name": "response_match_score", "threshold": 0.8}]}"#;
    let fields: &[(&str, &str, &[u8])] = &[
        ("trace_files", "t.json", trace.as_bytes()),
        ("eval_set_file", "s.json", SET.as_bytes()),
        ("config", "", config),
    ];
    assert_eq!(service.form("/api/evaluate", fields).data(), by_json);
    let broken: &[(&str, &str, &[u8])] = &[("trace_files", "t.json", trace.as_bytes()), ("config", "", b"{")];
    let broken = service.form("/api/evaluate", broken);
    assert!(broken.status == 400 && broken.body.contains("Invalid config JSON"), "{}", broken.body);
}

/// A form of `evaluate` with these files and parameters.
fn evaluated(service: &Service, route: &str, files: &[(&str, &str)], config: &str) -> crate::support::Reply {
    let files = files.iter().map(|(name, text)| ("trace_files", *name, text.as_bytes()));
    let others = [("eval_set_file", "s.json", SET.as_bytes()), ("config", "", config.as_bytes())];
    service.form(route, &files.chain(others).collect::<Vec<_>>())
}

#[test]
fn the_keys_that_agentevals_pages_add_to_each_evaluator_change_no_score() {
    let service = service();
    let trace = trace(1, "Paris?", "Paris", "It is very sunny.");
    let added = |name: &str| json!({ "type": "builtin", "name": name, "judgeModel": "gemini-2.5-flash", "threshold": 0.8, "trajectoryMatchType": "EXACT" });
    let config = json!({ "evaluators": [added("tool_trajectory_avg_score"), added("response_match_score")] });
    let with = evaluated(&service, "/api/evaluate", &[("t.json", &trace)], &config.to_string()).data();
    assert_eq!(with["passed"], true, "{with}");
    let default = evaluated(&service, "/api/evaluate", &[("t.json", &trace)], "{}").data();
    let metric = &default["traceResults"][0]["metricResults"][0];
    assert_eq!((&metric["metricName"], &metric["score"]), (&json!("tool_trajectory_avg_score"), &json!(1.0)));
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_the_others_are_scored() {
    let service = service();
    let trace = trace(1, "Paris?", "Paris", "It is very sunny.");
    let files = [("a.json", "broken"), ("t.json", &*trace)];
    let result = evaluated(&service, "/api/evaluate", &files, "{}").data();
    assert_eq!(result["traceResults"][0]["metricResults"][0]["score"], 1.0, "{result}");
    let error = result["errors"][0].as_str().unwrap();
    assert!(
        error.starts_with("the file `a.json`: not readable as JSON: ") && result["passed"] == false,
        "{result}"
    );
    let none = evaluated(&service, "/api/evaluate", &files[..1], "{}");
    assert!(none.status == 400 && none.body.contains("the file `a.json`"), "{}", none.body);
    let turns: Vec<(&str, &str, &[u8])> =
        files.iter().map(|(name, text)| ("trace_files", *name, text.as_bytes())).collect();
    let shown = service.form("/api/convert", &turns);
    assert!(shown.status == 400 && shown.body.contains("the file `a.json`"), "{}", shown.body);
}

#[test]
fn a_threshold_that_every_score_reaches_decides_nothing() {
    let trace = trace(1, "Paris?", "Rome", "It is very sunny.");
    let config = r#"{"evaluators": [{"name": "tool_trajectory_avg_score", "threshold": 0}]}"#;
    let result = evaluated(&service(), "/api/evaluate", &[("t.json", &trace)], config).data();
    let metric = &result["traceResults"][0]["metricResults"][0];
    assert_eq!(
        (&metric["score"], &metric["perInvocationScores"], &metric["evalStatus"]),
        (&json!(0.0), &json!([0.0]), &json!("NOT_EVALUATED"))
    );
    assert_eq!(
        (&metric["error"], &result["passed"]),
        (&json!("every score reaches the threshold 0"), &json!(false))
    );
}

#[test]
fn a_request_without_its_body_is_refused() {
    let service = service();
    let routes =
        ["/api/evaluate/stream", "/api/evaluate", "/api/v1/validate/config", "/api/v1/validate/eval-set"];
    for route in routes {
        let reply = service.request(&format!("POST {route}"), "", b"");
        assert!(matches!(reply.status, 400 | 422), "{route}: {} {}", reply.status, reply.body);
    }
    let form = service.form("/api/evaluate/stream", &[("config", "", b"{}")]);
    assert_eq!((form.status, form.body.contains("trace_files")), (422, true), "{}", form.body);
}

#[test]
fn what_is_wrong_with_a_form_is_the_only_event_of_its_stream() {
    let service = service();
    for (config, why) in [
        ("{", "Invalid config JSON: "),
        (
            r#"{"evaluators": [{"name": "tool_trajectory_avg_score", "trajectoryMatchType": "BAD"}]}"#,
            "Value error, Invalid trajectory_match_type 'BAD'. Valid values: ['ANY_ORDER', 'EXACT', 'IN_ORDER']",
        ),
    ] {
        let reply = evaluated(&service, "/api/evaluate/stream", &[("t.json", "{}")], config);
        let event = reply.body.strip_prefix("data: ").and_then(|event| event.strip_suffix("\n\n"));
        let event: Value = serde_json::from_str(event.unwrap_or_else(|| panic!("{}", reply.body))).unwrap();
        assert_eq!(reply.status, 200);
        assert!(event["error"].as_str().unwrap().starts_with(why), "{event}");
        let whole = evaluated(&service, "/api/evaluate", &[("t.json", "{}")], config);
        assert!(matches!(whole.status, 400 | 422), "{}", whole.body);
    }
}

#[test]
fn numbers_that_json_does_not_have_are_refused_with_their_place() {
    let service = Service::start(ServerOptions::new());
    let trace = trace(1, "Paris?", "Paris", "It is sunny.");
    let body = evaluation(&trace, SET).replace("\"threshold\": 0.8", "\"threshold\": NaN");
    let reply = service.post("/api/evaluate/json", &body);
    assert_eq!(reply.status, 422);
    let msg = reply.json()["detail"][0]["msg"].as_str().unwrap_or_default().to_owned();
    let (line, column) =
        (1..).zip(body.lines()).find_map(|(at, line)| Some((at, line.find("NaN")? + 1))).unwrap();
    assert!(msg.starts_with(&format!("`NaN` is no JSON: line {line} column {column}. ")), "{msg}");
    let broken = trace.replacen("\"1760000000500000000\"", "Infinity", 1);
    let reply = service.form("/api/convert", &[("trace_files", "t.json", broken.as_bytes())]);
    assert_eq!(reply.status, 400);
    assert!(
        reply.body.contains("not readable as JSON: `Infinity` is no JSON: line 1 column"),
        "{}",
        reply.body
    );
    let set = SET.replace("\"Paris\"", "NaN");
    let checked =
        service.form("/api/validate/eval-set", &[("eval_set_file", "s.json", set.as_bytes())]).data();
    assert_eq!(checked["valid"], true, "ADK reads it: {checked}");
}

#[test]
fn turns_more_or_less_than_those_of_the_case_are_no_pass() {
    let service = service();
    let turn = |id: u32, words: &str| {
        let trace = trace(id, words, words, "It is sunny.");
        trace.replace("\"gen_ai.request.model\"", "\"gen_ai.conversation.id\":\"c\",\"gen_ai.request.model\"")
    };
    let spans = |text: &str| -> Vec<Value> {
        let document: Value = serde_json::from_str(text).unwrap();
        document["resourceSpans"].as_array().unwrap().clone()
    };
    let both = [spans(&turn(1, "Paris?")), spans(&turn(2, "Rome?"))].concat();
    let both = json!({ "resourceSpans": both });
    let one = json!({ "resourceSpans": spans(&turn(1, "Paris?")) });
    let case = |turns: &[&str]| {
        let turns: Vec<Value> = turns
            .iter()
            .map(|words| {
                json!({
                    "user_content": { "parts": [{ "text": words }] },
                    "final_response": { "parts": [{ "text": "It is sunny." }] },
                    "intermediate_data": { "tool_uses": [{ "name": "get_weather", "args": { "city": words } }] },
                })
            })
            .collect();
        json!({ "eval_set_id": "s", "eval_cases": [{ "eval_id": "c", "conversation": turns }] })
    };
    let score = |traces: &Value, set: &Value| {
        let config = json!({
            "evaluators": [{ "name": "tool_trajectory_avg_score" }, { "name": "response_match_score" }],
            "groupBy": "conversation",
        });
        let body = json!({ "traces": traces, "evalSet": set, "config": config });
        service.post("/api/evaluate/json", &body.to_string()).data()
    };
    let whole = case(&["Paris?", "Rome?"]);
    let right = score(&both, &whole);
    assert_eq!(right["passed"], true, "{right}");
    for (traces, set) in [(&one, &whole), (&both, &case(&["Paris?"]))] {
        let data = score(traces, set);
        let metrics = data["traceResults"][0]["metricResults"].as_array().unwrap();
        assert_eq!((metrics.len(), &data["passed"]), (2, &json!(false)));
        for metric in metrics {
            assert_eq!(metric["evalStatus"], "NOT_EVALUATED", "{metric}");
            assert!(metric["error"].as_str().is_some_and(|why| why.contains("turn")), "{metric}");
        }
    }
}
