use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", criteria(trajectory_recall(threshold = 1.0, match_type = "IN_ORDER")))]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
