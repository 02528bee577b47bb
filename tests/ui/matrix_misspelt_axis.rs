use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", matrix(model = ["flash", "pro"]))]
fn weather(variant: &weather::Variant) -> BoxAgent {
    panic!("{}", variant.modle)
}

fn main() {}
