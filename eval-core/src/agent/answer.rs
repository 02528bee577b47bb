//! What a closure that answers may return.

use std::borrow::Cow;

use eval_format::Content;

use super::boxed::BoxError;

/// What a closure of [`agent_fn`](super::agent_fn) or [`turn_fn`](super::turn_fn) returns.
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

/// Each kind of text.
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
