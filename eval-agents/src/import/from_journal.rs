//! Conversations of recorded runs.

use eval_core::format::{EvalCase, IntermediateData, Invocation, Map, SessionInput};
use eval_core::journal::{RecordedRun, RecordedTest};
use eval_core::report::Transcript;

use super::error::ImportError;
use crate::draft::{Draft, Origin};

/// The drafts of a case of a recorded run: a draft for each time that it ran in the last attempt.
///
/// `case` is the id of the case, or the name of its test as cargo shows it. What a run records is without secrets already.
///
/// ```no_run
/// use eval_agents::import;
/// use eval_core::journal::RecordedRun;
///
/// let run = RecordedRun::read("target/evalset/nightly".as_ref())?;
/// for draft in import::journal("nightly", &run, "sunny")? {
///     println!("{}: {:?}", draft.case.eval_id, draft.gaps);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn journal(from: &str, run: &RecordedRun, case: &str) -> Result<Vec<Draft>, ImportError> {
    let id =
        |test: &RecordedTest| test.last().map(|attempt| attempt.started.eval_id.clone()).unwrap_or_default();
    let mut found: Vec<_> = run.tests.iter().filter(|test| test.name() == case).collect();
    if found.is_empty() {
        found = run.tests.iter().filter(|test| id(test) == case).collect();
    }
    let [test] = found.as_slice() else {
        let (what, there) = if found.is_empty() {
            (format!("case `{case}`"), run.tests.iter().map(id).collect())
        } else {
            let names = found.iter().map(|test| test.name().to_owned()).collect();
            (format!("single case `{case}`; name its test"), names)
        };
        return Err(ImportError::Missing { from: from.to_owned(), what, there });
    };
    let Some(attempt) = test.last() else { return Ok(Vec::new()) };
    let (mut drafts, mut left_out) = (Vec::new(), Vec::new());
    for evaluation in &attempt.evaluations {
        let number = evaluation.ran.run;
        let which = format!("run {number} of `{case}`");
        let Some((case, gaps)) = made(&attempt.started.eval_id, &evaluation.ran.transcript) else {
            left_out.push(format!("{which} has no turn"));
            continue;
        };
        let mut origin =
            Origin::new(from).with("format", "journal").with("case", test.name()).with("run", number);
        if let Some(passed) = evaluation.passed {
            origin = origin.with("passed", passed);
        }
        let draft = Draft::of(case, origin).map_err(ImportError::case(from, which))?;
        drafts.push(draft.with_gaps(gaps));
    }
    if drafts.is_empty() {
        if left_out.is_empty() {
            left_out.push(format!("no run of `{case}` came to its end"));
        }
        return Err(ImportError::Nothing { from: from.to_owned(), left_out });
    }
    Ok(drafts)
}

/// The case of what happened in a run, and its gaps; `None` if nothing did.
pub(crate) fn made(id: &str, transcript: &Transcript) -> Option<(EvalCase, Vec<String>)> {
    if transcript.turns.is_empty() {
        return None;
    }
    let mut gaps = Vec::new();
    let mut case = EvalCase::new(id);
    let mut changed = Map::new();
    for (at, record) in transcript.turns.iter().enumerate() {
        let turn = turn(&record.invocation);
        if turn.final_response.is_none() {
            gaps.push(format!("turn {} has no answer", at + 1));
        }
        case.conversation.push(turn);
        changed.extend(record.events.iter().flat_map(|event| event.state_delta.clone()));
    }
    if let Some(error) = &transcript.error {
        gaps.push(format!("the run ended early: {error}"));
    }
    let session = &transcript.session;
    let end = |(key, value): (String, _)| {
        let value = transcript.state.get(&key).cloned().unwrap_or(value);
        (key, value)
    };
    let lasting = changed.into_iter().filter(|(key, _)| !key.starts_with("temp:"));
    case.final_session_state = lasting.map(end).collect();
    let input = SessionInput::new(&session.app_name, &session.user_id).with_state(session.state.clone());
    Some((case.with_session_input(input), gaps))
}

/// A turn as a set has it: what metrics were given beside it is left out, and so are events that say nothing.
fn turn(recorded: &Invocation) -> Invocation {
    let mut turn = recorded.clone();
    (turn.rubrics, turn.app_details) = (None, None);
    (turn.duration, turn.model_duration, turn.tool_duration) = (None, None, None);
    if let Some(IntermediateData::Events(events)) = &mut turn.intermediate_data {
        let last = events.len().saturating_sub(1);
        let mut at = 0;
        // ADK leaves out what is tokens alone, but for the answer's own.
        events.retain(|event| {
            at += 1;
            let says = event.content.as_ref().is_some_and(|content| !content.parts().is_empty());
            says || event.grounding_metadata.is_some() || at > last
        });
    }
    turn
}
