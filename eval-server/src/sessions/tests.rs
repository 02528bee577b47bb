use std::time::Duration;

use super::*;
use crate::otlp::{self, Encoding, Signal};

/// A span of an agent's turn in a conversation, as JSON.
fn span(trace: u32, id: u32, parent: u32, more: &str) -> String {
    let parent = if parent == 0 { String::new() } else { format!("{parent:016x}") };
    format!(
        "{{\"traceId\":\"{trace:032x}\",\"spanId\":\"{id:016x}\",\"parentSpanId\":\"{parent}\",\"name\":\"s\",\
         \"startTimeUnixNano\":\"{}\",\"endTimeUnixNano\":\"{}\",\"attributes\":{{{more}}}}}",
        1_760_000_000_000_000_000_u64 + u64::from(trace) * 1_000_000 + u64::from(id),
        1_760_000_001_000_000_000_u64 + u64::from(trace) * 1_000_000,
    )
}

const AGENT: &str = "\"gen_ai.operation.name\":\"invoke_agent\",\"gen_ai.agent.name\":\"w\"";

fn chat(words: &str, key: &str) -> String {
    let message = |role: &str| {
        format!(
            "[{{\\\"role\\\":\\\"{role}\\\",\\\"parts\\\":[{{\\\"type\\\":\\\"text\\\",\\\"content\\\":\\\"{words}\\\"}}]}}]"
        )
    };
    let key = if key.is_empty() { String::new() } else { format!(",\"gen_ai.conversation.id\":\"{key}\"") };
    format!(
        "\"gen_ai.operation.name\":\"chat\",\"gen_ai.request.model\":\"m\",\"gen_ai.input.messages\":\"{}\",\
         \"gen_ai.output.messages\":\"{}\"{key}",
        message("user"),
        message("assistant")
    )
}

fn add(sessions: &Sessions, spans: &[String]) -> Result<Option<Rejected>, Full> {
    let text = format!("{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{}]}}]}}]}}", spans.join(","));
    sessions.add(otlp::read(Signal::Traces, Encoding::Json, text.as_bytes()).unwrap())
}

fn quick() -> Limits {
    Limits::default().quiet(Duration::ZERO)
}

fn only(sessions: &Sessions) -> (SessionView, Digest) {
    // Whatever it took to read it last.
    let ids = sessions.list().sessions.into_iter().map(|(view, _)| view.id);
    for id in ids {
        drop(sessions.read(id));
    }
    let mut list = sessions.list().sessions;
    assert_eq!(list.len(), 1, "{list:?}");
    list.remove(0)
}

#[test]
fn spans_in_any_order_and_number_of_exports_are_one_session() {
    let spans = [
        span(1, 3, 1, &chat("Paris?", "")),
        span(
            1,
            2,
            1,
            "\"gen_ai.operation.name\":\"execute_tool\",\"gen_ai.tool.name\":\"t\",\"gen_ai.tool.call.arguments\":\"{}\"",
        ),
        span(1, 1, 0, AGENT),
    ];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [1, 0, 2], [2, 0, 1]] {
        let sessions = Sessions::new(&quick());
        for (step, at) in order.into_iter().enumerate() {
            add(&sessions, &spans[at..=at]).unwrap();
            let (view, _) = only(&sessions);
            let is_whole = order[..=step].contains(&2);
            assert_eq!(view.state == SessionState::Complete, is_whole, "{order:?} {step}");
            assert_eq!(view.waits.is_empty(), is_whole, "{order:?} {step}: {:?}", view.waits);
        }
        let (view, digest) = only(&sessions);
        assert_eq!((view.spans, digest.turns, digest.calls), (3, 1, 1), "{order:?}");
        assert_eq!(digest.asked.as_deref(), Some("Paris?"));
        assert!(sessions.read(view.id).unwrap().doubts().is_empty());
    }
}

#[test]
fn a_span_that_comes_twice_counts_once_and_another_version_of_it_is_a_contradiction() {
    let sessions = Sessions::new(&quick());
    let spans = [span(1, 1, 0, AGENT), span(1, 2, 1, &chat("Paris?", ""))];
    add(&sessions, &spans).unwrap();
    add(&sessions, &spans).unwrap();
    let (view, digest) = only(&sessions);
    assert_eq!((view.spans, digest.gaps), (2, 0));
    add(&sessions, &[span(1, 2, 1, &chat("Rome?", ""))]).unwrap();
    let (view, digest) = only(&sessions);
    assert_eq!((view.spans, digest.gaps), (3, 1));
    assert!(sessions.read(view.id).unwrap().doubts()[0].contains("contradiction"));
}

#[test]
fn traces_that_name_one_conversation_are_one_session_whenever_they_name_it() {
    let sessions = Sessions::new(&quick());
    add(&sessions, &[span(1, 1, 0, AGENT)]).unwrap();
    add(&sessions, &[span(2, 1, 0, AGENT)]).unwrap();
    assert_eq!(sessions.list().sessions.len(), 2);
    sessions.mark(Some(2));
    add(&sessions, &[span(2, 2, 1, &chat("Rome?", "c"))]).unwrap();
    add(&sessions, &[span(1, 2, 1, &chat("Paris?", "c"))]).unwrap();
    let (view, digest) = only(&sessions);
    assert_eq!((view.key.as_str(), view.traces, digest.turns), ("c", 2, 2));
    assert!(view.is_golden, "the mark moves with the session");
    assert_eq!(digest.asked.as_deref(), Some("Paris?"));
    // Both ids are known.
    assert_eq!(sessions.read(1).unwrap().view.id, sessions.read(2).unwrap().view.id);
    // A later turn.
    add(&sessions, &[span(3, 1, 0, AGENT), span(3, 2, 1, &chat("Oslo?", "c"))]).unwrap();
    assert_eq!(only(&sessions).1.turns, 3);
}

#[test]
fn a_session_is_complete_once_nothing_has_come_for_a_while() {
    let sessions = Sessions::new(&Limits::default().quiet(Duration::from_millis(50)));
    add(&sessions, &[span(1, 1, 0, AGENT)]).unwrap();
    assert_eq!(only(&sessions).0.state, SessionState::Receiving);
    std::thread::sleep(Duration::from_millis(80));
    assert_eq!(only(&sessions).0.state, SessionState::Complete);
    add(&sessions, &[span(1, 2, 1, &chat("Paris?", ""))]).unwrap();
    assert_eq!(only(&sessions).0.state, SessionState::Receiving);
}

#[test]
fn what_is_lost_is_said() {
    let turn = |trace: u32| [span(trace, 1, 0, AGENT), span(trace, 2, 1, &chat("Paris?", ""))];
    // Too many spans.
    let sessions = Sessions::new(&quick().session_spans(2));
    add(&sessions, &turn(1)).unwrap();
    let rejected = add(&sessions, &[span(1, 3, 1, &chat("Rome?", ""))]).unwrap().unwrap();
    assert!(rejected.count == 1 && rejected.why.contains("more than 2 spans"), "{rejected:?}");
    let (view, _) = only(&sessions);
    assert!(
        view.lost[0].contains("more than 2 spans") && sessions.read(view.id).unwrap().doubts().len() == 1
    );
    // A span that cannot be read beside others.
    let sessions = Sessions::new(&quick());
    let [root, call] = turn(1);
    assert_eq!(add(&sessions, &[root, call, "{}".to_owned()]).unwrap().unwrap().count, 1);
    assert!(only(&sessions).0.lost[0].contains("rejected"));
    // An export that was refused while the session ran concerns it, and one before does not.
    let sessions = Sessions::new(&quick());
    add(&sessions, &turn(1)).unwrap();
    assert!(only(&sessions).0.lost.is_empty());
    sessions.refuse("no gzip", None);
    assert!(only(&sessions).0.lost[0].contains("no gzip"));
    // Parts that the agent's own limits cut off.
    let sessions = Sessions::new(&quick());
    let cut = span(1, 1, 0, AGENT).replacen('{', "{\"droppedAttributesCount\":3,", 1);
    add(&sessions, &[cut]).unwrap();
    assert!(only(&sessions).0.lost[0].contains("own limits"));
}

#[test]
fn the_oldest_finished_sessions_go_first_and_the_golden_one_stays() {
    let sessions = Sessions::new(&quick().sessions(3));
    let turn = |trace: u32, key: &str| [span(trace, 1, 0, AGENT), span(trace, 2, 1, &chat("Paris?", key))];
    add(&sessions, &turn(1, "a")).unwrap();
    assert!(sessions.mark(Some(1)) && !sessions.mark(Some(99)));
    add(&sessions, &[span(2, 2, 1, &chat("Rome?", "waits"))]).unwrap();
    add(&sessions, &turn(3, "b")).unwrap();
    // `b` is the oldest finished session.
    let keys = |sessions: &Sessions| {
        let mut keys: Vec<String> = sessions.list().sessions.into_iter().map(|(view, _)| view.key).collect();
        keys.sort();
        keys
    };
    add(&sessions, &turn(4, "c")).unwrap();
    assert_eq!(keys(&sessions), ["a", "c", "waits"]);
    assert_eq!(sessions.list().removed, 1);
    // Later turns, and later spans, of what was removed say so.
    add(&sessions, &turn(5, "b")).unwrap();
    assert_eq!(keys(&sessions), ["a", "b", "waits"]);
    let lost = |sessions: &Sessions, key: &str| {
        let list = sessions.list().sessions;
        list.into_iter().find(|(view, _)| view.key == key).unwrap().0.lost
    };
    assert!(lost(&sessions, "b")[0].contains("earlier turns"));
    add(&sessions, &[span(4, 3, 1, &chat("Oslo?", ""))]).unwrap();
    assert!(lost(&sessions, &trace_id(4))[0].contains("earlier spans"));
}

#[test]
fn without_anything_that_may_go_there_is_no_room() {
    let sessions = Sessions::new(&Limits::default().sessions(2).quiet(Duration::from_mins(1)));
    for trace in 1..=2 {
        add(&sessions, &[span(trace, 1, 0, AGENT), span(trace, 2, 1, &chat("Paris?", ""))]).unwrap();
    }
    assert!(add(&sessions, &[span(3, 1, 0, AGENT)]).is_err());
    // A session without an agent goes at once.
    let sessions = Sessions::new(&Limits::default().sessions(2).quiet(Duration::from_mins(1)));
    for trace in 1..=50 {
        add(&sessions, &[span(trace, 1, 0, "\"http.method\":\"GET\"")]).unwrap();
    }
    assert_eq!((sessions.list().sessions.len(), sessions.list().removed), (2, 48));
    // Memory counts too.
    let sessions = Sessions::new(&quick().session_memory(20_000));
    for trace in 1..=50 {
        add(&sessions, &[span(trace, 1, 0, AGENT), span(trace, 2, 1, &chat(&"x".repeat(500), ""))]).unwrap();
    }
    let list = sessions.list();
    assert!(list.sessions.len() < 10 && list.removed > 40);
    assert!(list.sessions.iter().map(|(view, _)| view.bytes).sum::<usize>() <= 20_000);
}

#[test]
fn a_parent_in_another_process_is_not_waited_for() {
    let sessions = Sessions::new(&quick());
    let remote = span(1, 1, 7, AGENT).replacen('{', "{\"flags\":768,", 1);
    add(&sessions, &[remote, span(1, 2, 1, &chat("Paris?", ""))]).unwrap();
    assert_eq!(only(&sessions).0.state, SessionState::Complete);
}

#[test]
fn a_session_in_doubt_stays_so_however_many_exports_are_refused_later() {
    let sessions = Sessions::new(&quick());
    add(&sessions, &[span(1, 1, 0, AGENT), span(1, 2, 1, &chat("Paris?", ""))]).unwrap();
    assert!(sessions.read(1).unwrap().doubts().is_empty());
    sessions.refuse("no gzip", None);
    // A refusal after the time of a session concerns other sessions.
    let later = Instant::now() + Duration::from_hours(1);
    for second in 0..500 {
        sessions.store.lock().refusals.add(later + Duration::from_secs(second), "later", None);
    }
    assert_eq!(sessions.list().refused, 501);
    let doubts = sessions.read(1).unwrap().doubts();
    assert!(doubts.len() == 1 && doubts[0].contains("no gzip"), "{doubts:?}");
}

#[test]
fn an_agent_whose_clock_is_ahead_escapes_no_refusal() {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let ahead = format!("{}", (now + Duration::from_hours(1)).as_nanos());
    let spans = [span(1, 1, 0, AGENT), span(1, 2, 1, &chat("Paris?", "c"))];
    let spans = spans.map(|span| {
        let ours = span.split('"').find(|it| it.starts_with("17600000")).unwrap().to_owned();
        span.replace(&ours, &ahead).replace("1760000001001000000", &ahead)
    });
    for at in 0..3 {
        // Before its spans, between them, and after.
        let sessions = Sessions::new(&quick());
        for step in 0..3 {
            if step == at {
                sessions.refuse("no gzip", None);
            }
            if step < 2 {
                add(&sessions, &spans[step..=step]).unwrap();
            }
        }
        let doubts = sessions.read(1).unwrap().doubts();
        assert!(doubts.len() == 1 && doubts[0].contains("no gzip"), "{at}: {doubts:?}");
    }
    // A refusal in the middle of a long turn, whose spans all came at its end.
    let ended = |after: Duration| format!("{}", (now + Duration::from_hours(1) + after).as_nanos());
    for (minutes, is_in_doubt) in [(5, true), (1, false)] {
        let sessions = Sessions::new(&quick());
        let refused = Instant::now().checked_sub(Duration::from_mins(3)).unwrap();
        sessions.store.lock().refusals.add(refused, "no gzip", None);
        let end = format!("\"endTimeUnixNano\":\"{}\"", ended(Duration::from_mins(minutes)));
        let long = spans.clone().map(|span| span.replace(&format!("\"endTimeUnixNano\":\"{ahead}\""), &end));
        add(&sessions, &long).unwrap();
        assert_eq!(!sessions.read(1).unwrap().doubts().is_empty(), is_in_doubt, "{minutes}");
    }
}

#[test]
fn what_is_sent_again_in_another_grouping_is_there_once() {
    let sessions = Sessions::new(&quick());
    let root = span(1, 1, 0, AGENT);
    let (tool, call) = (span(1, 2, 1, "\"gen_ai.operation.name\":\"x\""), span(1, 3, 1, &chat("Paris?", "")));
    add(&sessions, &[root.clone(), tool.clone()]).unwrap();
    add(&sessions, &[tool, call]).unwrap();
    assert_eq!(only(&sessions).0.spans, 3);
    let record = |words: &str| {
        format!(
            "{{\"traceId\":\"{:032x}\",\"spanId\":\"{:016x}\",\"eventName\":\"gen_ai.user.message\",\"body\":{{\"stringValue\":\"{words}\"}}}}",
            1, 3
        )
    };
    let log = |records: &[&str]| {
        let records: Vec<String> = records.iter().map(|words| record(words)).collect();
        let text =
            format!("{{\"resourceLogs\":[{{\"scopeLogs\":[{{\"logRecords\":[{}]}}]}}]}}", records.join(","));
        assert_eq!(
            sessions.add(otlp::read(Signal::Logs, Encoding::Json, text.as_bytes()).unwrap()).unwrap(),
            None
        );
        only(&sessions).0.spans - 3
    };
    assert_eq!(log(&["a", "b"]), 2);
    assert_eq!(log(&["b", "c"]), 3);
    assert_eq!(log(&["c"]), 3);
    assert_eq!(log(&["a", "b", "c", "d"]), 4);
    // Records that are alike are told apart by their number in an export.
    assert_eq!(log(&["e", "e"]), 6);
    assert_eq!(log(&["e"]), 6);
    assert_eq!(log(&["d", "e", "e", "e"]), 7);
    let text = sessions.text(1).unwrap();
    assert_eq!(["a", "b", "c", "d", "e"].map(|words| text.matches(&record(words)).count()), [1, 1, 1, 1, 3]);
}

/// An export of a process that runs a session of this name.
fn export(name: &str, run: &str, process: &str, spans: &[String]) -> Export {
    let attribute =
        |key: &str, value: &str| format!("{{\"key\":\"{key}\",\"value\":{{\"stringValue\":\"{value}\"}}}}");
    let mut all = vec![attribute("agentevals.session_name", name), attribute("service.instance.id", process)];
    all.extend((!run.is_empty()).then(|| attribute("agentevals.session.run_id", run)));
    let text = format!(
        "{{\"resourceSpans\":[{{\"resource\":{{\"attributes\":[{}]}},\"scopeSpans\":[{{\"spans\":[{}]}}]}}]}}",
        all.join(","),
        spans.join(",")
    );
    otlp::read(Signal::Traces, Encoding::Json, text.as_bytes()).unwrap()
}

#[test]
fn runs_of_one_name_are_sessions_of_their_own_as_in_agentevals() {
    let sessions = Sessions::new(&quick());
    let turn = |trace: u32| [span(trace, 1, 0, &chat("Paris?", ""))];
    for (trace, run, process) in
        [(1, "", "p1"), (2, "", "p1"), (3, "", "p2"), (4, "r1", "p2"), (5, "r1", "p2"), (6, "r2", "p2")]
    {
        sessions.add(export("trip", run, process, &turn(trace))).unwrap();
    }
    let of = |sessions: &Sessions| {
        let list = sessions.list().sessions.into_iter().map(|(view, _)| (view.key, view.traces));
        let mut list: Vec<(String, usize)> = list.collect();
        list.sort();
        list
    };
    let expected = [("trip", 2), ("trip-2", 1), ("trip-3", 2), ("trip-4", 1)]
        .map(|(key, traces)| (key.to_owned(), traces));
    assert_eq!(of(&sessions), expected);
    // Reading them moves no trace.
    for id in 1..=6 {
        drop(sessions.read(id));
    }
    assert_eq!(of(&sessions), expected);

    // Two processes of one run, whose spans come while the session is in progress, are one session.
    let sessions = Sessions::new(&Limits::default());
    for (trace, process) in [(1, "p1"), (2, "p2")] {
        sessions.add(export("trip", "", process, &turn(trace))).unwrap();
    }
    assert_eq!(of(&sessions), [("trip".to_owned(), 2)]);
}
