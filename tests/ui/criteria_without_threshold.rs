use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", criteria(response_match_score(), response_similarity(threshold = 1.0000001)))]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
