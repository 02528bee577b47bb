//! Calls, results and changes of the state that no metric would see.
//!
//! As in ADK, metrics skip events of the author `user`, and fragments of a stream, since a whole event
//! follows them. A call that is in such events alone did happen, so it is an error. So is a call or a result
//! under a key that metrics do not read, and a result without a call.

use std::collections::HashSet;

use eval_format::{Content, FunctionCall, FunctionResponse, Part, Value};
use eval_support::message::cut;
use eval_support::untrusted::name as shown;

use crate::agent::Event;

/// Keys of parts for tools that run beside the model, such as a search.
const BESIDE_THE_MODEL: [&str; 4] = ["tool_call", "toolCall", "tool_response", "toolResponse"];

/// Texts in the keys of calls and results, in lower case and without other marks.
const CALLS: [&str; 6] =
    ["functioncall", "functionresponse", "toolcall", "tooluse", "toolresult", "toolresponse"];

const MAX_SHOWN_CHARS: usize = 200;

/// Fails if a call, a result or a change of the state is where no metric sees it. `earlier` are the calls of
/// earlier turns.
pub fn check<'t>(
    events: &'t [Event],
    earlier: impl IntoIterator<Item = &'t FunctionCall>,
) -> Result<(), String> {
    calls_and_changes(events)?;
    for event in events {
        if let Some((key, value)) = event.parts().iter().find_map(hidden) {
            return Err(format!(
                "`{}` recorded a part with the key `{}`, which no metric reads: {}; a call has the key `function_call`, and \
                 its result `function_response`",
                shown(&event.author),
                shown(key),
                shown(&cut(&value.to_string(), MAX_SHOWN_CHARS))
            ));
        }
    }
    results(events, earlier)
}

/// Notes on calls of tools that run beside the model, which no metric reads. As in ADK they are no error.
pub(super) fn notes(events: &[Event]) -> impl Iterator<Item = String> {
    let beside = |part: &Part| {
        let (key, value) = part.other.iter().find(|(key, _)| key.starts_with("tool_call"))?;
        let tool = value["tool_type"].as_str().unwrap_or("without a type");
        Some(format!(
            "a part `{key}` ({}) is read by no metric, as in ADK",
            shown(&cut(tool, MAX_SHOWN_CHARS))
        ))
    };
    events.iter().flat_map(Event::parts).filter_map(beside)
}

/// Fails if a call or a change of the state is only in events that are not scored. The events are read from
/// the end, so that the later events are known at each one.
fn calls_and_changes(events: &[Event]) -> Result<(), String> {
    let (mut called, mut changed): (HashSet<&str>, HashSet<&str>) = (HashSet::new(), HashSet::new());
    let mut any_call = false;
    let mut first = Ok(());
    for event in events.iter().rev() {
        let in_a_fragment = |what: &str, whole: &str| {
            format!(
                "{what} was recorded in a fragment of a stream (`partial`), and no whole event with {whole} followed; \
                 fragments are not scored"
            )
        };
        if event.is_users() {
            if event.calls().next().is_some() {
                first = Err(format!(
                    "{} was recorded for the author `{}`, whose events are not scored, as in ADK; give the agent another name",
                    event.in_short(),
                    event.author
                ));
            }
            continue;
        }
        // The first fragments of a call may have no name yet.
        let follows = |call: &FunctionCall| match call.name.as_deref().unwrap_or_default() {
            "" => any_call,
            name => called.contains(name),
        };
        if event.partial {
            let lost = event.state_delta.keys().find(|key| !changed.contains(key));
            if event.calls().any(|call| !follows(call)) {
                first = Err(in_a_fragment(&event.in_short(), "that call"));
            } else if let Some(key) = lost {
                first = Err(in_a_fragment(&format!("a change of the state `{}`", shown(key)), "that change"));
            }
            continue;
        }
        called.extend(event.calls().filter_map(|call| call.name.as_deref()));
        any_call |= event.calls().next().is_some();
        changed.extend(event.state_delta.keys());
    }
    first
}

/// The key and the value of a call or a result that a part holds under a key that no metric reads.
fn hidden(part: &Part) -> Option<(&str, &Value)> {
    part.other.iter().find(|(key, value)| {
        let is_of_a_function = || value.as_object().is_some_and(|it| it.contains_key("name"));
        let letters = || key.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase());
        let stands_for_a_call = || {
            let letters: String = letters().collect();
            CALLS.iter().any(|call| letters.contains(call))
        };
        // Most parts have no other key, so it is checked first.
        *key != "thought_signature"
            && if BESIDE_THE_MODEL.contains(key) { is_of_a_function() } else { stands_for_a_call() }
    })
}

fn results<'t>(
    events: &'t [Event],
    earlier: impl IntoIterator<Item = &'t FunctionCall>,
) -> Result<(), String> {
    let is_response = |event: &Event| event.parts().iter().any(|part| part.function_response.is_some());
    if !events.iter().any(is_response) {
        return Ok(());
    }
    let (mut ids, mut names): (HashSet<&str>, HashSet<&str>) = (HashSet::new(), HashSet::new());
    // Earlier turns are read for a result whose call is not in this one, so that each of many turns does not read all of them.
    let mut earlier = Some(earlier);
    let is_known = |response: &FunctionResponse, ids: &HashSet<&str>, names: &HashSet<&str>| {
        response.id.as_deref().is_some_and(|id| ids.contains(id))
            || response.name.as_deref().is_some_and(|name| names.contains(name))
    };
    for event in events {
        for part in event.parts() {
            if let Some(call) = &part.function_call {
                ids.extend(call.id.as_deref());
                names.extend(call.name.as_deref());
            }
            let response = part.function_response.as_ref().filter(|_| !event.is_users());
            let Some(response) = response.filter(|response| !is_known(response, &ids, &names)) else {
                continue;
            };
            for call in earlier.take().into_iter().flatten() {
                ids.extend(call.id.as_deref());
                names.extend(call.name.as_deref());
            }
            if !is_known(response, &ids, &names) {
                // The event may hold a call too, which is not the one that is missing.
                let alone = Event::new(&event.author, Content::new("user", vec![part.clone()]));
                return Err(format!(
                    "{} was recorded without its call, so no metric sees that the tool was called; a call comes before its \
                     result",
                    alone.in_short()
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use eval_format::Part;
    use serde_json::json;

    use super::*;

    fn call(author: &str, name: &str) -> Event {
        Event::new(author, Content::new("model", vec![Part::call(FunctionCall::new(name, json!({})))]))
    }

    fn fragment(name: &str) -> Event {
        call("a", name).with_partial(true)
    }

    #[test]
    fn a_call_in_a_fragment_needs_a_whole_one_after_it() {
        let nameless = Content::new("model", vec![Part::call(FunctionCall::default())]);
        let nameless = Event::new("a", nameless).with_partial(true);
        let text = Event::from("ok").with_partial(true);
        for (events, is_scored) in [
            (vec![fragment("f"), fragment("f"), call("a", "f")], true),
            (vec![text.clone(), nameless.clone(), call("a", "f")], true),
            (vec![text, nameless], false),
            (vec![fragment("f"), Event::from("ok")], false),
            (vec![call("a", "f"), fragment("f")], false),
            (vec![fragment("f"), call("a", "g")], false),
            (vec![fragment("f"), call("user", "f")], false),
        ] {
            assert_eq!(check(&events, &[]).is_ok(), is_scored, "{events:?}");
        }
        let error = check(&[fragment("f")], &[]).unwrap_err();
        assert!(error.starts_with("the call `f()` was recorded in a fragment"), "{error}");
    }

    #[test]
    fn a_call_of_the_author_user_is_refused() {
        for author in ["user", "USER"] {
            let error = check(&[call(author, "delete_account")], &[]).unwrap_err();
            let expected = format!("the call `delete_account()` was recorded for the author `{author}`");
            assert!(error.starts_with(&expected), "{error}");
        }
        assert_eq!(check(&[Event::new("user", Content::user("hi"))], &[]), Ok(()));
    }

    #[test]
    fn a_change_of_the_state_in_a_fragment_needs_a_whole_one_after_it() {
        let change = |partial: bool, key: &str| Event::empty("a").with_state(key, 1).with_partial(partial);
        for (events, is_seen) in [
            (vec![change(true, "k"), change(false, "k")], true),
            (vec![change(false, "k"), change(true, "k")], false),
            (vec![change(true, "k"), change(false, "l")], false),
        ] {
            assert_eq!(check(&events, &[]).is_ok(), is_seen, "{events:?}");
        }
        let error = check(&[change(true, "k")], &[]).unwrap_err();
        assert!(error.starts_with("a change of the state `k` was recorded in a fragment"), "{error}");
    }

    #[test]
    fn a_call_under_a_key_that_no_metric_reads_is_refused() {
        let of = |key: &str, value: serde_json::Value| {
            let part = Part::default().with_other(key, Value::from(value));
            vec![Event::new("a", Content::new("model", vec![part]))]
        };
        let call = || json!({ "name": "rm", "args": {} });
        for key in [
            "function_call",
            "functionCall",
            "toolCall",
            "tool_call",
            "tool_use",
            "function_calls",
            "ToolResult",
        ] {
            let error = check(&of(key, call()), &[]).unwrap_err();
            assert!(
                error.contains(&format!("a part with the key `{key}`, which no metric reads: {{")),
                "{error}"
            );
        }
        let search = of("tool_call", json!({ "tool_type": "GOOGLE_SEARCH_WEB", "args": {} }));
        assert_eq!(check(&search, &[]), Ok(()));
        let notes: Vec<String> = notes(&search).collect();
        assert_eq!(notes, ["a part `tool_call` (GOOGLE_SEARCH_WEB) is read by no metric, as in ADK"]);
        assert_eq!(check(&of("thought_signature", json!("c2ln")), &[]), Ok(()));
        assert_eq!(check(&of("inline_data", json!({ "name": "x" })), &[]), Ok(()));
    }

    #[test]
    fn a_result_needs_its_call_before_it() {
        let result = |name: &str, id: Option<&str>| {
            let mut response = FunctionResponse::new(name, json!({}));
            response.id = id.map(str::to_owned);
            Event::new("a", Content::new("user", vec![Part::response(response)]))
        };
        let with_id = |name: &str, id: &str| {
            let call = FunctionCall::new(name, json!({})).with_id(id);
            Event::new("a", Content::new("model", vec![Part::call(call)]))
        };
        for (events, is_seen) in [
            (vec![call("a", "f"), result("f", None)], true),
            (vec![with_id("f", "1"), result("other", Some("1"))], true),
            (vec![with_id("f", "1"), result("f", Some("2"))], true),
            (vec![result("f", None), call("a", "f")], false),
            (vec![call("a", "f"), result("g", None)], false),
            (vec![result("rm", Some("1"))], false),
        ] {
            assert_eq!(check(&events, &[]).is_ok(), is_seen, "{events:?}");
        }
        // A result may come in a later turn than its call.
        let earlier = [FunctionCall::new("f", json!({})).with_id("1")];
        assert_eq!(check(&[result("f", Some("1"))], &earlier), Ok(()));
    }
}
