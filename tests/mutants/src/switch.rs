//! Which mutant is on, and which ones were reached.

use std::collections::BTreeSet;
use std::env;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::path::Path;
use std::process;
use std::sync::{LazyLock, Mutex};

/// The number in the variable `MUTANT`; 0 if it is not set.
static ON: LazyLock<u32> = LazyLock::new(|| env::var("MUTANT").ok().and_then(|on| on.parse().ok()).unwrap_or(0));

/// The numbers reached so far, with the file of this process in the folder that `MUTANT_TRACE` names.
static REACHED: LazyLock<Option<Mutex<(BTreeSet<u32>, File)>>> = LazyLock::new(|| {
    let file = Path::new(&env::var_os("MUTANT_TRACE")?).join(format!("{}-{}", process::id(), env!("CARGO_PKG_NAME")));
    Some(Mutex::new((BTreeSet::new(), OpenOptions::new().create(true).append(true).open(file).ok()?)))
});

/// Whether a mutant is on.
pub fn on(number: u32) -> bool {
    if let Some(reached) = &*REACHED {
        let (numbers, file) = &mut *reached.lock().unwrap();
        if numbers.insert(number) {
            writeln!(file, "{number}").unwrap();
        }
    }
    *ON == number
}

pub fn flip(number: u32, value: bool) -> bool {
    on(number) != value
}

pub fn force_true(number: u32, value: bool) -> bool {
    on(number) || value
}

pub fn force_false(number: u32, value: bool) -> bool {
    !on(number) && value
}

pub fn less<A: PartialOrd<B>, B>(number: u32, left: &A, right: &B) -> bool {
    if on(number) { left <= right } else { left < right }
}

pub fn less_or_equal<A: PartialOrd<B>, B>(number: u32, left: &A, right: &B) -> bool {
    if on(number) { left < right } else { left <= right }
}

pub fn greater<A: PartialOrd<B>, B>(number: u32, left: &A, right: &B) -> bool {
    if on(number) { left >= right } else { left > right }
}

pub fn greater_or_equal<A: PartialOrd<B>, B>(number: u32, left: &A, right: &B) -> bool {
    if on(number) { left > right } else { left >= right }
}

pub fn add<A: Add<B, Output = O> + Sub<B, Output = O>, B, O>(number: u32, left: A, right: B) -> O {
    if on(number) { left - right } else { left + right }
}

pub fn sub<A: Add<B, Output = O> + Sub<B, Output = O>, B, O>(number: u32, left: A, right: B) -> O {
    if on(number) { left + right } else { left - right }
}

pub fn mul<A: Mul<B, Output = O> + Div<B, Output = O>, B, O>(number: u32, left: A, right: B) -> O {
    if on(number) { left / right } else { left * right }
}

pub fn div<A: Mul<B, Output = O> + Div<B, Output = O>, B, O>(number: u32, left: A, right: B) -> O {
    if on(number) { left * right } else { left / right }
}

pub fn add_assign<A: AddAssign<B> + SubAssign<B>, B>(number: u32, left: &mut A, right: B) {
    if on(number) { *left -= right } else { *left += right }
}

pub fn sub_assign<A: AddAssign<B> + SubAssign<B>, B>(number: u32, left: &mut A, right: B) {
    if on(number) { *left += right } else { *left -= right }
}
