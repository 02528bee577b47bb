use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", criteria(tool_trajectory_avg_score(threshold = 1.0, match_type = "IN_ODER")))]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
