//! Parts shared by the tests of the metrics, and the judged metrics compared with google-adk.

pub(super) mod computed;
mod decides;
#[cfg(feature = "judges")]
mod hostile;
#[cfg(feature = "judges")]
pub(super) mod judged;
#[cfg(feature = "judges")]
mod judged_vectors;
