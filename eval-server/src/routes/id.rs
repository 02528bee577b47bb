//! The id in the path of a request.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use crate::refusal::Refusal;

/// What stands in a path for `{id}`.
#[derive(Debug)]
pub(crate) struct Id(pub(crate) String);

/// What is no text is refused as all else is: axum's own refusal is no JSON.
impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(id)| Self(id))
            .map_err(|error| Refusal::bad(format!("the path: {}", error.body_text())))
    }
}
