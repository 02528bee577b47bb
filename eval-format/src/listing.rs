//! Lists of tests in a test binary: the names of the tests that its attributes made, for a reader of the binary.
//!
//! The attribute puts a text into the binary for each set; it is never read at run time. The journal of a killed run
//! lacks the tests that never began, and the binary has them.

/// The begin of the text of a set. ` run` or ` ignored`, the path of the module and a line break follow, then a test on
/// each line.
pub const LISTING_BEGIN: &str = "\n#evalset-tests-1 ";
/// The end of the text of a set.
pub const LISTING_END: &str = "#evalset-tests-end\n";
