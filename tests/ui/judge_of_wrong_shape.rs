use eval_core::judge::{Judge, ScriptedJudge};
use eval_core::{BoxAgent, eval_set};

fn takes_something(_: &str) -> impl Judge {
    ScriptedJudge::new(["yes"])
}

fn makes_something() -> String {
    String::new()
}

#[eval_set("tests/ui/sets/weather.evalset.json", judge = takes_something)]
async fn weather() -> BoxAgent {
    unreachable!()
}

#[eval_set("tests/ui/sets/weather.evalset.json", judge = makes_something)]
async fn rain() -> BoxAgent {
    unreachable!()
}

fn main() {}
