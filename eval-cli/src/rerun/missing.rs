//! Tests of a record that are there no more.

use super::targets::Targets;
use super::{ByBinary, notice, tell_asking};
use crate::words::short_code_list;

/// Names them, and says whether there are any: cargo would run none of that name, and call it a pass.
pub(super) fn tell(by_binary: &ByBinary<'_>, targets: &Targets, more: &[String]) -> bool {
    let mut missing = Vec::new();
    for ((package, binary), names) in by_binary {
        tell_asking(package, binary);
        // Where nothing can be built, cargo says why when it is to run it.
        if let Some(all) = targets.all(package, binary, more) {
            missing.extend(names.iter().filter(|name| !all.contains(*name)).cloned());
        }
    }
    if !missing.is_empty() {
        let names = short_code_list(&missing);
        notice(&format!("not run again, as there is no such test any more: {names}"));
    }
    !missing.is_empty()
}
