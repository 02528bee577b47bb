use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/byte_order_mark.evalset.json")]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
