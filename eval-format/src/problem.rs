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
mod path;
mod positions;
pub(crate) mod problems;
pub(crate) mod render;

pub use code::{ProblemCode, Severity};
use eval_support::message::truncated;
pub(crate) use finding::Problem;
pub(crate) use finding::in_order_of_places;
pub use path::{JsonPath, PathSegment};
pub(crate) use positions::Position;
#[doc(hidden)]
pub use positions::Positions;
pub(crate) use problems::Problems;
pub use render::{line_column, render};

/// Names longer than this are cut in messages and paths.
const MAX_NAME_CHARS: usize = 60;

/// A name cut to a length that fits into a line.
pub(crate) fn short(name: &str) -> String {
    truncated(name, MAX_NAME_CHARS, "...").into_owned()
}

/// A name as messages show it: short, and on one line.
pub(crate) fn shown(name: &str) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let mut out = String::new();
    for char in short(name).chars() {
        if breaks(char) { out.extend(char.escape_default()) } else { out.push(char) }
    }
    out
}

/// Names as messages list them: each in backquotes, with commas between them.
pub(crate) fn code_list(names: &mut dyn Iterator<Item = &str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_on_one_line() {
        assert_eq!(shown("conversation"), "conversation");
        assert_eq!(shown("a\nb\u{2028}é天"), r"a\nb\u{2028}é天");
        assert_eq!(shown(&"天".repeat(100)), format!("{}...", "天".repeat(MAX_NAME_CHARS)));
    }
}
