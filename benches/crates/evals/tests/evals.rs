//! One attribute; the scripts write the set beside it.

use eval_core::{Agent, eval_set};

#[eval_set("evals/orders.evalset.json")]
fn orders() -> impl Agent {
    evals::Shop
}
