use eval_core::{BoxAgent, eval_set};

#[eval_set(
    "tests/ui/sets/weather.evalset.json",
    criteria(final_response_match_v2(threshold = 0.5, judge_model_options(num_sample = 3)))
)]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
