//! Baselines: how often each case passed in the runs that a team has accepted, as a file to commit.
//!
//! A [`Baseline`] is JSON lines, one for each case. It holds no transcripts, so that it can be committed. Reports and recorded runs
//! are measured in the same form, so that a run, several runs and a file are compared in one way.

mod comparable;
mod file;
mod judges;
mod line;
mod measured;
mod mixed;
mod origin;
mod remarks;

#[doc(hidden)]
pub use comparable::incomparable;
pub(crate) use comparable::{changed, incomparable_case};
#[doc(hidden)]
pub use file::begins_as_baseline;
pub use file::{Baseline, BaselineError, ReadBaselineError};
pub use line::{Key, Line, MetricLine, Provenance};
pub use origin::Origin;

#[doc(hidden)]
pub use measured::{Checkout, Measured, key, measure, notes};
#[doc(hidden)]
pub use mixed::Mixed;
#[doc(hidden)]
pub use remarks::{remarks, shared_runs};
