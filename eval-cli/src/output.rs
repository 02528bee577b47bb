//! What commands print, and how they end.

mod answer;

pub(crate) use answer::{Answer, Format};
#[cfg(feature = "serve")]
pub(crate) use eval_report::output::time;
pub(crate) use eval_report::output::{
    CommandError, Outcome, again, json, read, style, tell, unreadable, width,
};
pub(crate) use eval_support::secrets::{hide, mask};
