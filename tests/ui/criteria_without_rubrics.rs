use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", criteria(rubric_based_tool_use_quality_v1 = 1.0))]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
