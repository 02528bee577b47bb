//! Judges over HTTP.

mod address;
mod default_judge;
mod faults;
mod http;
mod limited;
mod model_judge;
mod retrying;
mod secret;
mod slots;
mod wire;
mod wires;

pub use default_judge::default_judge;
pub use limited::Limited;
pub use model_judge::ModelJudge;
pub use retrying::Retrying;
pub use slots::{Slot, Slots};
