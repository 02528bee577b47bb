//! Programs that measure themselves. The last line of their output is JSON: the seconds of each round.

use std::hint::black_box;
use std::time::Instant;

/// The arguments of the program.
pub fn arguments() -> Vec<String> {
    std::env::args().skip(1).collect()
}

/// Runs all sides in each round, one after the other. Returns the seconds of each side by its name.
///
/// Within a round a side is repeated until it has taken a hundredth of a second, which the clock measures well.
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
