use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/scenario_and_conversation.evalset.json")]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
