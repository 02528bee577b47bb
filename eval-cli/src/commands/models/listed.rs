//! The list of recordings: what each case has, and what has no case.

use eval_core::models::CaseRecording;
use eval_format::conventions::models_file;
use eval_support::untrusted::one_line;
use eval_support::words::{count, tokens};
use eval_support::{command, shell};
use serde::Serialize;

use super::recorded::Recorded;
use crate::output::{Answer, CommandError, Format, Outcome};

#[derive(Debug, Serialize)]
struct Listing {
    sets: Vec<ListedSet>,
}

#[derive(Debug, Serialize)]
struct ListedSet {
    file: String,
    cases: Vec<ListedCase>,
    /// Files of cases that the set does not have.
    without_case: Vec<String>,
}

/// What is recorded for a case. Fields may be added to its JSON; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
struct ListedCase {
    eval_id: String,
    file: String,
    is_recorded: bool,
    /// The error of a recording that cannot be read.
    error: Option<String>,
    calls: usize,
    runs: usize,
    input_tokens: u64,
    output_tokens: u64,
    /// Answers to older requests.
    rebound: usize,
}

pub(super) fn list(sets: &[Recorded], format: Format) -> Result<Answer, CommandError> {
    let listing = Listing { sets: sets.iter().map(ListedSet::new).collect() };
    let is_broken = listing.sets.iter().flat_map(|set| &set.cases).any(|case| case.error.is_some());
    let outcome = if is_broken { Outcome::Failed } else { Outcome::Passed };
    match format {
        Format::Human => Ok(Answer::new(outcome, text(&listing))),
        Format::Json => Answer::results("models", outcome, &listing),
    }
}

impl ListedSet {
    fn new(recorded: &Recorded) -> Self {
        let Recorded { selected, cases, folder } = recorded;
        let listed = recorded.meant().map(|eval_id| {
            let file = folder.shown_file(eval_id);
            let found = folder.case(eval_id);
            let error = found.as_ref().err().cloned();
            let recording = found.ok().flatten();
            let usage = recording.as_ref().map(CaseRecording::usage).unwrap_or_default();
            ListedCase {
                eval_id: eval_id.to_owned(),
                file,
                is_recorded: recording.is_some(),
                error,
                calls: recording.as_ref().map_or(0, CaseRecording::answers),
                runs: recording.as_ref().map_or(0, CaseRecording::runs),
                input_tokens: usage.input,
                output_tokens: usage.output,
                rebound: recording.as_ref().map_or(0, CaseRecording::rebound),
            }
        });
        let known: Vec<String> = cases.iter().map(|eval_id| models_file(eval_id)).collect();
        let files = folder.files().unwrap_or_default();
        Self {
            file: selected.path.display().to_string(),
            cases: listed.collect(),
            without_case: files.into_iter().filter(|file| !known.contains(file)).collect(),
        }
    }
}

fn text(listing: &Listing) -> String {
    let mut text = String::new();
    for set in &listing.sets {
        let recorded = set.cases.iter().filter(|case| case.is_recorded).count();
        text.push_str(&format!("{}: {recorded} of {} recorded\n", set.file, count(set.cases.len(), "case")));
        for case in &set.cases {
            text.push_str(&format!("  {}  {}\n", one_line(&case.eval_id), said(case)));
        }
        for file in &set.without_case {
            let prune = command::line(&shell::line(&["models", "prune", &set.file]));
            text.push_str(&format!("  {}: no case of the set; `{prune}` removes it\n", one_line(file)));
        }
    }
    text
}

fn said(case: &ListedCase) -> String {
    if let Some(error) = &case.error {
        return format!("ERROR {}", one_line(error));
    }
    if !case.is_recorded {
        return "not recorded".to_owned();
    }
    let total = tokens(i128::from(case.input_tokens) + i128::from(case.output_tokens));
    let mut said = format!("{}, {}, {total}", count(case.calls, "call"), count(case.runs, "run"));
    if case.rebound > 0 {
        said.push_str(&format!(", {} to older requests", count(case.rebound, "answer")));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tokens_of_a_case_add_up_whatever_a_recording_says() {
        let case = ListedCase {
            eval_id: "a".to_owned(),
            file: "a.json".to_owned(),
            is_recorded: true,
            error: None,
            calls: 1,
            runs: 1,
            input_tokens: u64::MAX,
            output_tokens: 1,
            rebound: 0,
        };
        assert_eq!(said(&case), format!("1 call, 1 run, {}", tokens(1 << 64)));
    }
}
