use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/several/*.yaml")]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
