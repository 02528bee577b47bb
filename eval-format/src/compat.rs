//! Whether a config and the cases of a set can be used together, which neither file tells alone.
//!
//! [`check_compatibility`] finds the cases that no metric of the config decides, and metrics without the rubrics that
//! they read.

mod case;
mod check;
mod incompatibility;
mod overlooked;
mod rubrics;

pub use check::check_compatibility;
pub use incompatibility::Incompatibility;
pub use overlooked::OverlookedConfig;

#[cfg(test)]
mod tests;
