//! Agents that were not reached.

use std::error::Error;
use std::fmt;

/// The error of an agent that was not reached. The agent never got the message, so a retry cannot do anything
/// twice.
///
/// Examples are a refused connection, and a proxy's answer that its server is away (502, 503). It is returned as the
/// error of [`Agent::start`](super::Agent::start) or [`Agent::turn`](super::Agent::turn), alone or as a source of
/// another error:
///
/// ```
/// use eval_core::BoxError;
/// use eval_core::agent::Unreachable;
///
/// async fn send(message: &str) -> Result<String, BoxError> {
/// #   async fn connect() -> Result<(), std::io::Error> { Err(std::io::Error::other("refused")) }
///     let connection = connect().await.map_err(|error| Unreachable::new(format!("no connection: {error}")))?;
///     // ..
/// #   let _ = (connection, message);
/// #   Ok(String::new())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreachable(String);

impl Unreachable {
    /// An error with this text.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Whether an error is an `Unreachable`, or has one as a source.
    pub fn is_in(error: &(dyn Error + 'static)) -> bool {
        let mut next = Some(error);
        while let Some(error) = next {
            if error.is::<Self>() {
                return true;
            }
            // `source` of an I/O error skips the error that it wraps.
            next = match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
                Some(wrapped) => Some(wrapped),
                None => error.source(),
            };
        }
        false
    }
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Unreachable {}
