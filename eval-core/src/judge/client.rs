//! Judges over HTTP.

mod faults;
mod http;
mod model_judge;
mod retrying;
mod secret;
mod slots;
mod wire;

pub use model_judge::ModelJudge;
pub use retrying::{default_judge, patient};
