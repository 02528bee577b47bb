use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/above")]
async fn trip() -> BoxAgent {
    unreachable!()
}

fn main() {}
