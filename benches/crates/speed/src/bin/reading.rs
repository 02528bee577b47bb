//! Reads and checks a file, and reads it with serde_json: `reading FILE ROUNDS`.

use std::hint::black_box;

fn main() {
    let arguments = speed::arguments();
    let bytes = std::fs::read(&arguments[0]).expect("the file can be read");
    let checked = eval_format::reader::check_set("file.evalset.json", &bytes, None);
    assert!(checked.set.is_some(), "{:?}", checked.problems.first());
    let mut check = || drop(black_box(eval_format::reader::check_set("file.evalset.json", black_box(&bytes), None)));
    let mut parse = || {
        drop(black_box(serde_json::from_slice::<serde_json::Value>(black_box(&bytes)).expect("it is JSON")))
    };
    let rounds = arguments[1].parse().expect("a number of rounds");
    println!("{}", speed::alternate(rounds, &mut [("check_set", &mut check), ("serde_json", &mut parse)]));
}
