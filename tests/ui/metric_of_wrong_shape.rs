use eval_core::{BoxAgent, eval_set};

fn brevity(answer: String) -> f64 {
    if answer.len() < 80 { 1.0 } else { 0.0 }
}

#[eval_set("tests/ui/sets/weather.evalset.json", metrics(brevity), criteria(brevity = 0.5))]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
