use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json")]
async fn weather(_name: &str) -> BoxAgent {
    unreachable!()
}

fn main() {}
