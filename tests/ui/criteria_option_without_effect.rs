use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", criteria(response_similarity(threshold = 0.7, algorithm = "rouge_l", ignore_case = false)))]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
