//! Reading: JSON to a checked set, and one case from its slice of the text.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};

const SET: &str = include_str!("../../../../samples/travel/travel.evalset.json");

fn main() {
    divan::main();
}

#[divan::bench]
fn check_set(bencher: Bencher<'_, '_>) {
    bencher
        .counter(BytesCount::of_str(SET))
        .bench(|| eval_format::reader::check_set("travel.evalset.json", black_box(SET).as_bytes(), None));
}

#[divan::bench]
fn read_case(bencher: Bencher<'_, '_>) {
    let checked = eval_format::reader::check_set("travel.evalset.json", SET.as_bytes(), None);
    let slice = &SET[checked.cases[0].range.clone()];
    bencher
        .counter(BytesCount::of_str(slice))
        .bench(|| eval_format::__private::read_case(checked.form, black_box(slice), "", None));
}

#[divan::bench]
fn serde_json_value(bencher: Bencher<'_, '_>) {
    bencher
        .counter(BytesCount::of_str(SET))
        .bench(|| serde_json::from_str::<serde_json::Value>(black_box(SET)));
}
