use eval_core::{BoxAgent, eval_set};

#[eval_set(
    "tests/ui/sets/weather.evalset.json",
    matrix(model = ["flash", "pro"])
)]
fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
