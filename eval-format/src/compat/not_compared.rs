//! Expectations of cases that no metric reads.

use std::fmt;

use crate::config::{Criterion, EvalConfig};
use crate::metric::{MetricInfo, Need, Subject, TRAJECTORY_QUALITY, metric};
use crate::model::{Content, EvalCase, Invocation, Part, Rubric};

/// Counts of expectations that no metric reads: they could be wrong, and every test would pass.
///
/// ```
/// use eval_format::compat::NotCompared;
/// use eval_format::{Criterion, EvalCase, EvalConfig, FunctionCall, Invocation};
/// use serde_json::json;
///
/// let turn = Invocation::user("Weather?").call(FunctionCall::new("get_weather", json!({}))).response("Sunny.");
/// let cases = [EvalCase::new("weather").turn(turn)];
/// let not_compared = |config: &EvalConfig| {
///     NotCompared::of(config.criteria.iter().map(|(name, criterion)| (name.as_str(), criterion)), &[], &cases)
/// };
///
/// assert!(not_compared(&EvalConfig::adk_default()).is_empty());
/// let words = EvalConfig::default().with("response_match_score", Criterion::new(0.8));
/// assert_eq!(not_compared(&words).to_string(), "1 tool call");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NotCompared {
    /// The counts, in the order of [`WHAT`].
    counts: [usize; WHAT.len()],
    /// Whether there are metrics of the user's own, which may read anything.
    own_metrics: bool,
}

/// The kinds of expectations: a name for programs, the singular and the plural.
const WHAT: [(&str, &str, &str); 8] = [
    ("tool_calls", "tool call", "tool calls"),
    ("tool_responses", "tool response", "tool responses"),
    ("intermediate_responses", "intermediate response", "intermediate responses"),
    ("answers", "answer", "answers"),
    ("files_in_answers", "image or file in an answer", "images or files in answers"),
    ("other_parts_of_answers", "call or code in an answer", "calls or code in answers"),
    ("session_state", "key of the final session state", "keys of the final session state"),
    ("rubrics", "rubric", "rubrics"),
];

impl NotCompared {
    /// Counts the expectations that no criterion reads. A criterion whose threshold no score misses counts as
    /// reading nothing.
    ///
    /// `answered` names the custom metrics that exist in Rust. They take the place of built-in metrics of the same
    /// name.
    pub fn of<'a>(
        criteria: impl IntoIterator<Item = (&'a str, &'a Criterion)>,
        answered: &[&str],
        cases: impl IntoIterator<Item = &'a EvalCase>,
    ) -> Self {
        let criteria = criteria.into_iter().map(|(name, criterion)| (name.to_owned(), criterion.clone()));
        let config = EvalConfig { criteria: criteria.collect(), ..EvalConfig::default() };
        // The criteria alone do not say what computes a metric that is not built in.
        let names = config.criteria.iter().map(|(name, _)| name.as_str());
        let not_built_in = names.filter(|name| metric(name).is_none());
        let known: Vec<&str> = answered.iter().copied().chain(not_built_in).collect();
        let readers = Readers::of(&config, answered);
        let own_metrics = !answered.is_empty() || readers.own_metrics;
        let mut not_compared = Self { own_metrics, ..Self::default() };
        for case in cases {
            // What is wrong with the criteria of a case is found by `check_compatibility`.
            let own = case.own_criteria().and_then(|_| config.of_case(case, &known).ok());
            let own = own.as_ref().map(|own| Readers::of(own, answered));
            let Readers { all, ignores_state, .. } = own.as_ref().unwrap_or(&readers);
            let unread = Unread { readers: all, ignores_state: *ignores_state, case };
            for (sum, count) in not_compared.counts.iter_mut().zip(unread.counts()) {
                *sum += count;
            }
        }
        not_compared
    }

    /// Whether each expectation is read by some metric.
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|count| *count == 0)
    }

    /// The kinds of unread expectations, by a name for programs (`tool_responses`), and their counts.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, usize)> {
        WHAT.iter().zip(self.counts).map(|((name, ..), count)| (*name, count)).filter(|(_, count)| *count > 0)
    }
}

impl fmt::Display for NotCompared {
    /// `2 tool responses, 1 rubric`; with a remark if metrics of the user's own may read them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for ((_, one, several), count) in WHAT.iter().zip(self.counts).filter(|(_, count)| *count > 0) {
            write!(f, "{comma}{count} {}", if count == 1 { one } else { several })?;
            comma = ", ";
        }
        if self.own_metrics && !self.is_empty() {
            f.write_str(" (unless metrics of your own read them)")?;
        }
        Ok(())
    }
}

/// The criteria that read expectations.
struct Readers<'a> {
    all: Vec<Reader<'a>>,
    /// Whether the session state is compared with a threshold that no score misses.
    ignores_state: bool,
    /// Whether there are metrics that are not built in.
    own_metrics: bool,
}

impl<'a> Readers<'a> {
    fn of(config: &'a EvalConfig, answered: &[&str]) -> Self {
        let mut readers = Self { all: Vec::new(), ignores_state: false, own_metrics: false };
        for (name, criterion) in &config.criteria {
            match metric(name).filter(|_| !answered.contains(&name.as_str())) {
                Some(info) if criterion.threshold > info.min => readers.all.push(Reader { info, criterion }),
                Some(info) => readers.ignores_state |= info.compares == Subject::SessionState,
                None => readers.own_metrics = true,
            }
        }
        readers
    }
}

struct Reader<'a> {
    info: &'static MetricInfo,
    criterion: &'a Criterion,
}

impl Reader<'_> {
    fn reads_calls(&self) -> bool {
        matches!(self.info.compares, Subject::ToolCalls(_))
    }

    fn reads_intermediate_responses(&self) -> bool {
        self.info.compares == Subject::IntermediateResponses
            || self.info.reads_expected_answer()
                && self.info.needs.contains(&Need::Judge)
                && self.criterion.include_intermediate_responses_in_final()
    }
}

struct Unread<'a> {
    readers: &'a [Reader<'a>],
    ignores_state: bool,
    case: &'a EvalCase,
}

impl Unread<'_> {
    fn counts(&self) -> [usize; WHAT.len()] {
        let any = |reads: &dyn Fn(&Reader<'_>) -> bool| self.readers.iter().any(reads);
        let sum = |read: bool, of: fn(&Invocation) -> usize| {
            if read { 0 } else { self.case.conversation.iter().map(of).sum() }
        };
        [
            sum(any(&|reader| reader.reads_calls()), |turn| turn.tool_calls().count()),
            sum(any(&|reader| reader.info.compares == Subject::ToolResponses), |turn| {
                turn.tool_responses().filter(|response| response.response.is_some()).count()
            }),
            sum(any(&|reader| reader.reads_intermediate_responses()), |turn| turn.intermediate_texts().len()),
            sum(any(&|reader| reader.info.reads_expected_answer()), |turn| {
                usize::from(!turn.response_text().trim().is_empty())
            }),
            sum(false, |turn| parts_of_answer(turn, is_file)),
            sum(false, |turn| parts_of_answer(turn, is_call_or_code)),
            if self.ignores_state { self.case.final_session_state.len() } else { 0 },
            self.rubrics(),
        ]
    }

    /// The rubrics that no metric reads, because of their type or their place.
    fn rubrics(&self) -> usize {
        let is_read = |rubric: &Rubric, last: bool| {
            let kind = rubric.kind.as_deref().filter(|kind| last || *kind != TRAJECTORY_QUALITY);
            kind.is_some() && self.readers.iter().any(|reader| reader.info.rubric_type() == kind)
        };
        let unread = |rubrics: &Option<Vec<Rubric>>, last: bool| {
            rubrics.iter().flatten().filter(|rubric| !is_read(rubric, last)).count()
        };
        let turns = &self.case.conversation;
        let of_turns =
            turns.iter().enumerate().map(|(at, turn)| unread(&turn.rubrics, at + 1 == turns.len()));
        unread(&self.case.rubrics, true) + of_turns.sum::<usize>()
    }
}

fn parts_of_answer(turn: &Invocation, counts: fn(&Part) -> bool) -> usize {
    turn.final_response.iter().flat_map(Content::parts).filter(|part| counts(part)).count()
}

fn is_file(part: &Part) -> bool {
    ["inline_data", "file_data"].iter().any(|key| part.other.contains_key(key))
}

fn is_call_or_code(part: &Part) -> bool {
    let keys = ["executable_code", "code_execution_result", "tool_call", "tool_response"];
    part.function_call.is_some()
        || part.function_response.is_some()
        || keys.iter().any(|key| part.other.contains_key(key))
}
