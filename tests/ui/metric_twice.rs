use eval_core::{BoxAgent, Criterion, Invocation, eval_set};

fn brevity(actual: &Invocation, _: Option<&Invocation>, _: &Criterion) -> f64 {
    if actual.response_text().len() < 80 { 1.0 } else { 0.0 }
}

#[eval_set("tests/ui/sets/weather.evalset.json", metrics(brevity, brevity), criteria(brevity = 0.5))]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
