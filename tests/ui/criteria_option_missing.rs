use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", criteria(trajectory_single_tool_use = 1.0))]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
