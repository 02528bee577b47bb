use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", criteria(tool_trajectory_avg_score(threshold = 1.0, match_typ = "IN_ORDER")))]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
