use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", metrics(response_match_score = brevity, safety_v1))]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
