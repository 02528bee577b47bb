//! Lists of tests in a test binary: the names of the tests that its attributes made, for a reader of the binary.
//!
//! The attribute puts a text for each set into the binary. A test process reads the texts from its own
//! binary, since the journal of a killed run lacks the tests that never began.

/// The begin of the text of a set. After it come `run` or `ignored`, a blank, the path of the module and a
/// line break, then a test on each line.
pub const LISTING_BEGIN: &str = "\n#evalset-tests-1 ";
/// The end of the text of a set.
pub const LISTING_END: &str = "#evalset-tests-end\n";
