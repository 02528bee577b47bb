//! The job of an evaluation: traces, scored with the metrics of the request.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use eval_agents::TraceAgent;
use eval_agents::traces::{Conversation, MatchedBy, Traces, Turn};
use eval_core::metric::BoxMetric;
use eval_core::report::{CaseReport, ScoredMetric, TurnVerdict, short};
use eval_core::{EvalCase, EvalConfig, EvalRunner, EvalSet, Invocation, Score, Verdict};
use eval_format::Criterion;
use eval_format::expect::TurnExpect;
use eval_format::metric::{METRICS, Need, Subject, metric};
use eval_support::message::truncated;
use serde::Serialize;

use super::convert::{gaps_of_files, name, warnings};
use super::evaluate_answer::{
    ComparedCalls, Details, EvalStatus, MetricResult, MetricResults, Performance, RubricResult,
    RunPerformance, RunResult, TraceResult, TurnRef,
};
use super::evaluate_request::{Evaluator, GroupBy, Parameters, answer};
use super::score::{is_judged, kind_of_error, overall, scores};
use crate::access::Caller;
use crate::events::ReaderGone;
use crate::refusal::Refusal;
use crate::work::{Wanted, complete};

const MAX_ID_CHARS: usize = 256;

pub(super) struct Job {
    traces: Arc<Traces>,
    /// The names of the conversations by trace id: scoring trace by trace would lose them.
    names: HashMap<String, String>,
    set: Option<EvalSet>,
    is_checked: bool,
    evaluators: Vec<Evaluator>,
    unread: Vec<String>,
    wanted: Wanted,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Progress<'r> {
    Message(String),
    #[serde(rename = "traceProgress")]
    Scored {
        trace_id: &'r str,
        partial_result: &'r TraceResult,
    },
    #[serde(untagged)]
    Read {
        trace_id: &'r str,
        performance_metrics: &'r Performance,
    },
}

impl Job {
    /// Fails if there are too many results: each metric has one for each trace.
    pub(super) fn new(
        (traces, unread): (Traces, Vec<String>),
        set: Option<EvalSet>,
        parameters: Parameters,
    ) -> Result<Self, Refusal> {
        let has_turns = |set: &EvalSet| set.eval_cases.iter().any(|case| case.conversation.len() > 1);
        let together = match parameters.group_by {
            GroupBy::Conversation => true,
            GroupBy::Trace => false,
            GroupBy::Auto => set.as_ref().is_some_and(has_turns),
        };
        let mut names = HashMap::new();
        for conversation in traces.conversations() {
            if let Some(name) = name(conversation) {
                names.extend(conversation.trace_ids.iter().map(|id| (id.clone(), name.clone())));
            }
        }
        let traces = Arc::new(if together { traces } else { traces.by_trace() });
        parameters.check_size(traces.conversations().len())?;
        let (evaluators, wanted) = (parameters.evaluators, Wanted::default());
        Ok(Self { traces, names, set, is_checked: false, evaluators, unread, wanted })
    }

    /// A live session, and the checked case that it is scored with. Its traces are one conversation.
    pub(super) fn of_session(traces: Traces, case: EvalCase, evaluators: Vec<Evaluator>) -> Self {
        let set = Some(EvalSet::new("").case(case));
        let (traces, names, unread) = (Arc::new(traces), HashMap::new(), Vec::new());
        Self { traces, names, set, is_checked: true, evaluators, unread, wanted: Wanted::default() }
    }

    /// Lets the job have the metrics that the operator of the service added.
    pub(super) fn answered_by(mut self, own: &[(String, BoxMetric)]) -> Self {
        answer(&mut self.evaluators, own);
        self
    }

    pub(super) fn while_wanted(self, wanted: Wanted) -> Self {
        Self { wanted, ..self }
    }

    pub(super) fn run_to_end(&self, caller: Caller) -> Result<RunResult, ReaderGone> {
        self.run(caller, |_| Ok(()))
    }

    /// Scores all traces and reports the progress to `tell`. Ends early if `tell` fails or no client waits.
    pub(super) fn run(
        &self,
        caller: Caller,
        mut tell: impl FnMut(Progress<'_>) -> Result<(), ReaderGone>,
    ) -> Result<RunResult, ReaderGone> {
        let conversations = self.traces.conversations();
        let gaps = gaps_of_files(&self.traces);
        let mut read = Vec::with_capacity(conversations.len());
        for conversation in conversations {
            let performance_metrics = Performance::new(&conversation.turns);
            let trace_id = first_trace(conversation);
            tell(Progress::Read { trace_id, performance_metrics: &performance_metrics })?;
            read.push((conversation, performance_metrics));
        }
        let turn_ref =
            |turn: &Turn| TurnRef { trace_id: turn.trace_id.clone(), span_id: turn.span_id.clone() };
        let total = conversations.len();
        let traces = if total == 1 { "trace" } else { "traces" };
        tell(Progress::Message(format!("Evaluating {total} {traces}...")))?;
        let mut errors = self.unread.clone();
        let found = self.cases(&mut errors);
        let mut results = Vec::with_capacity(total);
        for (at, (conversation, performance_metrics)) in read.into_iter().enumerate() {
            self.wanted.check()?;
            let short: String = first_trace(conversation).chars().take(12).collect();
            tell(Progress::Message(format!("Trace {}/{total}: {short}...", at + 1)))?;
            for evaluator in &self.evaluators {
                tell(Progress::Message(format!("Running {}...", evaluator.name)))?;
            }
            let case = found.get(&at).copied();
            let result = TraceResult {
                trace_id: first_trace(conversation).to_owned(),
                num_invocations: conversation.turns.len(),
                metric_results: self.score(conversation, case.map(|(case, _)| case), caller),
                conversion_warnings: case
                    .and_then(|(case, _)| other_words(conversation, case))
                    .into_iter()
                    .chain(warnings(conversation, &gaps))
                    .collect(),
                performance_metrics,
                agent_name: conversation.turns.iter().find_map(|turn| turn.agent.clone()),
                trace_ids: conversation.trace_ids.clone(),
                conversation_id: self.name_of(conversation),
                group_key: conversation.key.clone(),
                eval_case_id: case.map(|(case, _)| case.eval_id.clone()),
                eval_case_match: case.map(|(_, by)| by_name(by)),
                turn_refs: conversation.turns.iter().map(turn_ref).collect(),
            };
            tell(Progress::Scored { trace_id: &result.trace_id, partial_result: &result })?;
            results.push(result);
        }
        let all = || results.iter().flat_map(|result| result.metric_results.iter());
        let passed = errors.is_empty()
            && all().any(|metric| metric.eval_status == EvalStatus::Passed)
            && all().all(|metric| {
                let is_informational = self::metric(&metric.metric_name).is_some_and(|info| !info.gates);
                metric.eval_status == EvalStatus::Passed || is_informational
            });
        let performance_metrics = RunPerformance::new(&results);
        Ok(RunResult { passed, trace_results: results, errors, performance_metrics, run_id: None })
    }

    /// The name of a conversation, also where each trace is a conversation of its own.
    fn name_of(&self, conversation: &Conversation) -> Option<String> {
        let named = conversation.trace_ids.first().and_then(|id| self.names.get(id));
        named.cloned().or_else(|| name(conversation))
    }

    /// Whether a single conversation matches the case, whatever it contains.
    fn has_one_case(&self) -> bool {
        self.set.as_ref().is_none_or(|set| set.eval_cases.len() == 1)
    }

    fn cases(&self, errors: &mut Vec<String>) -> HashMap<usize, (&EvalCase, MatchedBy)> {
        let cases = self.set.iter().flat_map(|set| &set.eval_cases);
        let mut found: HashMap<usize, (&EvalCase, MatchedBy)> = HashMap::new();
        for case in cases {
            match self.traces.conversation_of(case, self.has_one_case()) {
                Ok((at, by)) => match found.entry(at) {
                    Entry::Vacant(place) => drop(place.insert((case, by))),
                    Entry::Occupied(place) => {
                        let key = &self.traces.conversations()[at].key;
                        // An id is truncated: thousands of messages can repeat it.
                        let [key, one, other] = [key, &case.eval_id, &place.get().0.eval_id]
                            .map(|id| truncated(id, MAX_ID_CHARS, "…"));
                        errors.push(format!(
                            "the cases `{other}` and `{one}` are both about the trace `{key}`; only `{other}` is scored"
                        ));
                    }
                },
                Err(error) => errors.push(format!("the case `{}` has no trace: {error}", case.eval_id)),
            }
        }
        found
    }

    fn score(&self, conversation: &Conversation, case: Option<&EvalCase>, caller: Caller) -> MetricResults {
        if conversation.turns.is_empty() {
            return MetricResults::of_no_turns();
        }
        let has_case = case.is_some();
        let case = case.map_or_else(|| Cow::Owned(asked(conversation)), Cow::Borrowed);
        // The case is checked here: each runner would check it again.
        let problems = if self.is_checked { None } else { case.check().err() };
        let evaluators = self.evaluators_of(&case);
        let usable = |evaluator: &&Evaluator| self.unusable(evaluator, has_case, caller).is_none();
        let usable: Vec<&Evaluator> = evaluators.iter().filter(usable).collect();
        // All usable metrics are scored together, once.
        let together = OnceCell::new();
        MetricResults::of_each(&evaluators, |evaluator| {
            if let Some(unscored) = self.unusable(evaluator, has_case, caller) {
                return unscored;
            }
            if let Some(problems) = &problems {
                return MetricResult::unscored(&evaluator.name, problems.to_string(), "ConfigError");
            }
            if let Ok(report) = together.get_or_init(|| self.play(&case, &usable)) {
                return result(evaluator, report, &case, conversation);
            }
            // A metric does not fit the case. Playing each on its own finds out which.
            match self.play(&case, &[evaluator]) {
                Ok(report) => result(evaluator, &report, &case, conversation),
                Err(error) => MetricResult::unscored(&evaluator.name, error, "ConfigError"),
            }
        })
    }

    /// The metrics of the request, and the one that decides the demands of the case, which a request cannot leave out.
    fn evaluators_of(&self, case: &EvalCase) -> Cow<'_, [Evaluator]> {
        let is_asked = self.evaluators.iter().any(|evaluator| evaluator.name == Evaluator::DEMANDS);
        let demands = |(_, turn): &(usize, TurnExpect)| !turn.answer.is_empty();
        if is_asked
            || case.takes_out(Evaluator::DEMANDS)
            || !case.expect().is_some_and(|expect| expect.turns.iter().any(demands))
        {
            return Cow::Borrowed(&self.evaluators);
        }
        Cow::Owned(self.evaluators.iter().cloned().chain([Evaluator::of_demands()]).collect())
    }

    fn unusable(&self, evaluator: &Evaluator, has_case: bool, caller: Caller) -> Option<MetricResult> {
        const NO_CASE: &str = "no matching eval case";
        let name = &evaluator.name;
        if evaluator.own.is_some() {
            let why = "this metric is a program or code of the service, which needs the token of the server";
            return (caller != Caller::Trusted).then(|| MetricResult::unscored(name, why, "TokenRequired"));
        }
        let Some(info) = metric(name) else {
            let why = format!("{name} not found in registry.");
            return Some(MetricResult::unscored(name, why, "NotFoundError"));
        };
        if is_judged(name) && caller != Caller::Trusted {
            let why = "this metric asks a judge, which needs the token of the server";
            return Some(MetricResult::unscored(name, why, "TokenRequired"));
        }
        if has_case || !info.needs.contains(&Need::Expectation) && self.set.is_none() {
            return None;
        }
        let (error, reason) = match &self.set {
            None => {
                let why = "no eval set was given, and this metric compares with what one expects";
                (why, "no eval set provided")
            }
            Some(set) if set.eval_cases.is_empty() => ("the eval set has no cases", NO_CASE),
            Some(_) => ("no case of the eval set is about this trace", NO_CASE),
        };
        let details = Details { reason: Some(reason.to_owned()), ..Details::default() };
        let unscored = MetricResult::unscored(name, error, "NoEvalCase");
        Some(MetricResult { details: Some(details), ..unscored })
    }

    /// Plays the conversation of a checked case, and scores it. Fails if the metrics cannot be used with the case.
    fn play(&self, case: &EvalCase, evaluators: &[&Evaluator]) -> Result<CaseReport, String> {
        // The request asks for these metrics of all: what the case says of others is no mistake.
        let all = METRICS.iter().map(|info| (info.name.to_owned(), Criterion::new(1.0)));
        let all = all.fold(EvalConfig::default(), |config, (name, criterion)| config.with(name, criterion));
        let asked = evaluators.iter().map(|evaluator| (evaluator.name.clone(), evaluator.criterion()));
        let mut runner = EvalRunner::new().__stop_at(self.wanted.flag()).__take_checked_cases(true);
        runner = runner.config(all.only(asked.collect()));
        for evaluator in evaluators {
            if let Some(own) = &evaluator.own {
                runner = runner.metric(&evaluator.name, own.clone());
            }
        }
        let agent = TraceAgent::from(Arc::clone(&self.traces)).only_case(self.has_one_case());
        // It runs in the caller's task: a task of its own would cost more than the work.
        complete(runner.run_agent(case, agent)).map_err(|error| error.to_string())
    }
}

/// A case with only the user's messages of the turns.
fn asked(conversation: &Conversation) -> EvalCase {
    let own = conversation.to_case(&conversation.key);
    let turns = own.conversation.into_iter().map(|turn| Invocation::new(turn.user_content));
    turns.fold(EvalCase::new(&conversation.key), EvalCase::turn)
}

/// The first turn in which the user says other words than in the case, as a note.
fn other_words(conversation: &Conversation, case: &EvalCase) -> Option<String> {
    let turns = conversation.turns.iter().zip(&case.conversation).enumerate();
    let mut notes = turns.filter_map(|(at, (turn, golden))| turn.other_words(at + 1, &golden.user_text()));
    notes.next()
}

fn first_trace(conversation: &Conversation) -> &str {
    conversation.trace_ids.first().map(String::as_str).unwrap_or_default()
}

fn by_name(by: MatchedBy) -> &'static str {
    match by {
        MatchedBy::CaseId => "eval_case_id",
        MatchedBy::Words => "user_text",
        MatchedBy::OnlyOne => "single_case",
        // Matched by the id of the case, or of its session.
        _ => "key",
    }
}

fn result(
    evaluator: &Evaluator,
    report: &CaseReport,
    case: &EvalCase,
    conversation: &Conversation,
) -> MetricResult {
    let name = &evaluator.name;
    let run = report.runs.first();
    if let Some(error) = run.and_then(|run| run.error.as_ref()) {
        return MetricResult::unscored(name, error.to_string(), kind_of_error(error.role));
    }
    let Some(scored) = run.and_then(|run| run.metric(name)) else {
        let why = report.verdict.reason().unwrap_or("the case was not scored with this metric");
        return MetricResult::unscored(name, why, "HarnessError");
    };
    let details = match details(scored, case, conversation) {
        Ok(details) => details,
        Err(why) => return MetricResult::unscored(name, why, "HarnessError"),
    };
    let (error, error_type) = match &scored.verdict {
        Verdict::Passed | Verdict::Failed if evaluator.decides_nothing() => {
            (Some("every score reaches the threshold 0".to_owned()), Some("NotEvaluated"))
        }
        Verdict::Error { role, message } => (Some(message.clone()), Some(kind_of_error(*role))),
        Verdict::NotEvaluated(reason) => (Some(reason.clone()), Some("NotEvaluated")),
        Verdict::Skipped(reason) => (Some(reason.clone()), Some("Skipped")),
        _ => (None, None),
    };
    let bound = scored.criterion.as_ref().map(Criterion::bound);
    // agentevals has no status for a metric that only informs.
    let of_turn = |verdict: &TurnVerdict| match verdict {
        _ if evaluator.decides_nothing() => EvalStatus::NotEvaluated,
        TurnVerdict::Passed => EvalStatus::Passed,
        TurnVerdict::Failed => EvalStatus::Failed,
        _ => EvalStatus::NotEvaluated,
    };
    MetricResult {
        metric_name: name.clone(),
        score: overall(scored),
        score_shown: overall(scored).map(|score| short(score, bound)),
        eval_status: match scored.verdict {
            _ if evaluator.decides_nothing() => EvalStatus::NotEvaluated,
            Verdict::Passed => EvalStatus::Passed,
            Verdict::Failed => EvalStatus::Failed,
            _ => EvalStatus::NotEvaluated,
        },
        per_invocation_scores: scores(scored).iter().map(Score::value).collect(),
        per_invocation_statuses: scored.turns.iter().map(of_turn).collect(),
        turns: scored.turns.clone(),
        error,
        error_type,
        details,
        duration_ms: None,
    }
}

/// Details of a score. If the numbers of turns differ, turns side by side would not belong together.
fn details(
    scored: &ScoredMetric,
    case: &EvalCase,
    conversation: &Conversation,
) -> Result<Option<Details>, String> {
    let scores = scores(scored);
    let is_trajectory =
        metric(&scored.name).is_some_and(|info| matches!(info.compares, Subject::ToolCalls(_)));
    let comparisons = is_trajectory.then(|| comparisons(scores, case, conversation)).transpose()?;
    let notes = scores.iter().flat_map(|score| score.notes().iter().cloned()).collect();
    let has_rubrics = scores.iter().any(|score| !score.rubrics().is_empty());
    let rubrics = has_rubrics.then(|| RubricResult::of_turns(conversation.turns.iter().zip(scores)));
    let (per_invocation, overall_rubric_scores) = rubrics.unzip();
    let details = Details { comparisons, per_invocation, overall_rubric_scores, reason: None, notes };
    Ok((details.comparisons.is_some() || has_rubrics || !details.notes.is_empty()).then_some(details))
}

fn comparisons(
    scores: &[Score],
    case: &EvalCase,
    conversation: &Conversation,
) -> Result<Vec<ComparedCalls>, String> {
    let (expected, actual) = (&case.conversation, &conversation.turns);
    if scores.is_empty() {
        return Ok(Vec::new());
    }
    if scores.len() != expected.len() || scores.len() != actual.len() {
        return Err(format!(
            "{} turns have a score, the case has {}, and the trace {}",
            scores.len(),
            expected.len(),
            actual.len()
        ));
    }
    let turns = scores.iter().zip(expected).zip(actual);
    let is_full = |score: &Score| score.value() == Some(1.0);
    Ok(turns
        .map(|((score, expected), actual)| ComparedCalls::new(expected, actual, is_full(score)))
        .collect())
}

#[cfg(test)]
mod tests {
    use eval_format::Value;

    use super::*;

    /// A trace of one turn.
    const TURN: &str = r#"[{"traceId": "00000000000000000000000000000001", "spanId": "0000000000000001", "name": "chat",
            "startTimeUnixNano": "1760000000000000000", "endTimeUnixNano": "1760000002000000000",
            "attributes": {"gen_ai.operation.name": "chat",
                "gen_ai.input.messages": "[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"a\"}]}]",
                "gen_ai.output.messages": "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"b\"}]}]"}}]"#;

    #[test]
    fn what_nobody_waits_for_is_scored_no_further() {
        let spans = br#"[{"traceId": "00000000000000000000000000000001", "spanId": "0000000000000001", "name": "work"}]"#;
        let parameters = serde_json::json!({ "evaluators": [{ "name": "response_match_score" }] });
        let evaluators = Parameters::read(&parameters, &[]).unwrap().evaluators;
        let wanted = Wanted::default();
        let traces = Traces::from_texts([&spans[..]]).unwrap();
        let job = Job::of_session(traces, EvalCase::new("c"), evaluators).while_wanted(wanted.clone());
        let waiting = wanted.waiting();
        assert!(job.run_to_end(Caller::Local).is_ok());
        drop(waiting);
        assert!(job.run_to_end(Caller::Local).is_err());
    }

    #[tokio::test]
    async fn a_case_with_problems_is_scored_with_no_metric_and_a_checked_one_is_not_checked_again() {
        let traces = || Traces::from_texts([TURN.as_bytes()]).unwrap();
        let parameters = serde_json::json!({ "evaluators": [{ "name": "response_match_score" }] });
        let parameters = || Parameters::read(&parameters, &[]).unwrap();
        let unnamed = EvalCase::new("").turn(Invocation::user("a").response("b"));
        let set = EvalSet::new("").case(unnamed.clone());
        let job = Job::new((traces(), Vec::new()), Some(set), parameters()).unwrap();
        let result = job.run_to_end(Caller::Local).unwrap();
        let metric = result.trace_results[0].metric_results.iter().next().unwrap();
        assert_eq!(metric.error_type, Some("ConfigError"));
        assert!(metric.error.as_ref().is_some_and(|why| why.contains("the id of the case is empty")));
        let job = Job::of_session(traces(), unnamed, parameters().evaluators);
        let result = job.run_to_end(Caller::Local).unwrap();
        let metric = result.trace_results[0].metric_results.iter().next().unwrap();
        assert_eq!((&metric.error, metric.score, metric.eval_status), (&None, Some(1.0), EvalStatus::Passed));
    }

    #[tokio::test]
    async fn a_case_adds_its_demands_to_the_metrics_of_the_request_and_its_rules_ask_for_none() {
        use eval_core::format::FunctionCall;
        use eval_core::format::expect::{Demands, Expect};

        let scored = |demanded: &str, asked: &[&str], change: Option<&str>| {
            let asked: Vec<_> = asked.iter().map(|name| serde_json::json!({ "name": name })).collect();
            let parameters = Parameters::read(&serde_json::json!({ "evaluators": asked }), &[]).unwrap();
            let turn =
                Invocation::user("a").call(FunctionCall::new("f", serde_json::json!({}))).response("b");
            let rules = TurnExpect::default().any_order().answer(Demands::default().contains(demanded));
            let mut case = EvalCase::new("c").turn(turn).with_expect(Expect::default().turn(1, rules));
            case = case.with_criterion("trajectory_recall", Value::Null);
            if let Some(metric) = change {
                case = case.with_criterion(metric, Value::Null);
            }
            let traces = Traces::from_texts([TURN.as_bytes()]).unwrap();
            let job = Job::new((traces, Vec::new()), Some(EvalSet::new("s").case(case)), parameters).unwrap();
            let result = job.run_to_end(Caller::Local).unwrap();
            let metrics = result.trace_results[0].metric_results.iter();
            let shown =
                metrics.map(|it| format!("{} {:?} {:?}", it.metric_name, it.eval_status, it.error_type));
            (result.passed, shown.collect::<Vec<_>>().join(", "))
        };
        let (answer, demands) = ("response_match_score", "answer_demands");
        let (passed, failed) = ("Passed None", "Failed None");
        for (demanded, asked, change, all_passed, shown) in [
            ("b", &[answer][..], None, true, format!("{answer} {passed}, {demands} {passed}")),
            ("x", &[answer], None, false, format!("{answer} {passed}, {demands} {failed}")),
            ("x", &[demands, answer], None, false, format!("{demands} {failed}, {answer} {passed}")),
            // A case may not take out the one metric that reads its demands.
            ("x", &[answer], Some(demands), false, format!("{answer} NotEvaluated Some(\"ConfigError\")")),
        ] {
            assert_eq!(scored(demanded, asked, change), (all_passed, shown));
        }
    }

    #[test]
    fn scores_of_other_turns_than_those_of_case_and_trace_stand_beside_none() {
        let traces = Traces::from_texts([TURN.as_bytes()]).unwrap();
        let conversation = &traces.conversations()[0];
        let case = EvalCase::new("c").turn(Invocation::user("a"));
        let compared = |scores: usize, case: &EvalCase| {
            comparisons(&vec![Score::from(1.0); scores], case, conversation).map(|turns| turns.len())
        };
        assert_eq!((compared(1, &case), compared(0, &case)), (Ok(1), Ok(0)));
        for (scores, case) in
            [(2, case.clone()), (1, case.turn(Invocation::user("b"))), (1, EvalCase::new("c"))]
        {
            let why = compared(scores, &case).unwrap_err();
            assert!(why.contains("turns have a score") && why.ends_with("and the trace 1"), "{why}");
        }
    }
}
