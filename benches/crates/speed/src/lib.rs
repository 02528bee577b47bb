//! Programs that measure themselves: seconds of each round, as JSON on the last line.

use std::hint::black_box;
use std::time::Instant;

/// The arguments of the program.
pub fn arguments() -> Vec<String> {
    std::env::args().skip(1).collect()
}

/// Runs each side once a round, in alternation; the seconds of each by its name.
///
/// A side is repeated within a round until it has taken a hundredth of a second, so that the clock can tell.
pub fn alternate(rounds: usize, sides: &mut [(&str, &mut dyn FnMut())]) -> serde_json::Value {
    let repeats: Vec<u32> = sides.iter_mut().map(|(_, side)| repeats(side)).collect();
    let mut seconds = vec![Vec::with_capacity(rounds); sides.len()];
    for _ in 0..rounds {
        for (at, (_, side)) in sides.iter_mut().enumerate() {
            let began = Instant::now();
            for _ in 0..repeats[at] {
                side();
            }
            seconds[at].push(began.elapsed().as_secs_f64() / f64::from(repeats[at]));
        }
    }
    let named = sides.iter().zip(seconds).map(|((name, _), seconds)| ((*name).to_owned(), seconds.into()));
    serde_json::Value::Object(named.collect())
}

fn repeats(side: &mut dyn FnMut()) -> u32 {
    let began = Instant::now();
    black_box(side)();
    let once = began.elapsed().as_secs_f64();
    (0.01 / once.max(1e-9)).ceil().clamp(1.0, 1e6) as u32
}
