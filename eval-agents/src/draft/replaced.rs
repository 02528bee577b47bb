//! Drafts in place of goldens: the case with what the agent did as its expectations.

use std::fmt;

use eval_core::__private::with_run;
use eval_core::format::expect::Rules;
use eval_core::format::{Content, EvalCase, IntermediateData, Map, Meaning, Problems, Value};
use eval_core::report::Transcript;
use eval_support::secrets::shows_a_mask;
use eval_support::words::count;

use super::{Draft, Origin, common_part, masking, played};

/// The reason why runs of a case do not take the place of its expectations.
#[derive(Debug)]
#[non_exhaustive]
pub enum NotReplaced {
    /// There is no run, or one ended in an error.
    #[non_exhaustive]
    Run {
        /// The fault of the runs.
        why: String,
    },
    /// The golden has other turns than the runs, or none, as a scenario has.
    Turns,
    /// The runs differ.
    #[non_exhaustive]
    Varied {
        /// The parts that varied.
        what: Vec<String>,
    },
    /// A secret was masked in a part that would be expected, so that no agent could give it.
    #[non_exhaustive]
    Masked {
        /// The part.
        place: String,
    },
    /// The golden expects already what the agent did.
    Unchanged,
    /// The case would have errors.
    Case(Problems),
}

impl fmt::Display for NotReplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run { why } => f.write_str(why),
            Self::Turns => f.write_str("the case has other turns than the run"),
            Self::Varied { what } => write!(f, "the runs differ: {}", what.join("; ")),
            Self::Masked { place } => {
                write!(f, "{place}: a secret was masked there, and what was said is lost")
            }
            Self::Unchanged => f.write_str("the case expects already what the agent did"),
            Self::Case(problems) => problems.fmt(f),
        }
    }
}

impl std::error::Error for NotReplaced {}

impl Draft {
    /// The key of a mark that holds the expectations which the draft replaces.
    pub const GOLDEN_KEY: &'static str = "golden";

    /// A draft that takes the place of a golden: the same case, with what the agent did in all runs as its expectations. The
    /// key `golden` of its mark holds the expectations before.
    ///
    /// Calls and answers are replaced. Tool responses, texts before the answer and keys of the state at the end are replaced
    /// if the golden expects some. A turn without an expected answer gets one if nothing else changes, or if the golden expects
    /// nothing at all. Calls that the rules of the case (`_expect`) accept are no change: the golden keeps its own.
    ///
    /// ```
    /// use eval_agents::draft::{Draft, Origin};
    /// use eval_core::format::{EvalCase, Invocation};
    /// use eval_core::{EvalRunner, Replay};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let golden = EvalCase::new("sunny").turn(Invocation::user("Weather in Paris?").response("It is sunny."));
    /// let report = EvalRunner::new().run_case(&golden, || Replay::new([["Clear skies."]])).await?;
    /// let runs: Vec<_> = report.runs.iter().map(|run| &run.transcript).collect();
    /// let draft = Draft::in_place_of(&golden, &runs, Origin::new("run 7"))?;
    /// assert_eq!(draft.case.conversation[0].response_text(), "Clear skies.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn in_place_of(golden: &EvalCase, runs: &[&Transcript], origin: Origin) -> Result<Self, NotReplaced> {
        let [first, others @ ..] = runs else {
            return Err(NotReplaced::Run { why: "no run of the case came to its end".to_owned() });
        };
        if let Some((at, error)) =
            runs.iter().enumerate().find_map(|(at, run)| Some((at, run.error.as_ref()?)))
        {
            let run = if others.is_empty() { String::new() } else { format!("run {}: ", at + 1) };
            return Err(NotReplaced::Run { why: format!("{run}{error}") });
        }
        let rules = Rules::of(golden).map_err(NotReplaced::Case)?;
        let replaced = |run: &Transcript, new_answers: bool| {
            with_run(golden, run, &rules, new_answers).ok_or(NotReplaced::Turns)
        };
        let mut case = replaced(first, false)?;
        let new_answers = changes(golden, &case).is_empty();
        if new_answers {
            case = replaced(first, true)?;
        }
        let meaning = Meaning::from_case(&case);
        for other in others {
            let other = replaced(other, new_answers)?;
            if Meaning::from_case(&other) != meaning {
                return Err(NotReplaced::Varied { what: varied(runs) });
            }
        }
        let changes = changes(golden, &case);
        if changes.is_empty() {
            return Err(NotReplaced::Unchanged);
        }
        refuse_masks(golden, &case)?;
        let is_changed = |turn: usize| changes.iter().any(|change| change.turn == Some(turn));
        let mut volatile = super::volatile_of(&case);
        volatile.retain(|volatile| is_changed(volatile.turn));
        let (_, gaps) = played(None, first).unwrap_or_default();
        let before: Value = changes.iter().map(|change| Value::Object(change.before.clone())).collect();
        let origin = origin.with(Self::GOLDEN_KEY, before);
        let draft = Self { case, origin, masked: Vec::new(), volatile, gaps: Vec::new(), varied: Vec::new() };
        Ok(draft.with_gaps(gaps))
    }
}

/// Expectations that were replaced, of a turn or of the session.
struct ReplacedExpectations {
    /// From 1.
    turn: Option<usize>,
    /// The expectations before, in ADK's form; `null` where there were none.
    before: Map,
}

fn changes(golden: &EvalCase, case: &EvalCase) -> Vec<ReplacedExpectations> {
    let mut changes = Vec::new();
    for (at, (old, new)) in golden.conversation.iter().zip(&case.conversation).enumerate() {
        let mut before = Map::new();
        if old.intermediate_data != new.intermediate_data {
            let data = old.intermediate_data.as_ref().map_or(Value::Null, IntermediateData::to_value);
            before.insert("intermediate_data", data);
        }
        if old.final_response != new.final_response {
            before
                .insert("final_response", old.final_response.as_ref().map_or(Value::Null, Content::to_value));
        }
        if !before.is_empty() {
            let mut of_turn = Map::from([("turn", i64::try_from(at + 1).unwrap_or(i64::MAX))]);
            of_turn.extend(before);
            changes.push(ReplacedExpectations { turn: Some(at + 1), before: of_turn });
        }
    }
    if golden.final_session_state != case.final_session_state {
        let before = Map::from([("final_session_state", Value::from(golden.final_session_state.clone()))]);
        changes.push(ReplacedExpectations { turn: None, before });
    }
    changes
}

/// A golden with what happened in a run, in the form that the golden has. `new_answers` says that turns which expect no answer get
/// one. `None` if the run has other turns.
#[doc(hidden)]
pub fn in_form_of(golden: &EvalCase, run: &Transcript, new_answers: bool) -> Option<EvalCase> {
    with_run(golden, run, &Rules::default(), new_answers)
}

/// Refuses a case in which a secret was masked, in a text that its golden does not have.
#[doc(hidden)]
pub fn refuse_masks(golden: &EvalCase, case: &EvalCase) -> Result<(), NotReplaced> {
    let is_new =
        |new: Value, old: Value| texts(&new).any(|it| shows_a_mask(it) && !texts(&old).any(|old| old == it));
    for (at, (old, new)) in golden.conversation.iter().zip(&case.conversation).enumerate() {
        if is_new(new.to_value(), old.to_value()) {
            return Err(NotReplaced::Masked { place: format!("turn {}", at + 1) });
        }
    }
    if is_new(case.final_session_state.clone().into(), golden.final_session_state.clone().into()) {
        return Err(NotReplaced::Masked { place: "the state at the end".to_owned() });
    }
    let (_, before) = masking::masked(golden.clone()).map_err(NotReplaced::Case)?;
    let (_, found) = masking::masked(case.clone()).map_err(NotReplaced::Case)?;
    match found.into_iter().find(|masked| !before.contains(masked)) {
        Some(masked) => Err(NotReplaced::Masked { place: masked.to_string() }),
        None => Ok(()),
    }
}

/// The texts in a value, and the keys.
fn texts(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text.as_str())),
        Value::Array(items) => Box::new(items.iter().flat_map(texts)),
        Value::Object(map) => Box::new(map.iter().flat_map(|(key, value)| texts(value).chain([key]))),
        _ => Box::new(std::iter::empty()),
    }
}

fn varied(runs: &[&Transcript]) -> Vec<String> {
    what_varied(runs.iter().filter_map(|run| Some(played(None, run)?.0)).collect())
}

/// The differences between what happened in runs, in words.
#[doc(hidden)]
pub fn what_varied(runs: Vec<EvalCase>) -> Vec<String> {
    let all = runs.len();
    let (_, what) = common_part(runs);
    if what.is_empty() { vec![format!("what happened in {}", count(all, "run"))] } else { what }
}

#[cfg(test)]
mod tests;
