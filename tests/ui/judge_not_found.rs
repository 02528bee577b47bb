use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json", judge = my_judge)]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
