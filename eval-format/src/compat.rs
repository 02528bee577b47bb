//! Compatibility of a config with the cases of a set. Neither file shows it alone.
//!
//! [`check_compatibility`] finds the cases that no metric of the config decides, and metrics without the rubrics that
//! they read. [`check_passable`] finds cases that no agent can pass. [`NotCompared`] counts expectations that no metric
//! of the config reads. [`check_needless`] finds rules of `_expect` that loosen nothing. [`check_tools`] finds expected
//! calls that golden tools cannot answer.
//!
//! ```
//! use eval_format::compat::check_compatibility;
//! use eval_format::{EvalCase, EvalConfig, TurnAggregation, Invocation};
//!
//! let cases = [EvalCase::new("greeting").turn(Invocation::user("Hi").response("Hello!"))];
//! assert!(check_compatibility(&EvalConfig::adk_default(), &[], TurnAggregation::Mean, &cases).is_empty());
//! ```

mod check;
mod decides;
mod incompatibility;
mod not_compared;
mod overlooked;
mod passable;
mod rubrics;
mod rules;
mod tools;

pub use check::check_compatibility;
pub use incompatibility::Incompatibility;
pub use not_compared::NotCompared;
pub use overlooked::OverlookedConfig;
pub use passable::check_passable;
pub use rules::check_needless;
pub use tools::check_tools;

#[cfg(test)]
mod tests;
