use eval_core::{eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json")]
fn weather() -> Vec<u32> {
    Vec::new()
}

fn main() {}
