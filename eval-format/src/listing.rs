//! How a test binary names the tests that its attributes made, so that a reader of the binary finds them.
//!
//! The attribute puts a text into the binary for each set; it is never read at run time. The journal of a run that was
//! killed cannot tell of tests that never began, and the binary can.

/// What the text of a set begins with. ` run` or ` ignored`, the path of the module and a line break follow, then a test on
/// each line.
pub const LISTING_BEGIN: &str = "\n#evalset-tests-1 ";
/// What the text of a set ends with.
pub const LISTING_END: &str = "#evalset-tests-end\n";
