use eval_core::{BoxAgent, eval_set};

#[eval_set(
    "tests/ui/sets/weather.evalset.json",
    matrix(model = FLASH)
)]
fn weather(_variant: &weather::Variant) -> BoxAgent {
    unreachable!()
}

fn main() {}
