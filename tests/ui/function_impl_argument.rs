use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json")]
fn weather(_name: impl Into<String>) -> BoxAgent {
    unreachable!()
}

fn main() {}
