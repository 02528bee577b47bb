//! Running: the cost of a case without its agent.

use divan::Bencher;
use divan::counter::ItemsCount;
use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};

fn main() {
    divan::main();
}

#[divan::bench(args = [1, 10])]
fn turns(bencher: Bencher<'_, '_>, turns: usize) {
    let case =
        (0..turns).fold(EvalCase::new("case"), |case, _| case.turn(Invocation::user("Hi").response("Hello")));
    let set = EvalSet::new("set").case(case);
    let runner = EvalRunner::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    bencher
        .counter(ItemsCount::new(turns))
        .bench_local(|| runtime.block_on(runner.run_set(&set, || Replay::new(vec![["Hello"]; turns]), 1)));
}

#[divan::bench]
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}
