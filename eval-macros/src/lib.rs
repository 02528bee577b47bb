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
mod modules;
mod plan;
mod sets;

use args::Args;
use diagnostics::Diagnostics;
use item::Item;
use plan::Plan;
use proc_macro2::TokenStream;
use quote::quote;

/// Makes a test of each case of an eval set.
///
/// ```text
/// #[eval_set("evals/weather.evalset.json")]
/// async fn weather() -> impl Agent {
///     WeatherAgent::new()
/// }
/// ```
///
/// The file is read while the crate compiles; what is wrong with it stops the build with the place in
/// the file. The tests stand in a module of the function's name, each named after its `eval_id`: other
/// characters than those of identifiers become `_`, so `sunny in Paris` is `weather::sunny_in_Paris`.
///
/// # The function
///
/// It is called once for each run of a case, plain or `async`:
///
/// | signature | what it does |
/// | --- | --- |
/// | `fn() -> impl Agent` | sets up an agent for one conversation |
/// | `fn(&EvalCase) -> impl Agent` | the same, knowing the case |
/// | `fn(EvalRun)` | a test body of your own, which may run the case with `run.evaluate(agent)` |
///
/// Agents may come in a `Result`, and a body may return `Result<(), E>`. It must stand at the level of
/// a module, where tests can be found. `#[ignore]` and `#[should_panic]` move to every case.
///
/// In `src/`, write `#[cfg_attr(test, eval_set("..."))]`: who builds your crate as a dependency needs
/// no eval sets then.
///
/// # The path
///
/// It is relative to the folder of `Cargo.toml`: a file, a directory, or a glob (`evals/*.json`). A
/// directory is searched with all its folders for `*.evalset.json` and `*.test.json`. Directories and
/// globs have a module for each file, named after its stem, in modules for the folders, and one more
/// test, `is_current`, which fails when the files on disk are no longer those compiled in. For cargo to
/// see new files by itself, add a `build.rs`:
///
/// ```text
/// fn main() {
///     println!("cargo::rerun-if-changed=evals");
/// }
/// ```
///
/// # The options
///
/// | option | meaning |
/// | --- | --- |
/// | `config = "evals/strict.json"` | the criteria; unless given, `test_config.json` in the folder of the set, else ADK's own |
/// | `criteria(response_match_score = 0.5)` | criteria in place of a file; more than a threshold as in `tool_trajectory_avg_score(threshold = 1.0, match_type = "IN_ORDER")` |
/// | `metrics(brevity, tone = style::tone)` | metrics of your own, under the key or the last segment of the path |
/// | `cases = ["refund_*", "!*_slow"]` | globs on `eval_id`; `!` excludes; each must match a case |
/// | `runs = 3` | how often each case is run; once unless given |
/// | `pass = "mean"` | what makes several runs pass: the mean of their scores, `"all"`, `"any"` or `"at_least(2)"` of them |
/// | `gate = "mean"` | what is compared with a threshold: the mean over the turns, or `"every_turn"` |
/// | `timeout = "30s"` | for setting up and for each turn; `"120s"` unless given |
/// | `session = "evals/trip.session.json"` | the initial session of old test files, which have none of their own |
/// | `flavor = "multi_thread"`, `worker_threads = 2` | tokio's runtime for each test; needs the feature `multi-thread` |
/// | `crate = my_facade::eval_core` | where this crate is, if not at `::eval_core` |
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
