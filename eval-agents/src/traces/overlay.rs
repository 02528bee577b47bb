//! The view of a span, over all conventions: a file for each source.
//!
//! Each value is taken from the best source that has it, in the order of [`Source`]. A list of messages comes from one source
//! as a whole.

mod adk;
mod current;
mod filler;
mod message_events;
mod openinference;
mod openllmetry;
mod tool_spans;

use super::attributes::{Attributes, text};
use super::copies::Copies;
use super::view::{Identity, Source, View};
pub(super) use filler::Event;
use filler::Filler;
use message_events::MessageEvent;
pub(super) use tool_spans::named;

/// The event with all content of a model call.
pub(super) const DETAILS: &str = "gen_ai.client.inference.operation.details";

const EXCEPTION: &str = "gen_ai.client.operation.exception";

pub(super) const ADK_SCOPE: &str = "gcp.vertex.agent";

/// The scope of the spans of `LangChain` under `OpenInference`. Its tool spans have no arguments by name.
pub(super) const LANGCHAIN_SCOPE: &str = "openinference.instrumentation.langchain";

const PREFIXES: &[&str] = &[
    "gen_ai.",
    "gcp.vertex.agent.",
    "openinference.",
    "llm.",
    tool_spans::TRACELOOP_KIND,
    tool_spans::MCP_METHOD,
    tool_spans::VERCEL_TOOL,
    tool_spans::LANGFUSE_KIND,
];

pub(super) fn view(
    name: &str,
    attributes: &Attributes,
    events: &[Event],
    copies: &mut Copies,
) -> Option<View> {
    let is_about = attributes.keys().any(|key| PREFIXES.iter().any(|prefix| key.starts_with(prefix)));
    let is_named = named(name).is_some();
    if !is_about && !is_named && !events.iter().any(|event| event.name.starts_with("gen_ai.")) {
        return None;
    }
    let mut view = View::default();
    view.is_adk = attributes.keys().any(|key| key.starts_with("gcp.vertex.agent."));
    let mut filler = Filler { view: &mut view, copies };
    current::apply(&mut filler, attributes);
    openllmetry::apply(&mut filler, attributes);
    openinference::apply(&mut filler, attributes);
    tool_spans::apply(&mut filler, name, attributes);
    if view.is_adk {
        adk::apply(&mut Filler { view: &mut view, copies }, attributes);
    }
    view.is_ignored = name == adk::MERGED_SPAN || view.tool().name.as_deref() == Some(adk::MERGED_TOOL);
    add_events(&mut view, events, false, copies);
    Some(view)
}

pub(super) fn add_events(view: &mut View, events: &[Event], are_logs: bool, copies: &mut Copies) {
    let (details, messages) = if are_logs {
        (Source::DetailsLog, Source::MessageLog)
    } else {
        (Source::DetailsEvent, Source::MessageEvent)
    };
    view.has_exception |= events.iter().any(|event| event.name == EXCEPTION);
    let mut filler = Filler { view, copies };
    for event in events.iter().filter(|event| event.name == DETAILS) {
        filler.content(details, &event.attributes);
        filler.scalars(details, &event.attributes);
    }
    let of_messages: Vec<MessageEvent<'_>> = events.iter().filter_map(MessageEvent::from_event).collect();
    if !of_messages.is_empty() {
        message_events::apply(&mut filler, messages, of_messages);
    }
}

pub(super) fn identity(attributes: &Attributes) -> Option<Identity> {
    // Names are chosen by others. A name that is long or cannot be printed is not taken.
    let key = |name: &str| {
        let value = attributes.get(name).filter(|value| value.as_bool().is_none()).and_then(text)?;
        let value = value.trim();
        let is_fit = !value.is_empty() && value.chars().count() <= 256 && !value.contains(char::is_control);
        is_fit.then(|| value.into())
    };
    let identity = Identity {
        session_name: key("agentevals.session_name"),
        conversation_id: key("gen_ai.conversation.id"),
        session_id: key("session.id"),
        adk_session_id: key("gcp.vertex.agent.session_id"),
        case_id: key("agentevals.eval.case.id"),
    };
    (identity != Identity::default()).then_some(identity)
}

#[cfg(test)]
mod tests {
    use eval_core::format::Value;

    use super::*;

    fn of(name: &str, attributes: &[(&str, &str)]) -> Option<View> {
        let attributes =
            attributes.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))).collect();
        view(name, &attributes, &[], &mut Copies::default())
    }

    #[test]
    fn the_span_of_adk_that_stands_for_several_is_ignored_by_its_name_or_by_its_tool() {
        let is_ignored = |name, tool| {
            let attributes = [("gen_ai.operation.name", "execute_tool"), ("gen_ai.tool.name", tool)];
            of(name, &attributes).unwrap().is_ignored
        };
        assert!(is_ignored("execute_tool (merged)", "f") && is_ignored("execute_tool x", "(merged tools)"));
        assert!(!is_ignored("execute_tool f", "f"));
    }

    #[test]
    fn a_span_is_looked_at_by_its_attributes_its_events_or_the_name_of_a_tool() {
        for (name, key) in [("x", "gen_ai.system"), ("x", "llm.model_name"), ("x", "mcp.method.name")] {
            assert!(of(name, &[(key, "y")]).is_some(), "{key}");
        }
        assert!(of("execute_tool f", &[]).is_some());
        assert!(of("GET /", &[("http.route", "/")]).is_none() && of("execute_tool", &[]).is_none());
        let event = |name: &str| Event {
            name: name.to_owned(),
            time: 0,
            attributes: Attributes::new(),
            body: Value::Null,
        };
        let by_event = |name| view("x", &Attributes::new(), &[event(name)], &mut Copies::default()).is_some();
        assert!(by_event("gen_ai.choice") && !by_event("exception"));
        assert!(!of("x", &[("gen_ai.system", "y")]).unwrap().is_adk);
        assert!(of("x", &[("gcp.vertex.agent.event_id", "y")]).unwrap().is_adk);
    }

    #[test]
    fn a_span_with_a_model_its_provider_and_a_call_records_a_call() {
        let model = ("gen_ai.request.model", "m");
        let provider = ("gen_ai.provider.name", "p");
        let records = |attributes: &[(&str, &str)]| of("x", attributes).unwrap().records_a_call;
        for call in [
            "gen_ai.usage.input_tokens",
            "gen_ai.prompt.0.content",
            "gen_ai.completion.0.content",
            "gen_ai.input.messages",
            "gen_ai.output.messages",
        ] {
            assert!(records(&[model, provider, (call, "1")]), "{call}");
            assert!(records(&[model, ("gen_ai.system", "p"), (call, "1")]), "{call}");
            assert!(!records(&[model, (call, "1")]) && !records(&[provider, (call, "1")]), "{call}");
        }
        assert!(!records(&[model, provider, ("gen_ai.agent.name", "a")]));
    }

    #[test]
    fn arguments_and_results_are_read_as_json_or_as_text_unless_they_were_left_out_or_cut() {
        use super::super::message::NoContent::{NotCaptured, Unreadable};
        let args = |text: &str| {
            let view = of("x", &[("gen_ai.tool.name", "f"), ("gen_ai.tool.call.arguments", text)]).unwrap();
            let args = &view.tool().args;
            args.get().map(ToString::to_string).ok_or(args.missing)
        };
        for (text, expected) in
            [(r#" {"a": 1}"#, r#"{"a":1}"#), ("[1]", "[1]"), ("Oslo", r#""Oslo""#), ("7", "7"), ("{}", "{}")]
        {
            assert_eq!(args(text), Ok(expected.to_owned()), "{text}");
        }
        for (text, why) in [
            (r#"{"a": "#, Unreadable),
            ("[1", Unreadable),
            ("<elided>", NotCaptured),
            ("<not specified>", NotCaptured),
        ] {
            assert_eq!(args(text), Err(Some(why)), "{text}");
        }
        let result = |text: &str| {
            let view = of("x", &[("gen_ai.tool.name", "f"), ("gen_ai.tool.call.result", text)]).unwrap();
            let result = &view.tool().result;
            result.get().map(ToString::to_string).ok_or(result.missing)
        };
        for (text, expected) in [
            ("grey", r#""grey""#),
            (r#"{"result": "grey"}"#, r#"{"result":"grey"}"#),
            (r#"{"result": "<elided>", "more": 1}"#, r#"{"more":1,"result":"<elided>"}"#),
        ] {
            let found = result(text).map(|found| Value::parse(&found).unwrap());
            assert_eq!(found, Ok(Value::parse(expected).unwrap()), "{text}");
        }
        for text in [r#"{"result": "<elided>"}"#, "<elided>", "<not specified>", r#""<elided>""#] {
            assert_eq!(result(text), Err(Some(NotCaptured)), "{text}");
        }
        let named = |name| of("x", &[("gen_ai.tool.name", name), ("gen_ai.tool.call.id", name)]).unwrap();
        assert!(
            named("<not specified>").tool().name.is_none()
                && named("<not specified>").tool().call_id.is_none()
        );
        assert_eq!(
            (named("f").tool().name.as_deref(), named("f").tool().call_id.as_deref()),
            (Some("f"), Some("f"))
        );
    }

    #[test]
    fn what_records_of_logs_say_is_less_than_what_events_of_the_span_say() {
        let of_model = |model: &str| Event {
            name: DETAILS.to_owned(),
            time: 0,
            attributes: Attributes::from([("gen_ai.request.model".to_owned(), Value::from(model))]),
            body: Value::Null,
        };
        let model = |events: [(&str, bool); 2]| {
            let mut view = View::default();
            for (name, is_log) in events {
                add_events(&mut view, &[of_model(name)], is_log, &mut Copies::default());
            }
            view.model().request_model.get().map(ToString::to_string)
        };
        assert_eq!(model([("log", true), ("event", false)]).as_deref(), Some("event"));
        assert_eq!(model([("event", false), ("log", true)]).as_deref(), Some("event"));
        assert_eq!(model([("first", true), ("second", true)]).as_deref(), Some("first"));
    }

    #[test]
    fn a_name_that_is_known_is_kept() {
        let openinference = [
            ("openinference.span.kind", "TOOL"),
            ("gen_ai.tool.name", "known"),
            ("tool.name", "other"),
            ("gen_ai.agent.name", "first"),
            ("agent.name", "second"),
        ];
        let view = of("x", &openinference).unwrap();
        assert_eq!((view.tool().name.as_deref(), view.agent.as_deref()), (Some("known"), Some("first")));
        let view = of("x", &[openinference[0], openinference[2], openinference[4]]).unwrap();
        assert_eq!((view.tool().name.as_deref(), view.agent.as_deref()), (Some("other"), Some("second")));
    }

    #[test]
    fn names_of_conversations_are_short_and_can_be_printed() {
        let named = |value: Value| identity(&Attributes::from([("session.id".to_owned(), value)])).is_some();
        assert!(named(" s ".into()) && named(Value::parse("7").unwrap()) && named("é".repeat(256).into()));
        for no_name in [Value::from(" "), "é".repeat(257).into(), "a\nb".into(), true.into()] {
            assert!(!named(no_name.clone()), "{no_name}");
        }
        assert_eq!(identity(&Attributes::new()), None);
    }
}
