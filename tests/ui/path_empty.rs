use eval_core::{BoxAgent, eval_set};

#[eval_set("")]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
