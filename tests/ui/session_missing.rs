use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/trip.test.json", session = "tests/ui/sets/trp.session.json")]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
