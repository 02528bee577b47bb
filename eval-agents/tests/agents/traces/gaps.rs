//! Gaps in traces: they are named, and never taken for data.

use eval_agents::traces::{GapKind, Traces};
use serde_json::{Value, json};

use super::support::{
    agent, calls, chat, document, kinds, loses, read, result, says, span, tool, weather, with, without,
};

/// The spans of the weather with one changed.
fn changed(at: usize, change: impl FnOnce(Value) -> Value) -> Vec<Value> {
    let mut spans = weather();
    spans[at] = change(spans[at].clone());
    spans
}

#[test]
fn a_whole_turn_has_no_gaps() {
    let traces = read(&weather());
    assert_eq!(kinds(&traces), []);
    let turn = &traces.conversations()[0].turns[0];
    assert_eq!((turn.user.as_deref(), turn.answer.as_deref()), (Some("How is Oslo?"), Some("Oslo is grey.")));
    assert_eq!(turn.calls.len(), 1);
}

#[test]
fn content_that_was_not_captured_redacted_or_cut_is_a_gap() {
    const SENT: &str = "gen_ai.input.messages";
    const PUT_OUT: &str = "gen_ai.output.messages";
    const ARGS: &str = "gen_ai.tool.call.arguments";
    let cut = json!("[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"con");
    let no_question = |value: Option<Value>| {
        let change = |span: Value| match &value {
            Some(value) => with(span, SENT, value.clone()),
            None => without(span, SENT),
        };
        let mut spans = weather();
        spans[1] = change(spans[1].clone());
        spans[3] = change(spans[3].clone());
        kinds(&read(&spans))
    };
    assert_eq!(no_question(None), [GapKind::UserNotCaptured]);
    assert_eq!(no_question(Some(json!("<REDACTED>"))), [GapKind::UserNotCaptured]);
    assert_eq!(no_question(Some(json!([says("user", "<elided>")]))), [GapKind::UserNotCaptured]);
    assert_eq!(no_question(Some(cut.clone())), [GapKind::Unreadable]);

    let answer = |value: Value| kinds(&read(&changed(3, |span| with(span, PUT_OUT, value))));
    assert_eq!(answer(json!("<elided>")), [GapKind::AnswerNotCaptured]);
    assert!(answer(cut.clone()).contains(&GapKind::Unreadable));
    assert_eq!(
        answer(json!([{ "role": "assistant", "parts": [{ "type": "mystery" }] }])),
        [GapKind::UnknownPart]
    );

    // Neither the span nor the messages have the arguments.
    let args = |value: Option<Value>| {
        let mut spans = changed(1, |span| without(span, PUT_OUT));
        spans[2] = match value {
            Some(value) => with(spans[2].clone(), ARGS, value),
            None => without(spans[2].clone(), ARGS),
        };
        kinds(&read(&spans))
    };
    assert_eq!(args(None), [GapKind::ArgumentsNotCaptured]);
    assert_eq!(args(Some(json!("<REDACTED>"))), [GapKind::ArgumentsNotCaptured]);
    assert_eq!(args(Some(json!("{\"city\": \"Os"))), [GapKind::ArgumentsNotCaptured, GapKind::Unreadable]);
    assert_eq!(args(Some(json!("{}"))), []);
}

#[test]
fn calls_of_tools_that_no_content_and_no_span_shows_are_lost() {
    let question = json!([says("user", "How is Oslo?")]);
    let spans = [
        agent(1, 0, "weather"),
        without(chat(2, 1, question.clone(), json!([])), "gen_ai.output.messages"),
        chat(3, 1, question.clone(), json!([says("assistant", "Oslo is grey.")])),
    ];
    assert_eq!(kinds(&read(&spans)), [GapKind::CallsNotCaptured]);
    let mut stops = spans;
    stops[1] = with(stops[1].clone(), "gen_ai.response.finish_reasons", json!(["stop"]));
    assert_eq!(kinds(&read(&stops)), []);
    // A tool span that no model or agent made.
    assert_eq!(kinds(&read(&[tool(1, 0, "f", json!({}), json!(1))])), [GapKind::CallsNotCaptured]);
}

#[test]
fn adk_without_content_writes_empty_objects_which_are_no_arguments() {
    let adk = |number, name, attributes| span(number, 1, name, attributes);
    let spans = |request: &str| {
        [
            agent(1, 0, "dice"),
            adk(
                2,
                "call_llm",
                json!({ "gcp.vertex.agent.llm_request": request, "gcp.vertex.agent.llm_response": "{}" }),
            ),
            adk(
                3,
                "execute_tool roll",
                json!({
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": "roll",
                    "gcp.vertex.agent.tool_call_args": "{}",
                    "gcp.vertex.agent.tool_response": "{}",
                }),
            ),
        ]
    };
    let off = read(&spans("{}"));
    assert_eq!(off.conversations()[0].turns[0].calls[0].args, None);
    assert!(kinds(&off).contains(&GapKind::ArgumentsNotCaptured));
    let on = read(&spans(r#"{"contents": [{"role": "user", "parts": [{"text": "Roll"}]}]}"#));
    assert!(on.conversations()[0].turns[0].calls[0].args.is_some());
    assert!(!kinds(&on).contains(&GapKind::ArgumentsNotCaptured));
}

#[test]
fn spans_that_contradict_each_other_are_a_gap() {
    // Each is the parent of the other.
    let mut circle = weather();
    circle[0]["parentSpanId"] = circle[1]["spanId"].clone();
    assert_eq!(kinds(&read(&circle)), [GapKind::Contradiction]);
    let mut own = weather();
    own[0]["parentSpanId"] = own[0]["spanId"].clone();
    assert_eq!(kinds(&read(&own)), [GapKind::Contradiction]);
    // One id for two spans.
    let mut twice = weather();
    twice.push(tool(3, 1, "delete_all", json!({}), json!(1)));
    assert_eq!(kinds(&read(&twice)), [GapKind::Contradiction]);
    // One id of a call for two tools.
    let mut other = weather();
    other[2]["attributes"]["gen_ai.tool.name"] = json!("delete_all");
    other[2]["attributes"]["gen_ai.tool.call.id"] = json!("c1");
    assert_eq!(kinds(&read(&other)), [GapKind::Contradiction]);
    other[2]["attributes"]["gen_ai.tool.name"] = json!("mcp__weather__get_weather");
    assert_eq!(kinds(&read(&other)), []);
    // The same span again, as exporters that retry send it.
    let mut again = weather();
    again.push(again[2].clone());
    let again = read(&again);
    assert_eq!(kinds(&again), [GapKind::Repeated]);
    assert!(!loses(&again));
}

#[test]
fn what_stands_twice_in_a_span_is_a_gap_or_an_error() {
    const TWICE: &str = "malformed: the attribute `k` is there twice, with different values";
    let told = |text: &str| match Traces::from_reader(text.as_bytes()) {
        Ok(traces) => traces.gaps().iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        Err(error) => error.to_string(),
    };
    let span = |more: &str| {
        let ids = r#""traceId": "00000000000000000000000000000abc", "spanId": "0000000000000001""#;
        format!(r#"{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{{{ids}, {more}}}]}}]}}]}}"#)
    };
    let entry = |key: &str, value: &str| format!(r#"{{"key": "{key}", "value": {value}}}"#);
    let list = |first: &str, second: &str| {
        let [first, second] =
            [first, second].map(|text| entry("k", &format!(r#"{{"stringValue": "{text}"}}"#)));
        format!("[{first}, {second}]")
    };
    let attributes = |attributes: &str| told(&span(&format!(r#""attributes": {attributes}"#)));
    let within = |values: &str| {
        attributes(&format!("[{}]", entry("v", &format!(r#"{{"kvlistValue": {{"values": {values}}}}}"#))))
    };
    let jaeger = |tags: &str| {
        told(&format!(r#"{{"data": [{{"spans": [{{"traceID": "abc", "spanID": "1", "tags": {tags}}}]}}]}}"#))
    };
    let tags = |first: &str, second: &str| {
        format!(r#"[{{"key": "k", "value": "{first}"}}, {{"key": "k", "value": "{second}"}}]"#)
    };
    for (found, expected) in [
        (attributes(&list("a", "b")), TWICE),
        (attributes(&list("a", "a")), ""),
        (within(&list("a", "b")), TWICE),
        (within(r#"[{"value": {"intValue": 1}}]"#), "malformed: an attribute has no key"),
        (jaeger(&tags("a", "b")), TWICE),
        (jaeger(&tags("a", "a")), ""),
        (
            attributes(r#"{"k.l": 1, "k": {"l": 2}}"#),
            "malformed: the attribute `k.l` is there twice, with different values",
        ),
        (
            attributes(&format!("[{}]", entry("k", r#"{"stringValue": "a", "intValue": 1}"#))),
            "malformed: an attribute has two values",
        ),
        (
            told(&span(r#""end_time_unix_nano": 1, "endTimeUnixNano": 2"#)),
            "malformed: a span has `endTimeUnixNano` and `end_time_unix_nano`, which are one key in two spellings",
        ),
        (told(&span(r#""end_time_unix_nano": 1, "endTimeUnixNano": 1"#)), ""),
    ] {
        assert_eq!(found, expected);
    }
    for text in
        [r#"{"resourceSpans": [{"resource": {}, "resource": {}}]}"#, r#"{"spanId": "1", "spanId": "2"}"#]
    {
        assert!(told(text).contains("is repeated in one object"), "{}", told(text));
    }
}

#[test]
fn ten_thousand_spans_in_each_other_are_read() {
    let mut spans = weather();
    for number in 5..10_005 {
        let parent = if number == 5 { 3 } else { number - 1 };
        spans.push(tool(number, parent, "get_weather", json!({ "city": "Oslo" }), json!(1)));
    }
    let traces = read(&spans);
    assert_eq!(traces.conversations()[0].turns[0].calls.len(), 1);
    // Model calls in model calls are one call.
    let mut chats = vec![agent(1, 0, "weather")];
    for number in 2..10_002 {
        chats.push(chat(
            number,
            number - 1,
            json!([says("user", "Hi")]),
            json!([says("assistant", "Hello")]),
        ));
    }
    let traces = read(&chats);
    assert_eq!(traces.conversations()[0].turns[0].model_calls.len(), 1);
    // A circle of as many.
    chats[0]["parentSpanId"] = chats[10_000]["spanId"].clone();
    assert!(kinds(&read(&chats)).contains(&GapKind::Contradiction));
}

/// The same span in another trace of one conversation.
fn in_trace(mut span: Value, trace: u64) -> Value {
    span["traceId"] = format!("{trace:032x}").into();
    with(span, "gen_ai.conversation.id", json!("c"))
}

#[test]
fn each_trace_of_a_conversation_has_its_gaps_in_short_where_they_are_thousands() {
    let asked = |number| chat(number, 0, json!([says("user", "Hi")]), json!([says("assistant", "Hello")]));
    let by_trace = |count: u64| {
        let twice = (1..=count).flat_map(|number| vec![in_trace(asked(number), number); 2]);
        read(&twice.collect::<Vec<_>>()).by_trace()
    };
    let few = by_trace(100);
    assert!(few.conversations().iter().all(|it| it.gaps.len() == 100));
    let many = by_trace(1000);
    assert_eq!((many.conversations().len(), kinds(&many)), (1000, vec![GapKind::Repeated]));
    for conversation in many.conversations() {
        let [gap] = conversation.gaps.as_slice() else { panic!("{:?}", conversation.gaps) };
        let told = "the span 0000000000000001 is there twice (and 999 more of this kind in the conversation)";
        assert_eq!(gap.message, told);
    }
}

#[test]
fn a_thousand_traces_that_go_on_with_each_other_are_one_turn() {
    let name = |number: u64| format!("c{number}");
    let said = |number: u64| {
        let mut sent = vec![says("user", "Hi")];
        sent.extend((number > 1).then(|| result(&name(number - 1), json!({ "n": number - 1 }))));
        let asks = calls(&name(number), "t", json!({ "n": number }));
        let mut span = chat(number, 0, json!(sent), json!([asks]));
        if number == 1000 {
            span = chat(number, 0, json!(sent), json!([says("assistant", "Done.")]));
        }
        // Later ones have names that come before, and names that came already.
        in_trace(with(span, "gen_ai.agent.name", json!(format!("agent {}", (2000 - number) % 7))), number)
    };
    let traces = read(&(1..=1000).map(said).collect::<Vec<_>>());
    let [conversation] = traces.conversations() else { panic!("{traces:?}") };
    let [turn] = conversation.turns.as_slice() else { panic!("{:?}", conversation.turns) };
    assert_eq!(
        (turn.calls.len(), turn.model_calls.len(), turn.answer.as_deref()),
        (999, 1000, Some("Done."))
    );
    assert!(turn.calls.iter().all(|call| call.result == call.args));
    assert_eq!(turn.agents, (0..7).map(|number| format!("agent {number}")).collect::<Vec<_>>());
    assert_eq!(kinds(&traces), []);
}

#[test]
fn the_name_of_an_agent_is_cut_where_it_is_long_as_each_of_its_calls_has_it() {
    let mut spans = weather();
    spans[0] = with(spans[0].clone(), "gen_ai.agent.name", json!("é".repeat(1000)));
    let traces = read(&spans);
    let turn = &traces.conversations()[0].turns[0];
    let cut = format!("{}…", "é".repeat(256));
    assert_eq!((turn.agent.as_deref(), turn.model_calls[1].agent.as_deref()), (Some(&*cut), Some(&*cut)));
}

#[test]
fn json_that_is_nested_too_deeply_is_an_error_or_a_gap() {
    let deep = |count: usize| "[".repeat(count) + &"]".repeat(count);
    let error =
        Traces::from_reader(format!(r#"{{"resourceSpans": [{{"resource": {}}}]}}"#, deep(10_000)).as_bytes())
            .unwrap_err();
    assert!(error.to_string().contains("recursion limit"), "{error}");
    // At a place that is not read it does not matter.
    let ignored = format!(r#"{{"other": {}, "resourceSpans": []}}"#, deep(10_000));
    assert_eq!(Traces::from_reader(ignored.as_bytes()).unwrap().conversations(), []);
    let in_content = changed(3, |span| with(span, "gen_ai.output.messages", json!(deep(10_000))));
    assert!(kinds(&read(&in_content)).contains(&GapKind::Unreadable));
}

#[test]
fn spans_without_time_or_ids_and_values_of_other_types_are_gaps() {
    let mut no_time = weather();
    no_time[1]["startTimeUnixNano"] = json!("soon");
    assert_eq!(kinds(&read(&no_time)), [GapKind::NoTime]);
    let mut no_id = weather();
    no_id[2]["spanId"] = json!(7);
    assert!(kinds(&read(&no_id)).contains(&GapKind::Malformed));
    for (key, value) in
        [("attributes", json!(5)), ("events", json!("x")), ("status", json!([])), ("parentSpanId", json!(1))]
    {
        let mut wrong = weather();
        wrong[2][key] = value;
        assert!(kinds(&read(&wrong)).contains(&GapKind::Malformed), "{key}");
    }
    let wrong = r#"{"resourceSpans": [{"scopeSpans": 3}, 7, {"scopeSpans": [{"spans": {"a": 1}}]}]}"#;
    let traces = Traces::from_reader(wrong.as_bytes()).unwrap();
    assert_eq!((traces.gaps().len(), traces.conversations().len()), (3, 0), "{:?}", traces.gaps());
}

#[test]
fn agents_that_did_nothing_are_shown_and_turns_that_may_be_one_are_not_taken_for_two() {
    let mut spans = weather();
    spans.push(agent(9, 0, "idle"));
    let traces = read(&spans);
    assert_eq!((kinds(&traces), traces.conversations()[0].turns.len()), (vec![GapKind::EmptyAgent], 1));

    let bare = |number, finish: &str| {
        span(
            number,
            0,
            "chat",
            json!({ "gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": [finish] }),
        )
    };
    let traces = read(&[bare(1, "tool_calls"), bare(2, "stop")]);
    assert!(kinds(&traces).contains(&GapKind::PossibleContinuation), "{:?}", kinds(&traces));
}

#[test]
fn results_join_their_calls_by_id_and_else_by_order_which_is_said() {
    let question = says("user", "Add");
    let asks = json!([calls("a", "add", json!({ "n": 1 })), calls("b", "add", json!({ "n": 2 }))]);
    let spans = |ids: [&str; 2]| {
        let sent = json!([question, result(ids[0], json!(20)), result(ids[1], json!(10))]);
        read(&[
            agent(1, 0, "adder"),
            chat(2, 1, json!([question]), asks.clone()),
            chat(3, 1, sent, json!([says("assistant", "30")])),
        ])
    };
    let results = |traces: &Traces| -> Vec<Option<i64>> {
        traces.conversations()[0].turns[0].calls.iter().map(|call| call.result.as_ref()?.as_i64()).collect()
    };
    let by_id = spans(["b", "a"]);
    assert_eq!((results(&by_id), kinds(&by_id)), (vec![Some(10), Some(20)], vec![]));
    let by_order = spans(["x", "y"]);
    assert_eq!(
        (results(&by_order), kinds(&by_order)),
        (vec![Some(20), Some(10)], vec![GapKind::ResultByOrder])
    );
}

#[test]
fn calls_that_only_messages_have_stand_where_they_were_asked_for() {
    let question = says("user", "Go");
    let spans = [
        agent(1, 0, "a"),
        chat(
            2,
            1,
            json!([question]),
            json!([
                calls("1", "first", json!({})),
                calls("2", "second", json!({})),
                calls("3", "third", json!({}))
            ]),
        ),
        tool(3, 1, "first", json!({}), json!(1)),
        tool(4, 1, "third", json!({}), json!(3)),
        chat(5, 1, json!([question, result("2", json!(2))]), json!([says("assistant", "Done")])),
    ];
    let traces = read(&spans);
    let names: Vec<&str> =
        traces.conversations()[0].turns[0].calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!((names, kinds(&traces)), (vec!["first", "second", "third"], vec![GapKind::ToolWithoutSpan]));
}

#[test]
fn a_turn_failed_if_its_span_says_so_or_its_last_model_call_failed_without_an_answer() {
    let error = |spans: &[Value]| read(spans).conversations()[0].turns[0].error.clone();
    let failed = |mut span: Value| {
        span["status"] = json!({ "code": 2 });
        span
    };
    let typed = |span: Value| with(span, "error.type", json!("timeout"));
    let other = Some("_OTHER".to_owned());
    assert_eq!(error(&weather()), None);
    assert_eq!(error(&changed(0, failed)), other);
    assert_eq!(error(&changed(0, typed)), Some("timeout".to_owned()));
    // The last model call.
    let silent = |span| without(span, "gen_ai.output.messages");
    assert_eq!(error(&changed(3, |span| failed(silent(span)))), other);
    assert_eq!(error(&changed(3, |span| typed(silent(span)))), Some("timeout".to_owned()));
    // A call that was retried, a call that answered in spite of it, and a call that only has no answer.
    assert_eq!(
        (error(&changed(1, failed)), error(&changed(3, failed)), error(&changed(3, silent))),
        (None, None, None)
    );
}

#[test]
fn a_call_of_a_tool_failed_if_one_of_its_spans_says_so() {
    let error = |change: &dyn Fn(Value) -> Value| {
        read(&changed(2, change)).conversations()[0].turns[0].calls[0].error.clone()
    };
    let status = |code: i64| {
        move |mut span: Value| {
            span["status"] = json!({ "code": code });
            span
        }
    };
    assert_eq!(
        (error(&status(0)), error(&status(1)), error(&status(2))),
        (None, None, Some("_OTHER".to_owned()))
    );
    assert_eq!(error(&|span| with(span, "error.type", json!("timeout"))), Some("timeout".to_owned()));
    // A missing result does not say that its call failed.
    let lost = |span| without(span, "gen_ai.tool.call.result");
    let mut spans = changed(2, |span| status(2)(lost(span)));
    spans[3] = with(
        spans[3].clone(),
        "gen_ai.input.messages",
        json!([says("user", "How is Oslo?")]).to_string().into(),
    );
    assert_eq!(kinds(&read(&spans)), []);
    spans[2] = lost(weather()[2].clone());
    assert_eq!(kinds(&read(&spans)), [GapKind::ResultNotCaptured]);
}

#[test]
fn records_of_no_span_are_of_the_only_model_call_and_others_without_a_span_are_gaps() {
    let record = |span: Option<u64>| {
        json!({
            "traceId": format!("{:032x}", 0xabc),
            "spanId": span.map(|number| format!("{number:016x}")),
            "eventName": "gen_ai.user.message",
            "body": { "kvlistValue": { "values": [{ "key": "content", "value": { "stringValue": "How is Oslo?" } }] } },
        })
    };
    let read = |spans: &[Value], records: Value| {
        let logs = json!({ "resourceLogs": [{ "scopeLogs": [{ "logRecords": records }] }] }).to_string();
        let texts = [document(spans), logs];
        let traces = Traces::from_texts(texts.iter().map(String::as_bytes)).unwrap();
        let user = traces.conversations()[0].turns[0].user.clone();
        (user, kinds(&traces).contains(&GapKind::Malformed))
    };
    let silent = without(chat(2, 1, json!([]), json!([says("assistant", "Grey.")])), "gen_ai.input.messages");
    let spans = [agent(1, 0, "weather"), silent.clone()];
    let user = Some("How is Oslo?".to_owned());
    assert_eq!(read(&spans, json!([record(None)])), (user.clone(), false));
    assert_eq!(read(&spans, json!([record(Some(2))])), (user, false));
    assert_eq!(read(&spans, json!([record(Some(9))])), (None, true), "there is no such span");
    let mut second = silent.clone();
    second["spanId"] = json!(format!("{:016x}", 3));
    let two = [agent(1, 0, "weather"), silent, second];
    assert_eq!(read(&two, json!([record(None)])), (None, true), "it may be of either call");
}

#[test]
fn what_is_wrong_with_spans_in_no_turn_is_a_gap_if_they_are_of_agents_or_something_was_dropped() {
    let untimed = |attributes: Value| {
        let mut span = span(9, 0, "work", attributes);
        span["startTimeUnixNano"] = json!("0");
        span
    };
    let all = |stray: Value| kinds(&read(&[weather(), vec![stray]].concat()));
    assert_eq!(all(untimed(json!({ "gen_ai.operation.name": "embeddings" }))), [GapKind::NoTime]);
    assert_eq!(all(untimed(json!({ "openinference.span.kind": "CHAIN" }))), []);
    let mut lossy = span(9, 0, "work", json!({}));
    lossy["droppedAttributesCount"] = json!(1);
    assert_eq!(all(lossy), [GapKind::Dropped]);
}

#[test]
fn spans_that_name_several_cases_contradict_each_other_once_for_each_and_a_hundred_times_at_most() {
    let gaps = |ids: &[u64]| {
        let tagged = |(at, id): (u64, &u64)| {
            span(100 + at, 1, "work", json!({ "agentevals.eval.case.id": format!("case {id}") }))
        };
        let spans = [weather(), (0..).zip(ids).map(tagged).collect()].concat();
        let traces = read(&spans);
        assert_eq!(traces.conversations()[0].case_id.as_deref(), Some("case 0"));
        let gaps = &traces.conversations()[0].gaps;
        assert!(gaps.iter().all(|gap| gap.kind == GapKind::Contradiction), "{gaps:?}");
        gaps.len()
    };
    assert_eq!((gaps(&[0, 0]), gaps(&[0, 1, 1, 2])), (0, 2));
    assert_eq!(gaps(&(0..150).collect::<Vec<_>>()), 100);
}

#[test]
fn a_tool_in_a_tool_is_the_same_call_if_it_has_its_name_or_its_id() {
    let nested = |outer: Value, inner: Value| {
        let spans = [agent(1, 0, "weather"), span(2, 1, "a", outer), span(3, 2, "b", inner)];
        read(&spans).conversations()[0].turns[0].calls.len()
    };
    let tool = |name: Option<&str>, id: Option<&str>| json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.id": id });
    assert_eq!(nested(tool(Some("f"), None), tool(Some("f"), None)), 1);
    assert_eq!(nested(tool(Some("f"), Some("c")), tool(Some("mcp"), Some("c"))), 1);
    assert_eq!(nested(tool(Some("f"), Some("c")), tool(Some("g"), Some("d"))), 2);
    assert_eq!(nested(tool(None, None), tool(None, None)), 2);
}

#[test]
fn a_result_is_of_one_call_that_was_asked_for_before_it() {
    let question = says("user", "Weather?");
    let get = || calls("c", "get_weather", json!({ "city": "Oslo" }));
    // Two calls have one id.
    let mut twice = get();
    twice["parts"].as_array_mut().unwrap().push(get()["parts"][0].clone());
    let grey = result("c", json!("grey"));
    let spans = [
        agent(1, 0, "weather"),
        chat(2, 1, json!([question]), json!([twice])),
        chat(3, 1, json!([question, grey]), json!([says("assistant", "Grey.")])),
    ];
    let results = |spans: &[Value]| -> Vec<bool> {
        read(spans).conversations()[0].turns[0].calls.iter().map(|call| call.result.is_some()).collect()
    };
    assert_eq!(results(&spans), [true, false]);
    // It was sent before the call.
    let before = [agent(1, 0, "weather"), chat(2, 1, json!([question, grey]), json!([get()]))];
    assert_eq!(results(&before), [false]);
}

#[test]
fn what_models_say_is_the_answer_once_and_a_lost_answer_hides_no_calls() {
    let question = says("user", "Hi");
    let say = |number, text: &str| chat(number, 1, json!([question]), json!([says("assistant", text)]));
    let turn = |spans: &[Value]| {
        let turn = read(spans).conversations()[0].turns[0].clone();
        (turn.intermediate, turn.answer.unwrap_or_default())
    };
    // The same words twice were said twice.
    assert_eq!(turn(&[agent(1, 0, "a"), say(2, "X"), say(3, "X")]), (vec!["X".to_owned()], "X".to_owned()));
    // Of calls that end at one time the first has the answer.
    let mut other = say(3, "second");
    for time in ["startTimeUnixNano", "endTimeUnixNano"] {
        other[time] = say(2, "")[time].clone();
    }
    assert_eq!(
        turn(&[agent(1, 0, "a"), say(2, "first"), other]),
        (vec!["second".to_owned()], "first".to_owned())
    );
    let lost = |number| without(say(number, ""), "gen_ai.output.messages");
    assert_eq!(kinds(&read(&[agent(1, 0, "a"), lost(2)])), [GapKind::AnswerNotCaptured]);
    assert_eq!(kinds(&read(&[agent(1, 0, "a"), say(2, "X"), lost(3)])), [GapKind::AnswerNotCaptured]);
    // The span of the agent has the answer.
    let own =
        with(agent(1, 0, "a"), "gen_ai.output.messages", json!([says("assistant", "Y")]).to_string().into());
    assert_eq!(kinds(&read(&[own, say(2, "X"), lost(3)])), []);
}

#[test]
fn a_turn_whose_span_lacks_one_of_its_times_says_so() {
    let mut root = span(1, 0, "POST /chat", json!({}));
    let inner = chat(2, 1, json!([says("user", "Hi")]), json!([says("assistant", "Hello")]));
    let why = |root: &Value| {
        read(&[root.clone(), inner.clone()]).conversations()[0].turns[0].gaps[0].message.clone()
    };
    let end = root["endTimeUnixNano"].take();
    assert!(why(&root).ends_with("has no time of its beginning or end"), "{}", why(&root));
    root["endTimeUnixNano"] = end;
    root["startTimeUnixNano"] = json!("0");
    assert!(why(&root).ends_with("has no time of its beginning or end"), "{}", why(&root));
}
