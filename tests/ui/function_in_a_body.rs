use eval_core::{BoxAgent, eval_set};

fn evals() {
    #[eval_set("tests/ui/sets/weather.evalset.json")]
    async fn weather() -> BoxAgent {
        unreachable!()
    }
}

fn main() {}
