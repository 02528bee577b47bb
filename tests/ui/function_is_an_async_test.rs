use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json")]
#[tokio::test]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
