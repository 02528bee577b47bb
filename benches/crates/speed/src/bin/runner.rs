//! Runs and scores a set with ADK's two lexical metrics: `runner SET ROUNDS`.

use eval_core::{EvalRunner, EvalSet};
use evals::Shop;

fn main() {
    let arguments = speed::arguments();
    let set = EvalSet::read(&arguments[0]).expect("the set can be read");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut run = || {
        let report = runtime.block_on(EvalRunner::new().run_set(&set, || Shop, 1)).expect("it can run");
        assert!(report.all_passed(), "{report}");
    };
    let rounds = arguments[1].parse().expect("a number of rounds");
    println!("{}", speed::alternate(rounds, &mut [("eval-core", &mut run)]));
}
