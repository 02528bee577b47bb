//! The attribute `#[eval_set]`, documented and re-exported in `eval-core`.
//!
//! The arguments and the function are parsed. The files that the arguments name are read and checked, and become a
//! suite of tests. The suite is expanded to code. Each pass reports what it finds and goes on, so that the user sees
//! all mistakes at once.

mod args;
mod configs;
mod diagnostics;
mod expand;
mod faults;
mod features;
mod files;
mod filter;
mod item;
mod memory;
mod models;
mod modules;
mod package;
mod recordings;
mod suite;
mod surroundings;

use args::Args;
use diagnostics::Diagnostics;
use item::Item;
use proc_macro2::TokenStream;
use quote::quote;
use suite::Suite;

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
/// * `cases = ["refund_*", "tag:smoke", "!*_slow"]`: which cases, by globs on ids and tags
/// * `runs = 3`, `pass = "mean" | "all" | "any" | "at_least(2)"`, `gate = "mean" | "every_turn"`: how often, and what
///   passes
/// * `matrix(model = ["flash", "pro"], prompt = ["a", "b"])`: the variants of the agent, each with all tests;
///   `exclude = [(model = "pro", prompt = "b")]` in it leaves some out
/// * `retry = 2`: the most repetitions of a run in which the agent was not reached
/// * `tools = "golden"`: the responses of each case answer the calls of its agent, and no tool runs;
///   `faults = "evals/outage.json"`: the faults of these tools
///   `model_faults = [(at(turn = 1, call = 2), fault(status = 429))]`: the faults of recorded models, in all cases
/// * `timeout = "30s"`, `session = "evals/trip.session.json"`, `flavor = "multi_thread"`, `worker_threads = 2`,
///   `crate = path`
#[proc_macro_attribute]
pub fn eval_set(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expansion(args.into(), &item.into()).into()
}

fn expansion(args: TokenStream, tokens: &TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let mut args = Args::parse(args, &mut diagnostics);
    args.check_crate(&mut diagnostics);
    let item = Item::parse(tokens.clone(), &mut diagnostics);
    let suite = Suite::new(&args, &mut diagnostics);
    let errors = expand::errors(&args, &diagnostics);
    // On an error the function stays, so that nothing else breaks without it.
    let function = item.as_ref().map_or_else(|| tokens.clone(), |item| expand::function(&args, item));
    let tests = item.map(|item| match suite.filter(|_| diagnostics.is_empty()) {
        Some(suite) => expand::tests(&args, &item, &suite),
        None => expand::without_tests(&args, &item),
    });
    quote!(#errors #function #tests)
}
