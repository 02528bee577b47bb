use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", config = "tests/ui/sets/configs/unanswered_custom_metric.json")]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
