use eval_core::{BoxAgent, eval_set};

#[eval_set("/evals/weather.evalset.json")]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
