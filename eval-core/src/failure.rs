//! What a failing test prints: what failed, where it stands in the JSON, the numbers, the turns, the commands.
//!
//! One failing case takes at most about 40 lines. Long texts and long lists are cut, and say by how much.

mod differ;
mod lines;
mod print;
mod record;
mod rerun;
mod table;
mod text;
mod trajectory;
mod turns;

pub(crate) use print::Print;
#[cfg(feature = "judges")]
pub(crate) use rerun::rerun_command;
pub(crate) use text::{failing, harness, headline, passing, reason, skipped, stale, texts};
