//! ADK's results: made from our runs, and read from a store.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use eval_core::{CaseReport, EvalReport};
use eval_report::export::Export;
use eval_support::untrusted::one_line;
use eval_support::words::did_you_mean;
use serde_json::Value;

use super::super::layout::{self, RESULT};
use super::super::open::{JSON, Store};
use super::check_names;
use crate::output::CommandError;

/// Stores ADK's results of a report: one per app and set. Returns their paths, and notes on results that
/// could not be stored.
///
/// `app` is the app of all cases; without it, cases are filed under the app that their set names.
pub(crate) async fn put_results(
    store: &Store,
    report: EvalReport,
    app: Option<&str>,
) -> Result<(Vec<String>, Vec<String>), CommandError> {
    let (mut places, mut notes) = (Vec::new(), Vec::new());
    let (apps, nameless) = by_app(report, app);
    if nameless > 0 {
        notes.push(format!(
            "{} without an app: no result for ADK is stored of them; `--app NAME` names the app",
            eval_support::words::count(nameless, "case")
        ));
    }
    let now = SystemTime::now();
    for (app, report) in apps {
        for result in report.adk_results(&app, now) {
            if let Err(why) = check_names([("app", &app), ("id of the set", result.eval_set_id())]) {
                notes.push(format!("a result cannot be stored as ADK lays it out: {why}"));
                continue;
            }
            // ADK's manager uses the id as the name of the object. The parts checked above have no slash.
            let path = format!("{}{}{RESULT}", layout::results(&app), result.id());
            store.put(&path, result.to_json().into_bytes(), JSON).await?;
            places.push(path);
        }
    }
    Ok((places, notes))
}

/// The cases of each app, and the number of cases without an app. `app` is the app of all cases. Without it, cases are filed
/// under the app that they name. A case that names none, such as a test that never began, is filed under the apps of its set:
/// their results would be green without it.
fn by_app(report: EvalReport, app: Option<&str>) -> (BTreeMap<String, EvalReport>, usize) {
    let mut nameless = 0;
    let named = |case: &CaseReport| {
        let of_case = case.case.session_input.as_ref().map(|input| input.app_name.as_str());
        app.or(of_case.filter(|name| !name.is_empty())).map(str::to_owned)
    };
    let mut of_sets: BTreeMap<Option<String>, BTreeSet<String>> = BTreeMap::new();
    for case in &report.cases {
        of_sets.entry(case.eval_set_id.clone()).or_default().extend(named(case));
    }
    let mut apps: BTreeMap<String, EvalReport> = BTreeMap::new();
    for case in report.cases {
        let of_set = || of_sets.get(&case.eval_set_id).cloned().unwrap_or_default();
        let of_case = named(&case).map_or_else(of_set, |app| BTreeSet::from([app]));
        nameless += usize::from(of_case.is_empty());
        for app in of_case {
            apps.entry(app).or_default().cases.push(case.clone());
        }
    }
    (apps, nameless)
}

#[derive(Debug)]
pub(crate) struct StoredResult {
    pub(crate) id: String,
    pub(crate) eval_set_id: String,
    pub(crate) cases: Vec<StoredCase>,
}

/// A run of a case in a stored result.
#[derive(Debug)]
pub(crate) struct StoredCase {
    pub(crate) eval_id: String,
    pub(crate) outcome: CaseOutcome,
    /// Name, score and outcome.
    pub(crate) metrics: Vec<(String, Option<f64>, CaseOutcome)>,
}

/// ADK's `EvalStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaseOutcome {
    Passed,
    Failed,
    NotEvaluated,
    Informational,
}

impl CaseOutcome {
    fn from_json(value: &Value) -> Option<Self> {
        match value.as_u64()? {
            1 => Some(Self::Passed),
            2 => Some(Self::Failed),
            3 => Some(Self::NotEvaluated),
            4 => Some(Self::Informational),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotEvaluated => "not evaluated",
            Self::Informational => "informational",
        }
    }
}

pub(crate) async fn read_result(store: &Store, app: &str, id: &str) -> Result<StoredResult, CommandError> {
    check_names([("app", app), ("result", id)])
        .map_err(|why| CommandError::new(why, "write `APP/RESULT`"))?;
    let path = format!("{}{id}{RESULT}", layout::results(app));
    let Some(bytes) = store.find(&path).await? else {
        let names = store.list(&layout::results(app), false).await?;
        let ids = names.iter().filter_map(|name| name.rsplit('/').next()?.strip_suffix(RESULT));
        let list = || format!("`cargo evalset store list {}` lists them", store.word());
        let help = did_you_mean(id, ids).unwrap_or_else(list);
        let (app, id) = (one_line(app), one_line(id));
        let message = format!("{}: the app `{app}` has no result `{id}`", store.shown());
        return Err(CommandError::new(message, help));
    };
    parse(&bytes).map_err(|why| {
        let message = format!("{}: `{}` is not a result of ADK: {why}", store.shown(), one_line(&path));
        CommandError::new(message, "remove it, or store the result again")
    })
}

/// Reads the text of a result. ADK once stored results as JSON in a JSON string, and still reads those.
pub(crate) fn parse(bytes: &[u8]) -> Result<StoredResult, String> {
    let mut value: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
    if let Some(inner) = value.as_str() {
        value = serde_json::from_str(inner).map_err(|error| format!("it is not JSON: {error}"))?;
    }
    let text = |value: &Value, keys: [&str; 2]| field(value, keys).as_str().map(str::to_owned);
    let cases = match field(&value, ["eval_case_results", "evalCaseResults"]) {
        Value::Null => Vec::new(),
        Value::Array(cases) => cases.iter().map(case).collect::<Option<_>>().ok_or("a case has no status")?,
        _ => return Err("`eval_case_results` is not a list".to_owned()),
    };
    Ok(StoredResult {
        id: text(&value, ["eval_set_result_id", "evalSetResultId"])
            .ok_or("it has no `eval_set_result_id`")?,
        eval_set_id: text(&value, ["eval_set_id", "evalSetId"]).ok_or("it has no `eval_set_id`")?,
        cases,
    })
}

fn case(value: &Value) -> Option<StoredCase> {
    let metrics = field(value, ["overall_eval_metric_results", "overallEvalMetricResults"]);
    let metric = |metric: &Value| {
        let name = field(metric, ["metric_name", "metricName"]).as_str()?.to_owned();
        let outcome = CaseOutcome::from_json(field(metric, ["eval_status", "evalStatus"]))?;
        Some((name, metric["score"].as_f64(), outcome))
    };
    Some(StoredCase {
        eval_id: field(value, ["eval_id", "evalId"]).as_str().unwrap_or_default().to_owned(),
        outcome: CaseOutcome::from_json(field(value, ["final_eval_status", "finalEvalStatus"]))?,
        metrics: metrics.as_array()?.iter().map(metric).collect::<Option<_>>()?,
    })
}

/// A field. ADK's models take both spellings.
fn field<'v>(value: &'v Value, [snake, camel]: [&str; 2]) -> &'v Value {
    if value[snake].is_null() { &value[camel] } else { &value[snake] }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = r#"{"eval_set_result_id": "a_s_1.5", "eval_set_id": "s", "eval_case_results": [
        {"eval_id": "c", "final_eval_status": 2, "overall_eval_metric_results": [
            {"metric_name": "m", "score": 0.5, "eval_status": 2},
            {"metric_name": "n", "score": null, "eval_status": 3}]}]}"#;

    #[test]
    fn a_case_that_names_no_app_is_in_the_result_of_its_set() {
        use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};

        let case = |id: &str| EvalCase::new(id).turn(Invocation::user("hi").response("hi"));
        let of = |id: &str, app: &str| {
            let mut case = case(id);
            case.session_input.get_or_insert_default().app_name = app.to_owned();
            case
        };
        let sets = [
            EvalSet::new("s").case(of("one", "a")).case(of("two", "b")).case(case("lost")),
            EvalSet::new("t").case(case("nameless")),
        ];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut report = EvalReport::default();
        for set in &sets {
            let agent = || Replay::new([["hi"]]);
            report.cases.extend(runtime.block_on(EvalRunner::new().run_set(set, agent, 1)).unwrap().cases);
        }
        let ids = |report: &EvalReport| report.cases.iter().map(|it| it.eval_id().to_owned()).collect();
        let filed = |app| -> (Vec<(String, Vec<String>)>, usize) {
            let (apps, nameless) = by_app(report.clone(), app);
            (apps.iter().map(|(app, report)| (app.clone(), ids(report))).collect(), nameless)
        };
        let named =
            |app: &str, ids: &[&str]| (app.to_owned(), ids.iter().map(|it| (*it).to_owned()).collect());
        assert_eq!(filed(None), (vec![named("a", &["one", "lost"]), named("b", &["two", "lost"])], 1));
        assert_eq!(filed(Some("c")), (vec![named("c", &["one", "two", "lost", "nameless"])], 0));
    }

    #[test]
    fn results_are_read_in_the_forms_that_adk_reads() {
        let camel = RESULT
            .replace("eval_set_result_id", "evalSetResultId")
            .replace("eval_set_id", "evalSetId")
            .replace("eval_case_results", "evalCaseResults")
            .replace("eval_id", "evalId")
            .replace("final_eval_status", "finalEvalStatus")
            .replace("overall_eval_metric_results", "overallEvalMetricResults")
            .replace("metric_name", "metricName")
            .replace("eval_status", "evalStatus");
        for text in [RESULT.to_owned(), camel, Value::from(RESULT).to_string()] {
            let result = parse(text.as_bytes()).unwrap();
            assert_eq!((result.id.as_str(), result.eval_set_id.as_str()), ("a_s_1.5", "s"));
            let case = &result.cases[0];
            assert_eq!((case.eval_id.as_str(), case.outcome), ("c", CaseOutcome::Failed));
            let metrics = [("m", Some(0.5), CaseOutcome::Failed), ("n", None, CaseOutcome::NotEvaluated)];
            assert_eq!(case.metrics, metrics.map(|(name, score, outcome)| (name.to_owned(), score, outcome)));
        }
    }

    #[test]
    fn what_is_no_result_is_refused() {
        for (text, said) in [
            ("", "it is not JSON"),
            ("\"x\"", "it is not JSON"),
            ("[]", "it has no `eval_set_result_id`"),
            (r#"{"eval_set_result_id": "a"}"#, "it has no `eval_set_id`"),
            (&RESULT.replace("\"final_eval_status\": 2", "\"final_eval_status\": 7"), "a case has no status"),
            (&RESULT.replace("\"final_eval_status\": 2", "\"x\": 2"), "a case has no status"),
            (r#"{"eval_case_results": 1}"#, "`eval_case_results` is not a list"),
        ] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert!(error.starts_with(said), "{text}: {error}");
        }
    }
}
