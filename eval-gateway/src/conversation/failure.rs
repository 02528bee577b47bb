//! Failed answers of providers: errors, redirects, web pages, and truncated answers.

use eval_format::__private::parse_value;
use eval_support::message::cut;
use eval_support::secrets::mask;
use eval_support::untrusted::one_line;
use eval_support::variables::MODELS_FAILURES;

use crate::recording::{Answer, Body};
use crate::sse::Splitter;
use crate::wire::Wire;

/// Characters of an answer that are shown.
const MAX_SHOWN_CHARS: usize = 80;

/// The reason why an answer is a failure, which a retry may cure.
pub(super) fn failure_of(answer: &Answer, wire: Wire) -> Option<String> {
    if answer.status >= 400 {
        let said = shown(answer, 300);
        let status = answer.status;
        return Some(format!(
            "the provider answered {status}: {said} ({MODELS_FAILURES}=keep records such answers)"
        ));
    }
    if let Body::Events(events) = &answer.body
        && !events.is_empty()
        && Wire::broke(events)
    {
        return Some("the stream of the provider ended in an error".to_owned());
    }
    let what = not_an_answer(answer, wire)?;
    let kind = match &answer.body {
        Body::Json(_) => "application/json",
        Body::Events(_) => "text/event-stream",
        Body::Text { kind, .. } => kind,
    };
    Some(format!(
        "the provider answered {} ({}), which is not a model's answer: {what}: {} ({MODELS_FAILURES}=keep records such answers)",
        answer.status,
        one_line(&cut(kind, MAX_SHOWN_CHARS)),
        shown(answer, MAX_SHOWN_CHARS),
    ))
}

/// The fault of an answer that is no error by its status.
fn not_an_answer(answer: &Answer, wire: Wire) -> Option<&'static str> {
    match &answer.body {
        Body::Json(value) => Wire::is_error(value).then_some("it is an error"),
        Body::Events(events) if events.is_empty() => Some("it has no events"),
        Body::Events(events) => (!wire.is_whole(events)).then_some("the stream lacks its end"),
        Body::Text { text, .. } if text.trim().is_empty() => Some("it is empty"),
        Body::Text { kind, .. } if kind.starts_with("application/json") => {
            Some("its JSON is malformed or truncated")
        }
        // Some servers give their answers another type.
        Body::Text { text, .. } => match parse_value(text) {
            Ok(value) => Wire::is_error(&value).then_some("it is an error"),
            Err(_) if is_whole_stream(text, wire) => None,
            Err(_) => Some("it is not JSON"),
        },
    }
}

fn is_whole_stream(text: &str, wire: Wire) -> bool {
    let mut splitter = Splitter::default();
    let mut events = splitter.push(text.as_bytes());
    events.extend(splitter.finish());
    events.iter().any(|event| event.json().is_some()) && wire.is_whole(&events)
}

/// The beginning of an answer, without secrets.
fn shown(answer: &Answer, most: usize) -> String {
    let said = match &answer.body {
        Body::Json(value) => value.to_string(),
        Body::Text { text, .. } => text.clone(),
        Body::Events(events) => events.iter().map(|event| event.to_wire().replace('\n', " ")).collect(),
    };
    if said.is_empty() { "(nothing)".to_owned() } else { one_line(&cut(&mask(&said), most)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: &str, text: &str) -> Body {
        Body::Text { kind: kind.to_owned(), text: text.to_owned() }
    }

    fn json(text: &str) -> Body {
        Body::Json(parse_value(text).unwrap())
    }

    fn events(text: &str) -> Body {
        Body::Events(Splitter::default().push(text.as_bytes()))
    }

    #[test]
    fn what_is_no_answer_is_told_with_its_status_type_and_begin() {
        for (body, expected) in [
            (
                text("text/html", "<html>log in</html>"),
                "(text/html), which is not a model's answer: it is not JSON: <html>log in</html> (",
            ),
            (
                text("application/json", ""),
                "(application/json), which is not a model's answer: it is empty: ",
            ),
            (
                text("application/json", "{\"choices\":[{"),
                "its JSON is malformed or truncated: {\"choices\":[{ (",
            ),
            (
                json(r#"{"error":{"message":"overloaded"}}"#),
                r#"it is an error: {"error":{"message":"overloaded"}} ("#,
            ),
            (json(r#"[{"candidates":[1]},{"error":{"code":503}}]"#), "it is an error: [{"),
            (json(r#"{"status":"failed","error":{"code":"x"},"output":[]}"#), "it is an error: "),
            (events(""), "it has no events: (nothing) ("),
            (events("data: {\"choices\":[{\"delta\":{}}]}\n\n"), "the stream lacks its end: data: {"),
        ] {
            let answer = Answer { run: 1, status: 200, headers: Vec::new(), body };
            let failure = failure_of(&answer, Wire::OpenAiChat).unwrap_or_default();
            assert!(failure.starts_with("the provider answered 200 ("), "{failure}");
            assert!(failure.contains(expected), "{expected}: {failure}");
        }
        let key = ["sk-proj-", "abcdefghijklmnopqrstuvwxyz0123456789ABCD"].concat();
        let answer = Answer { run: 1, status: 200, headers: Vec::new(), body: text("text/plain", &key) };
        let failure = failure_of(&answer, Wire::OpenAiChat).unwrap_or_default();
        assert!(!failure.contains("abcdefghij"), "{failure}");
    }

    #[test]
    fn what_servers_send_as_an_answer_is_one() {
        let chat = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
        for (wire, body) in [
            (Wire::OpenAiChat, json(r#"{"choices":[{"message":{}}],"error":null}"#)),
            (Wire::OpenAiChat, json(r#"{"choices":[{"message":{}}],"error":{"code":1}}"#)),
            (Wire::OpenAiChat, text("text/plain", r#"{"choices":[{"message":{}}]}"#)),
            (Wire::OpenAiChat, text("text/plain", chat)),
            (Wire::OpenAiChat, events(chat)),
            (Wire::OpenAiChat, events("data: {}\n\ndata: [DONE]\n\n")),
            (Wire::OpenAiResponses, json(r#"{"error":null,"output":[],"status":"completed"}"#)),
            (Wire::OpenAiResponses, events("data: {\"type\":\"response.incomplete\"}\n\n")),
            (Wire::Anthropic, events("data: {\"type\":\"message_stop\"}\n\n")),
            (
                Wire::Anthropic,
                events("data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n"),
            ),
            (Wire::Gemini, events("data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n")),
            (Wire::Gemini, events("data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n")),
            (Wire::Gemini, json(r#"{"totalTokens":7}"#)),
            (Wire::Models, json(r#"{"data":[]}"#)),
        ] {
            let answer = Answer { run: 1, status: 200, headers: Vec::new(), body };
            assert_eq!(failure_of(&answer, wire), None, "{answer:?}");
        }
    }
}
