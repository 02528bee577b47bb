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
static ON: LazyLock<u32> =
    LazyLock::new(|| env::var("MUTANT").ok().and_then(|on| on.parse().ok()).unwrap_or(0));

/// The numbers reached so far, with the file of this process in the folder that `MUTANT_TRACE` names.
static REACHED: LazyLock<Option<Mutex<(BTreeSet<u32>, File)>>> = LazyLock::new(|| {
    let file = Path::new(&env::var_os("MUTANT_TRACE")?).join(format!(
        "{}-{}",
        process::id(),
        env!("CARGO_PKG_NAME")
    ));
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

macro_rules! comparisons {
    ($($name:ident $is:tt $instead:tt),*) => {$(
        pub fn $name<A: PartialOrd<B>, B>(number: u32, left: &A, right: &B) -> bool {
            if on(number) { left $instead right } else { left $is right }
        }
    )*};
}

comparisons!(less < <=, less_or_equal <= <, greater > >=, greater_or_equal >= >);

macro_rules! operations {
    ($($name:ident $of:ident $is:tt $other:ident $instead:tt),*) => {$(
        pub fn $name<A: $of<B, Output = O> + $other<B, Output = O>, B, O>(number: u32, left: A, right: B) -> O {
            if on(number) { left $instead right } else { left $is right }
        }
    )*};
}

operations!(add Add + Sub -, sub Sub - Add +, mul Mul * Div /, div Div / Mul *);

macro_rules! assignments {
    ($($name:ident $of:ident $is:tt $other:ident $instead:tt),*) => {$(
        pub fn $name<A: $of<B> + $other<B>, B>(number: u32, left: &mut A, right: B) {
            if on(number) { *left $instead right } else { *left $is right }
        }
    )*};
}

assignments!(add_assign AddAssign += SubAssign -=, sub_assign SubAssign -= AddAssign +=);
