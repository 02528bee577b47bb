//! Problems: mistakes in a file, each with its place and its remedy.
//!
//! ```
//! use eval_format::EvalSet;
//! use eval_format::problem::{ProblemCode, line_column, render};
//!
//! let text = "{\n  \"eval_set_id\": \"s\",\n  \"eval_cases\": []\n}";
//! let problems = EvalSet::parse(text).unwrap_err();
//! for problem in problems.iter() {
//!     assert_eq!(problem.code, ProblemCode::NoCases);
//!     assert_eq!(line_column(text, problem.range.start), (3, 17));
//!     assert!(render(problem, "evals/weather.evalset.json", text).starts_with("the set has no cases\n"));
//! }
//! ```
//!
//! All problems of a file are collected. `Display` of [`Problems`] renders them as rustc would.

mod code;
pub(crate) mod finding;
mod names;
mod path;
mod positions;
pub(crate) mod problems;
mod render;

pub use code::{ProblemCode, Severity};
pub(crate) use finding::Problem;
pub(crate) use finding::in_order_of_places;
pub(crate) use names::{code_list, short, shown};
pub use path::{JsonPath, PathSegment};
pub(crate) use positions::Position;
#[doc(hidden)]
pub use positions::Positions;
pub(crate) use problems::Problems;
#[doc(hidden)]
pub use render::render_with_level;
pub use render::{line_column, render};
