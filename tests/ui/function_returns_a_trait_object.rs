use eval_core::{Agent, Replay, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json")]
async fn weather() -> Box<dyn Agent> {
    Box::new(Replay::new([["It is sunny."]]))
}

fn main() {}
