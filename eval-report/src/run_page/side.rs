//! A run beside another one: the verdicts with what judges said, and the session state at its end.

use serde::Serialize;

use super::judged::judges;
use super::scores::ScoresByTurn;
use crate::journal::Evaluation;
use crate::page::line;
use crate::recorded::TestResult;

/// The end of a run of a case, beside its turns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunSide {
    /// The error that ended it.
    pub error: Option<String>,
    pub metrics: Vec<MetricSide>,
    /// The keys of the session state at its end, with their values.
    pub state: Vec<(String, String)>,
}

/// The verdict of a metric.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MetricSide {
    pub name: String,
    /// The class of the verdict.
    pub state: &'static str,
    pub score: Option<String>,
    /// `2 of 3 say invalid: It names rain.`, or else the reason of the score.
    pub said: Option<String>,
}

pub fn run_side(test: &TestResult<'_>, evaluation: &Evaluation) -> RunSide {
    let known = ScoresByTurn::new(test, None);
    let judges = judges(evaluation, &known);
    let metrics = known.of_run(evaluation).into_iter().filter(|score| score.state != "informational");
    let metrics = metrics.map(|score| {
        let judge = judges.iter().find(|judge| judge.purpose == score.metric);
        let tally = judge.and_then(|judge| judge.questions.iter().find_map(|it| it.tally.clone()));
        let reason = judge.and_then(|judge| judge.reason.clone()).or(score.reason);
        let said: Vec<String> = tally.into_iter().chain(reason).collect();
        MetricSide {
            name: score.metric,
            state: score.state,
            score: score.score,
            said: (!said.is_empty()).then(|| said.join(": ")),
        }
    });
    let transcript = &evaluation.ran.transcript;
    RunSide {
        error: transcript.error.as_ref().map(|error| line(&error.to_string())),
        metrics: metrics.collect(),
        state: transcript.state.iter().map(|(key, value)| (line(key), line(&value.to_string()))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use eval_core::journal::sealed_line;
    use serde_json::json;

    use super::*;
    use crate::journal::RecordedRun;

    #[test]
    fn a_side_has_the_verdicts_the_words_of_the_judge_and_the_state_at_the_end() {
        let at = "2026-11-22T02:31:07.250Z";
        let vote = |verdict: &str| {
            json!({ "reasoning": "It names rain.", "is_the_agent_response_valid": verdict }).to_string()
        };
        let judge = json!({ "model": "m", "asked": 1, "failed": 0,
            "questions": [{ "prompt": "?", "answers": [vote("invalid"), vote("invalid"), vote("valid")] }] });
        let records = [
            json!({ "record": "head", "schema": 2, "evalset": "0", "run": "r", "pid": 1, "started": at }),
            json!({ "record": "started", "test": 1, "name": "a", "eval_id": "a", "pass": "mean", "gate": "mean", "runs": 1,
                "attempt": 1, "at": at }),
            json!({ "record": "ran", "test": 1, "run": 1, "evaluation": 1, "transcript": { "state": { "left": 2 } } }),
            json!({ "record": "scored", "test": 1, "run": 1, "evaluation": 1, "metrics": [{ "name": "final_response_match_v2",
                "verdict": { "is": "failed" }, "outcome": { "scored": { "scores": [{ "value": 0.0 }] } }, "judge": [judge] }] }),
        ];
        let text: String =
            records.iter().zip(1..).map(|(record, number)| sealed_line(record, number)).collect();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.jsonl"), text).unwrap();
        let run = RecordedRun::read(folder.path()).unwrap();
        let [test] = TestResult::all(&run).try_into().unwrap();
        let side = run_side(&test, &test.attempt.evaluations[0]);
        assert_eq!(side.state, [("left".to_owned(), "2".to_owned())]);
        let [metric] = side.metrics.as_slice() else { panic!("{side:?}") };
        assert_eq!((metric.name.as_str(), metric.state), ("final_response_match_v2", "failed"));
        assert_eq!(metric.said.as_deref(), Some("2 of 3 say invalid: It names rain."));
    }
}
