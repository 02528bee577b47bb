use eval_core::{BoxAgent, EvalCase, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json")]
fn weather(_case: &EvalCase, _seed: u64) -> BoxAgent {
    unreachable!()
}

fn main() {}
