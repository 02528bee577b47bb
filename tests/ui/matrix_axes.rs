use eval_core::{BoxAgent, eval_set};

#[eval_set(
    "tests/ui/sets/weather.evalset.json",
    matrix(
        model = ["gpt-4", "flash", "gpt_4", "flash"],
        model = ["pro"],
        type = ["a"],
        prompt = []
    )
)]
fn weather(_variant: &weather::Variant) -> BoxAgent {
    unreachable!()
}

fn main() {}
