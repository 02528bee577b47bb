use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", criteria(tool_call_count_v1 = 3))]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
