use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/expect_places.evalset.json")]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
