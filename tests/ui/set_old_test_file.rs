use eval_core::{BoxAgent, eval_set};

#[eval_set("tests/ui/sets/old_test_file.test.json")]
async fn weather() -> BoxAgent {
    unreachable!()
}

fn main() {}
