//! The attribute `#[eval_set]`, documented and re-exported in `eval-core`.
//!
//! A pipeline: the arguments and the function are parsed, the files they name are read and checked, a
//! plan is made of them and expanded. Each pass reports what it finds and goes on, so that the user
//! sees all mistakes at once.

mod args;
mod cases;
mod configs;
mod criteria;
mod diagnostics;
mod expand;
mod files;
mod item;
mod memory;
mod modules;
mod plan;
mod recordings;
mod sets;

use args::Args;
use diagnostics::Diagnostics;
use item::Item;
use plan::Plan;
use proc_macro2::TokenStream;
use quote::quote;

// Editors show this text; the pages of `eval_core::eval_set` end with it.
/// # In short
///
/// Makes a test of each case of an eval set. Use it as `eval_core::eval_set`.
///
/// ```text
/// #[eval_set("evals/weather.evalset.json", runs = 3)]
/// fn weather() -> impl Agent { .. }
/// ```
///
/// The path is of a file, a directory or a glob, relative to the folder of `Cargo.toml`. What may follow, in any order:
///
/// * `config = "evals/strict.json"` or `criteria(name = 0.5, name(threshold = 0.5, key = value))`: what is measured
/// * `metrics(function, name = path::function)`, `judge = function`: metrics and a judge of your own
/// * `cases = ["refund_*", "!*_slow"]`: which cases
/// * `runs = 3`, `pass = "mean" | "all" | "any" | "at_least(2)"`, `gate = "mean" | "every_turn"`: how often, and what
///   passes
/// * `timeout = "30s"`, `session = "evals/trip.session.json"`, `flavor = "multi_thread"`, `worker_threads = 2`,
///   `crate = path`
#[proc_macro_attribute]
pub fn eval_set(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expansion(args.into(), &item.into()).into()
}

fn expansion(args: TokenStream, tokens: &TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let args = Args::parse(args, &mut diagnostics);
    let item = Item::parse(tokens.clone(), &mut diagnostics);
    let plan = Plan::new(&args, &mut diagnostics);
    match (item, plan) {
        (Some(item), Some(plan)) if diagnostics.is_empty() => {
            let function = expand::function(&args, &item, false);
            let tests = expand::tests(&args, &item, &plan);
            quote!(#function #tests)
        }
        // On an error the function stays, so that nothing else breaks for want of it.
        (Some(item), _) => {
            let function = expand::function(&args, &item, true);
            let errors = diagnostics.into_tokens();
            quote!(#errors #function)
        }
        (None, _) => {
            let errors = diagnostics.into_tokens();
            quote!(#errors #tokens)
        }
    }
}
