use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/unanswered.evalset.json", tools = "golden")]
async fn without_a_response() -> BoxAgent {
    unreachable!()
}

#[eval_set("tests/ui/sets/faults.evalset.json")]
async fn with_real_tools() -> BoxAgent {
    unreachable!()
}

#[eval_set("tests/ui/sets/wrong_faults.evalset.json", tools = "golden")]
async fn with_wrong_faults() -> BoxAgent {
    unreachable!()
}

#[eval_set("tests/ui/sets/faults.evalset.json", tools = "gold")]
async fn misspelt() -> BoxAgent {
    unreachable!()
}

fn main() {}
