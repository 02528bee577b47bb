use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/expect_elsewhere.evalset.json")]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
