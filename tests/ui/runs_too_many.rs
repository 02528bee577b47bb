use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", runs = 4000000000)]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
