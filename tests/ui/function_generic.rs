use eval_core::{Agent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json")]
fn weather<A: Agent>() -> A {
    unreachable!()
}

fn main() {}
