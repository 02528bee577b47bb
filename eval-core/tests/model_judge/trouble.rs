//! Failures: their kind, their message, and whether the request is sent again.

use std::time::Duration;

use eval_core::judge::{Judge, JudgeErrorKind};
use serde_json::json;

use crate::server::{Answer, Server};
use crate::{KEY, WIRES, patient};

#[tokio::test]
async fn too_many_requests_are_tried_again() {
    for wire in WIRES {
        let busy = wire.fail(429, "retry-after: 0\r\n", "slow down");
        let (reply, requests) = wire.ask_retrying(vec![busy, wire.ok("yes")]).await;
        assert_eq!((reply.unwrap().text.as_str(), requests.len()), ("yes", 2), "{}", wire.provider);
    }
}

#[tokio::test]
async fn the_wait_that_is_asked_for_is_passed_on() {
    for (headers, message, wait) in [
        ("Retry-After: 7\r\n", "slow down", Some(7)),
        ("retry-after: Tue, 01 Sep 2020 12:00:00 GMT\r\n", "slow down", Some(0)),
        ("", "slow down", None),
    ] {
        for wire in WIRES {
            let (result, _) = wire.ask(vec![wire.fail(429, headers, message)]).await;
            let error = result.unwrap_err();
            assert!(error.is_transient(), "{error}");
            assert_eq!(error.retry_after(), wait.map(Duration::from_secs), "{}", wire.provider);
        }
    }
}

#[tokio::test]
async fn gemini_names_the_wait_in_its_body() {
    let details = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]);
    let body = json!({"error": {"code": 429, "message": "quota", "details": details}});
    let (result, _) = WIRES[1].ask(vec![Answer::Send(429, "", body.to_string())]).await;
    assert_eq!(result.unwrap_err().retry_after(), Some(Duration::from_secs(34)));
}

#[tokio::test]
async fn an_hour_is_not_waited_for() {
    let busy = WIRES[0].fail(429, "retry-after: 3600\r\n", "slow down");
    let (result, requests) = WIRES[0].ask_retrying(vec![busy, WIRES[0].ok("yes")]).await;
    let error = result.unwrap_err().to_string();
    assert!(error.contains("slow down; it asks to wait 3600 s"), "{error}");
    assert_eq!(requests.len(), 1);
}

#[tokio::test]
async fn failures_of_the_server_end_after_the_retries_with_what_it_said_last() {
    for wire in WIRES {
        let answers = vec![
            wire.fail(500, "", "a"),
            wire.fail(503, "", "b"),
            wire.fail(408, "", "c"),
            wire.fail(529, "", "d"),
        ];
        let (result, requests) = wire.ask_retrying(answers).await;
        let error = result.unwrap_err();
        assert_eq!((error.kind(), requests.len()), (JudgeErrorKind::Failed, 4));
        let said = format!("judge `{}` at 127.0.0.1 answered 529", wire.model);
        assert!(error.to_string().starts_with(&said), "{error}");
        assert!(error.to_string().ends_with(": d (the last answer of 4 attempts)"), "{error}");
    }
}

#[tokio::test]
async fn a_judge_that_hangs_is_given_up_and_not_asked_again() {
    for wire in WIRES {
        let server = Server::start(vec![Answer::Hang, wire.ok("yes")]);
        let judge = wire.judge(&server).timeout(Duration::from_millis(200));
        let error = patient(judge).ask(&wire.request()).await.unwrap_err();
        assert_eq!((error.kind(), server.requests().len()), (JudgeErrorKind::Timeout, 1), "{error}");
        assert!(
            error.to_string().contains("did not answer within 200ms; `EVALSET_JUDGE_TIMEOUT`"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_asked_again() {
    let wire = &WIRES[0];
    let server = Server::start(Vec::new());
    let (judge, request) = (wire.judge(&server), wire.request());
    drop(server);
    let error = patient(judge).ask(&request).await.unwrap_err();
    assert_eq!(error.kind(), JudgeErrorKind::Failed);
    let text = error.to_string();
    assert!(text.contains("could not be reached, or broke off: "), "{text}");
    assert!(text.ends_with("(the last answer of 4 attempts)"), "{text}");
}

#[tokio::test]
async fn a_body_that_is_cut_is_asked_for_again() {
    for wire in WIRES {
        let whole = (wire.reply)("yes").to_string();
        let half = || whole[..whole.len() / 2].to_owned();
        for (cut, says) in [
            (Answer::BreakOff(half()), "could not be reached, or broke off"),
            (Answer::Send(200, "", half()), "answered with broken JSON: EOF while parsing"),
        ] {
            let (result, _) = wire.ask(vec![cut]).await;
            let error = result.unwrap_err();
            assert!(error.is_transient() && error.to_string().contains(says), "{error}");
        }
        let (reply, requests) = wire
            .ask_retrying(vec![Answer::BreakOff(half()), Answer::Send(200, "", half()), wire.ok("yes")])
            .await;
        assert_eq!((reply.unwrap().text.as_str(), requests.len()), ("yes", 3));
    }
}

#[tokio::test]
async fn a_refusal_is_an_error_of_its_own_and_final() {
    for wire in WIRES {
        let (result, requests) = wire
            .ask_retrying(vec![Answer::Send(200, "", (wire.refusal)().to_string()), wire.ok("yes")])
            .await;
        let error = result.unwrap_err();
        assert_eq!((error.kind(), requests.len()), (JudgeErrorKind::Refused, 1));
        assert!(error.to_string().contains("declined to answer: "), "{error}");
    }
}

#[tokio::test]
async fn an_empty_reply_is_an_error() {
    for wire in WIRES {
        for text in ["", " \n"] {
            let (result, _) = wire.ask(vec![wire.ok(text)]).await;
            let error = result.unwrap_err();
            assert_eq!(error.kind(), JudgeErrorKind::Unreadable);
            assert!(error.to_string().ends_with("answered with an empty text"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_reply_that_was_cut_off_is_an_error_that_names_the_limit() {
    let body = json!({"choices": [{"message": {"content": "the answer is val"}, "finish_reason": "length"}]});
    let (result, _) = WIRES[0].ask(vec![Answer::Send(200, "", body.to_string())]).await;
    let error = result.unwrap_err();
    assert_eq!(error.kind(), JudgeErrorKind::Unreadable);
    assert!(error.to_string().contains("raise `max_output_tokens`"), "{error}");
}

#[tokio::test]
async fn an_answer_of_something_else_is_an_error() {
    for (wire, lacks) in
        [(&WIRES[0], "no `choices`"), (&WIRES[1], "no `candidates`"), (&WIRES[2], "no `content`")]
    {
        let (result, _) = wire.ask(vec![Answer::Send(200, "", "{\"status\": \"ok\"}".to_owned())]).await;
        let error = result.unwrap_err();
        assert!(error.to_string().contains(lacks) && !error.is_transient(), "{error}");
    }
}

#[tokio::test]
async fn a_huge_answer_is_not_read_to_its_end() {
    for wire in WIRES {
        let announced = Answer::Send(200, "", " ".repeat((8 << 20) + 1));
        for answer in [Answer::Endless, announced] {
            let (result, _) = wire.ask(vec![answer]).await;
            let error = result.unwrap_err();
            assert!(error.to_string().ends_with("answered with more than 8 MiB"), "{error}");
            assert!(!error.is_transient());
        }
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    for wire in WIRES {
        for status in [301, 302, 303, 307, 308] {
            let other = Server::start(vec![wire.ok("yes")]);
            let location: &'static str = format!("location: {}\r\n", other.url("/elsewhere")).leak();
            let (result, requests) =
                wire.ask_retrying(vec![Answer::Send(status, location, String::new())]).await;
            let error = result.unwrap_err().to_string();
            assert!(error.contains("a redirect to 127.0.0.1, which is not followed"), "{error}");
            assert_eq!((requests.len(), other.requests().len()), (1, 0));
        }
    }
}

#[tokio::test]
async fn a_key_in_the_body_of_an_error_is_not_shown() {
    for wire in WIRES {
        let escaped = KEY.replace('-', "\\u002d");
        for body in [
            (wire.error)(&format!("no such key: {KEY}.")).to_string(),
            format!("<h1>no such key: {KEY}</h1>"),
            format!("{{\"error\": {{\"message\": \"no such key: {escaped}\"}}}}"),
            format!("no such key: {KEY} {}", "x".repeat(1 << 20)),
            format!("{}{KEY}", "no such key: ".repeat(20_000)),
        ] {
            // `ask` checks for every answer that it shows no key.
            let (result, _) = wire.ask(vec![Answer::Send(401, "", body)]).await;
            let error = result.unwrap_err();
            assert!(error.to_string().contains("no such key: "), "{error}");
            assert!(error.to_string().ends_with("; is the key the right one?"), "{error}");
            assert!(error.to_string().len() < 600 && !error.is_transient(), "{error}");
        }
    }
}

#[tokio::test]
async fn an_empty_account_is_not_waited_for() {
    let body = json!({"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}});
    let (result, _) = WIRES[0].ask(vec![Answer::Send(429, "", body.to_string())]).await;
    assert!(!result.unwrap_err().is_transient());
}

#[tokio::test]
async fn a_failure_in_an_answer_of_status_200_is_a_failure() {
    let body = json!({"error": {"message": "upstream is busy", "code": 429}}).to_string();
    let (result, _) = WIRES[0].ask(vec![Answer::Send(200, "", body)]).await;
    let error = result.unwrap_err();
    assert!(error.to_string().contains("answered 429 Too Many Requests: upstream is busy"), "{error}");
    assert!(error.is_transient());
}
