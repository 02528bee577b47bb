//! Tool calls that no metric would see.
//!
//! As in ADK, events of the author `user` are not the agent's. Fragments of a stream are left out, since a whole event
//! follows them. A call that stands only there was made all the same, so it is an error.

use eval_format::FunctionCall;

use crate::agent::Event;

/// Fails if a tool call stands only in events that are not scored.
pub(super) fn check(events: &[Event]) -> Result<(), String> {
    for (at, event) in events.iter().enumerate() {
        for call in event.calls() {
            if event.is_users() {
                return Err(format!(
                    "{} was recorded for the author `{}`, whose events are not scored, as in ADK; give the agent \
                     another name",
                    event.in_short(),
                    event.author
                ));
            }
            // The first fragments of a call may have no name yet.
            let name = call.name.as_deref().unwrap_or_default();
            let is_of = |whole: &FunctionCall| name.is_empty() || whole.name.as_deref() == Some(name);
            let follows = |later: &Event| !later.partial && !later.is_users() && later.calls().any(is_of);
            if event.partial && !events[at + 1..].iter().any(follows) {
                return Err(format!(
                    "{} was recorded in a fragment of a stream (`partial`), and no whole event with that call \
                     followed; fragments are not scored",
                    event.in_short()
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use eval_format::{Content, Part};
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
            assert_eq!(check(&events).is_ok(), is_scored, "{events:?}");
        }
        let error = check(&[fragment("f")]).unwrap_err();
        assert!(error.starts_with("the call `f()` was recorded in a fragment"), "{error}");
    }

    #[test]
    fn a_call_of_the_author_user_is_refused() {
        for author in ["user", "USER"] {
            let error = check(&[call(author, "delete_account")]).unwrap_err();
            let expected = format!("the call `delete_account()` was recorded for the author `{author}`");
            assert!(error.starts_with(&expected), "{error}");
        }
        assert_eq!(check(&[Event::new("user", Content::user("hi"))]), Ok(()));
    }
}
