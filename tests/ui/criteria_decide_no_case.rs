use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", criteria(trajectory_in_order_match = 1.0, response_match_score = 0.0))]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
