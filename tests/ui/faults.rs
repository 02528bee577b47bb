use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/plain_tools.evalset.json", tools = "golden", faults = "tests/ui/sets/faults/by_chance.json")]
async fn by_chance() -> BoxAgent {
    unreachable!()
}

#[eval_set("tests/ui/sets/plain_tools.evalset.json", tools = "golden", faults = "tests/ui/sets/faults/of_another_tool.json")]
async fn of_another_tool() -> BoxAgent {
    unreachable!()
}

#[eval_set("tests/ui/sets/plain_tools.evalset.json", faults = "tests/ui/sets/faults/of_another_tool.json")]
async fn with_real_tools() -> BoxAgent {
    unreachable!()
}

#[eval_set("tests/ui/sets/plain_tools.evalset.json", tools = "golden", faults = "tests/ui/sets/faults/by_chanse.json")]
async fn missing() -> BoxAgent {
    unreachable!()
}

fn main() {}
