use eval_core::{BoxAgent, eval_set};

#[eval_set]
async fn weather() -> BoxAgent<'static> {
    unreachable!()
}

fn main() {}
