use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/drafts.evalset.json")]
async fn weather() -> BoxAgent {
    unreachable!()
}

#[eval_set("tests/ui/sets/drafts.evalset.json", cases = ["sunny"])]
async fn accepted_ones_run() -> BoxAgent {
    unreachable!()
}

fn main() {}
