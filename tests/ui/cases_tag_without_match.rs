use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/tagged.evalset.json", cases = ["tag:smok", "!tag:berlin*"])]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
