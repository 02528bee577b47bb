use eval_core::{BoxAgent, eval_set};

#[eval_set(
    "tests/ui/sets/expect_unread.evalset.json",
    criteria(tool_trajectory_avg_score(threshold = 1.0, ignore_args = true), response_match_score = 0.8)
)]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
