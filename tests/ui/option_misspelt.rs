use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", confg = "tests/ui/sets/several/deep/test_config.json")]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
