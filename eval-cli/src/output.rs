//! What commands print, and how they end.

mod answer;

pub(crate) use answer::{Answer, Format};
pub(crate) use eval_core::__private::{hide, mask};
#[cfg(feature = "serve")]
pub(crate) use eval_report::output::time;
pub(crate) use eval_report::output::{
    CommandError, Outcome, again, foreign, json, read, shell, style, unreadable, width, words,
};
