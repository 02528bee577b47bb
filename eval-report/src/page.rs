//! The page of a run: one HTML file with everything in it, and what it shows.
//!
//! Nothing here knows where runs are recorded, so that a server can show the same page. Everything foreign is in the model as
//! plain text. The template escapes it; the details of the cases are JSON, of which the script makes text nodes.

mod diff;
mod model;
mod plot;
mod render;
mod text;

pub use diff::{calls, words};
pub use model::{
    Call, CaseDetails, CaseRow, Count, Earlier, Fact, Judge, JudgedRubric, MetricLine, PageModel, Pill,
    Question, Run, RunScore, StateRow, Step, Turn, TurnScore,
};
pub use plot::{Histogram, PassRate, Point, Scatter, Spark};
pub use render::{Live, STYLE, live_policy, policy, render, render_live};
pub use text::{Anchors, line, text};
