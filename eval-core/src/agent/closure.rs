//! Agents from closures.

use std::borrow::Cow;
use std::future::Future;

use eval_format::Content;
use eval_format::options::DEFAULT_AUTHOR;

use super::boxed::BoxError;
use super::event::Event;
use super::interface::Agent;
use super::recorder::Recorder;
use super::turn::Turn;

/// An agent from a closure that begins to answer a turn.
struct FnAgent<F>(F);

/// An agent from a closure that answers the text of a message.
///
/// ```
/// use eval_core::{BoxError, Recorder, agent_fn, json};
///
/// let agent = agent_fn(|text, _| async move { format!("You said: {text}") });
/// # let _ = agent;
///
/// /// A function can use `?`: its errors are errors of the turn.
/// async fn answer(city: String, recorder: Recorder) -> Result<String, BoxError> {
///     let sky = recorder.tool("forecast", json!({ "city": city }), forecast(&city)).await?;
///     Ok(format!("It is {sky}."))
/// }
///
/// async fn forecast(city: &str) -> Result<String, BoxError> {
///     Ok(format!("sunny in {city}"))
/// }
///
/// let agent = agent_fn(answer);
/// # let _ = agent;
/// ```
///
/// The closure is given the text of the message and the turn's [`Recorder`]. The answer that it returns is recorded:
/// text, or whatever else [is an answer](IntoAnswer). State that lasts from turn to turn lives in what the closure
/// captures.
///
/// A message with other parts, such as an image, is an error, since the closure would not see them: [`turn_fn`] takes a
/// closure of the whole turn.
///
/// A closure that uses `?` has to name its error type. An async closure can declare its return type, but it
/// must not borrow from its captures. An `async` block ends with `Ok::<_, BoxError>(answer)`.
///
/// ```
/// use eval_core::{BoxError, Recorder, agent_fn};
///
/// let agent = agent_fn(async |text: String, _: Recorder| -> Result<String, BoxError> {
///     let sum: u64 = text.parse::<u64>()? + 1;
///     Ok(format!("The next one is {sum}."))
/// });
/// # let _ = agent;
/// ```
pub fn agent_fn<F, Fut, R>(answer: F) -> impl Agent
where
    F: FnMut(String, Recorder) -> Fut + Send,
    Fut: Future<Output = R> + Send,
    R: IntoAnswer,
{
    let mut answer = answer;
    FnAgent(move |turn: &Turn<'_>| Ok(answer(turn.only_text()?, turn.recorder().clone())))
}

/// An agent from a closure that answers a whole turn: its message with all parts, and its recorder.
///
/// ```
/// use eval_core::{Turn, turn_fn};
///
/// let agent = turn_fn(|turn| async move { format!("You sent {} parts.", turn.content().parts().len()) });
/// # let _ = agent;
///
/// /// The same as a function.
/// async fn answer(turn: Turn<'static>) -> String {
///     format!("You sent {} parts.", turn.content().parts().len())
/// }
///
/// let agent = turn_fn(answer);
/// # let _ = agent;
/// ```
///
/// The answer that the closure returns is recorded, as for [`agent_fn`]. The closure owns the turn and can
/// move it into tools; none of them may outlive the turn.
pub fn turn_fn<F, Fut, R>(answer: F) -> impl Agent
where
    F: FnMut(Turn<'static>) -> Fut + Send,
    Fut: Future<Output = R> + Send,
    R: IntoAnswer,
{
    let mut answer = answer;
    FnAgent(move |turn: &Turn<'_>| Ok(answer(turn.clone().into_owned())))
}

impl<F, Fut, R> Agent for FnAgent<F>
where
    F: FnMut(&Turn<'_>) -> Result<Fut, BoxError> + Send,
    Fut: Future<Output = R> + Send,
    R: IntoAnswer,
{
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let answer = (self.0)(turn)?;
        // A separate statement, so that no value that is not `Send` is held across an await.
        let answer = answer.await.into_answer()?;
        if let Some(content) = answer {
            turn.recorder().event(Event::new(DEFAULT_AUTHOR, content));
        }
        Ok(())
    }
}

/// The result of a closure of [`agent_fn`](super::agent_fn) or [`turn_fn`](super::turn_fn).
///
/// | it returns | which is |
/// | --- | --- |
/// | `String`, `&str`, `Cow<str>`, `Box<str>` | the text of the answer |
/// | [`Content`] | an answer of several parts |
/// | `()` | an answer that was recorded already |
/// | `Result` of one of these | the answer, or an error of the turn; `?` must convert the error into [`BoxError`] |
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an answer",
    label = "this is returned where an answer is expected",
    note = "return text (`String`, `&str`), a `Content`, or `()` if the answer was recorded",
    note = "or a `Result` of one of them, with an error that `?` converts into `BoxError`"
)]
pub trait IntoAnswer {
    /// The answer; `None` if it was recorded already.
    fn into_answer(self) -> Result<Option<Content>, BoxError>;
}

impl IntoAnswer for Content {
    fn into_answer(self) -> Result<Option<Content>, BoxError> {
        Ok(Some(self))
    }
}

impl IntoAnswer for () {
    fn into_answer(self) -> Result<Option<Content>, BoxError> {
        Ok(None)
    }
}

macro_rules! texts {
    ($($kind:ty),*) => {
        $(
            impl IntoAnswer for $kind {
                fn into_answer(self) -> Result<Option<Content>, BoxError> {
                    Ok(Some(Content::model(self)))
                }
            }
        )*
    };
}

texts!(String, &str, Cow<'_, str>, Box<str>);

impl<A: IntoAnswer, E: Into<BoxError>> IntoAnswer for Result<A, E> {
    fn into_answer(self) -> Result<Option<Content>, BoxError> {
        self.map_err(Into::into)?.into_answer()
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use eval_format::{Content, Part};
    use serde_json::json;

    use super::*;

    /// The answer of an agent to one message.
    fn answer_to(message: Content, mut agent: impl Agent) -> Result<Vec<Event>, String> {
        let turn = Turn::from(message);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(agent.turn(&turn)).map_err(|error| error.to_string())?;
        Ok(turn.recorder().events())
    }

    fn answer(agent: impl Agent) -> Result<Vec<Event>, String> {
        answer_to(Content::user("hi"), agent)
    }

    #[test]
    fn plain_values_and_results_are_answers() {
        async fn with_io(text: String, _: Recorder) -> Result<String, std::io::Error> {
            Ok(text)
        }
        let expected = Ok(vec![Event { at: std::time::Duration::ZERO, ..Event::from("hi") }]);
        let untimed = |answer: Result<Vec<Event>, String>| {
            answer.map(|events| {
                events.into_iter().map(|event| Event { at: std::time::Duration::ZERO, ..event }).collect()
            })
        };
        for (answered, what) in [
            (answer(agent_fn(|text, _| async move { text })), "String"),
            (answer(agent_fn(|_, _| async { "hi" })), "&str"),
            (answer(agent_fn(|_, _| async { Cow::from("hi") })), "Cow"),
            (answer(agent_fn(|text, _| async move { Content::model(text) })), "Content"),
            (answer(agent_fn(|text, recorder| async move { recorder.text(text) })), "recorded"),
            (answer(agent_fn(|text, _| async move { Ok::<_, BoxError>(text) })), "Result"),
            (answer(agent_fn(with_io)), "a function with an error of its own"),
            (answer(agent_fn(async |text: String, _: Recorder| text)), "an async closure"),
            (
                answer(agent_fn(async |text: String, _: Recorder| -> Result<String, BoxError> {
                    Ok(String::from_utf8(text.into_bytes())?)
                })),
                "an async closure with `?`",
            ),
            (answer(turn_fn(|turn| async move { turn.text() })), "a turn"),
            (answer(turn_fn(|turn| async move { turn.recorder().text("hi") })), "a turn, recorded"),
        ] {
            assert_eq!(untimed(answered), expected, "{what}");
        }
        let failed = answer(agent_fn(|_, _| async { Err::<String, _>("no model") }));
        assert_eq!(failed, Err("no model".to_owned()));
    }

    #[test]
    fn parts_that_are_not_text_are_not_lost_to_a_closure_of_text() {
        let image =
            || Part::default().with_other("inline_data", json!({ "data": "aGk=", "mime_type": "image/png" }));
        let message = || Content::new("user", vec![Part::text("What is this?"), image()]);
        let error = answer_to(message(), agent_fn(|text, _| async move { text })).unwrap_err();
        assert!(error.starts_with("the user's message has a part `inline_data`"), "{error}");
        assert!(error.contains("`turn_fn`"), "{error}");

        let parts = turn_fn(|turn| async move { turn.content().parts().len().to_string() });
        let answered = answer_to(message(), parts).unwrap();
        assert_eq!(answered[0].content.as_ref().map(Content::text).as_deref(), Some("2"));

        // A key that only describes the text hides nothing from the closure.
        let signed = Part::text("hi").with_other("thought_signature", "c2lnbmVk");
        let signed = Content::new("user", vec![signed]);
        assert!(answer_to(signed, agent_fn(|text, _| async move { text })).is_ok());
    }
}
