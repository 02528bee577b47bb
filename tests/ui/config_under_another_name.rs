use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/overlooked/trip.evalset.json")]
async fn trip() -> BoxAgent {
    unreachable!()
}

fn main() {}
