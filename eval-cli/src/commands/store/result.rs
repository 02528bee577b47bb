//! `cargo evalset store result`: a result in ADK's form.

use eval_support::untrusted::one_line;
use eval_support::words::count;

use crate::output::{Answer, CommandError, Outcome};
use crate::store::{CaseOutcome, StoreArg, StoredResult, read_result, runtime};

/// Shows a result of ADK's that a store holds, whether google-adk or this command stored it.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// The store.
    #[arg(value_name = "URL")]
    store: StoreArg,

    /// The app and the id of the result, as `store list` shows them.
    #[arg(value_name = "APP/RESULT")]
    result: String,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset store result gs://my-evals weather/weather_trip_1795390267.04

Exit codes:
  0  every case passed
  1  a case failed
  2  a case was not evaluated, there is none, or there is no such result";

pub(super) fn run(args: &Args) -> Result<Answer, CommandError> {
    let Some((app, id)) = args.result.split_once('/') else {
        return Err(CommandError::new(
            format!("`{}` does not name the app of the result", one_line(&args.result)),
            "write `APP/RESULT`; `cargo evalset store list` shows both",
        ));
    };
    let store = args.store.open_to_read()?;
    let result = runtime()?.block_on(read_result(&store, app, id))?;
    Ok(Answer::new(outcome(&result), text(&result)))
}

fn outcome(result: &StoredResult) -> Outcome {
    let outcome = |outcome| match outcome {
        CaseOutcome::Passed => Outcome::Passed,
        CaseOutcome::Failed => Outcome::Failed,
        CaseOutcome::NotEvaluated | CaseOutcome::Informational => Outcome::Unmeasurable,
    };
    // No case is no success.
    result.cases.iter().map(|case| outcome(case.outcome)).max().unwrap_or(Outcome::Unmeasurable)
}

fn text(result: &StoredResult) -> String {
    let mut text = format!("Result {} of the set {}\n", one_line(&result.id), one_line(&result.eval_set_id));
    for case in &result.cases {
        text.push_str(&format!("  {:<13}  {}\n", case.outcome.name(), one_line(&case.eval_id)));
        for (name, score, outcome) in &case.metrics {
            let score = score.map_or_else(|| "no score".to_owned(), |score| score.to_string());
            text.push_str(&format!("                   {} {score} ({})\n", one_line(name), outcome.name()));
        }
    }
    let passed = result.cases.iter().filter(|case| case.outcome == CaseOutcome::Passed).count();
    text.push_str(&format!("{passed} of {} passed\n", count(result.cases.len(), "case")));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::parse_result;

    #[test]
    fn a_result_passes_only_if_it_has_cases_and_each_of_them_passed() {
        for (statuses, expected) in [
            (&[1][..], Outcome::Passed),
            (&[1, 1], Outcome::Passed),
            (&[1, 2], Outcome::Failed),
            (&[2, 3, 1], Outcome::Unmeasurable),
            (&[], Outcome::Unmeasurable),
        ] {
            let cases: Vec<_> = statuses
                .iter()
                .map(|status| {
                    serde_json::json!({ "eval_id": "c", "final_eval_status": status, "overall_eval_metric_results": [] })
                })
                .collect();
            let result = serde_json::json!({ "eval_set_result_id": "r", "eval_set_id": "s", "eval_case_results": cases });
            assert_eq!(
                outcome(&parse_result(result.to_string().as_bytes()).unwrap()),
                expected,
                "{statuses:?}"
            );
        }
    }
}
