use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", metrics(style::brevity), criteria(brevity = 0.5))]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
