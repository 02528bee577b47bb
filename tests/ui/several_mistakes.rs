use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/same_id.evalset.json", runs = 0, gate = "turn", cases = ["nothing"], criteria(response_mach_score = 0.5))]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
