use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/recorded.evalset.json")]
async fn recorded() -> BoxAgent {
    unreachable!()
}

fn main() {}
