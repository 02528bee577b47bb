use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/wrong_tags.evalset.json", cases = ["tag:smoke"])]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
