//! Paths are relative to this package, though the package that is built is another one, far from this file.

use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/weather.evalset.json")]
async fn file() -> BoxAgent {
    unreachable!()
}

#[eval_set("tests/ui/sets/several", cases = ["*"])]
async fn folder() -> BoxAgent {
    unreachable!()
}

#[eval_set("tests/ui/sets/wether.evalset.json")]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
