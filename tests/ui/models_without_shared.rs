use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/half_recorded/trip.evalset.json")]
async fn half_recorded() -> BoxAgent {
    unreachable!()
}

fn main() {}
