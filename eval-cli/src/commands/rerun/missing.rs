//! Tests of a record that no longer exist.

use eval_support::words::short_code_list;

use super::cargo_tests::CargoTests;
use super::notice::{asking_for_tests, notice};
use super::targets::Targets;

/// Names the chosen tests that no longer exist. Returns whether there are any: for these, cargo would run no test and
/// succeed.
pub(super) fn tell(chosen: &CargoTests<'_>, targets: &Targets, more: &[String]) -> bool {
    let mut missing = Vec::new();
    for (binary, names) in chosen.iter() {
        asking_for_tests(binary);
        // If the binary cannot be built, cargo says why when it is to run the tests.
        if let Some(all) = targets.all(binary, more) {
            missing.extend(names.iter().filter(|name| !all.contains(*name)).cloned());
        }
    }
    if !missing.is_empty() {
        let names = short_code_list(&missing);
        notice(&format!("not run again, as there is no such test any more: {names}"));
    }
    !missing.is_empty()
}
