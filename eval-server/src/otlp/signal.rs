//! What is exported, and that it cannot be read.

/// What is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Signal {
    Traces,
    Logs,
    /// Nothing of metrics is kept.
    Metrics,
}

/// Why an export cannot be read at all.
#[derive(Debug)]
pub(crate) struct Unreadable(pub(crate) String);
