use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", session = "tests/ui/sets/trip.session.json")]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
