use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", config = "tests/ui/sets/several/deep/test_config.json", criteria(response_match_score = 0.5))]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
