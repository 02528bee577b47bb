//! The errors about answers that are not recorded. They name the nearest recorded question, how it differs, and how to
//! record.

use eval_format::recording::{RecordedQuestion, Recording};
use eval_support::message::cut;
use eval_support::words::count;

use crate::judge::prompt::without_mark;
use crate::judge::{JudgeError, JudgeErrorKind};
use crate::judge_outcome::{ASKED_IF, NO_RECORDING, NOT_RECORDED};

const MAX_DIFF_LINES: usize = 6;
const MAX_LINE_CHARS: usize = 160;

/// The error for a question without a recording, if `EVALSET_JUDGE` does not allow asking. `label` is `None`
/// for a set without a file, which has no recording.
pub(in crate::judge) fn no_recording(label: Option<&RecordingLabel>) -> JudgeError {
    let missing = match label {
        Some(label) => format!("{NO_RECORDING} `{}`", label.shown),
        None => "no judge: this set was not read from a file, so it has no recording".to_owned(),
    };
    let mut text = format!("{missing}, {ASKED_IF}\n");
    if label.is_some() {
        text.push_str(
            "EVALSET_JUDGE=record        asks the judge and writes the recording, from which later runs replay\n",
        );
    }
    text.push_str(
        "EVALSET_JUDGE=live          asks the judge and keeps nothing\n\
         EVALSET_MISSING_JUDGE=skip  skips what needs a judge\n",
    );
    match label {
        Some(label) => text.push_str(&format!("record it  {}", label.how_to_record())),
        None => text.push_str("give the runner a judge with a recording: `RecordedJudge::open(path, judge)`"),
    }
    JudgeError::new(JudgeErrorKind::NoJudge, text)
}

pub(super) fn not_recorded(
    recording: &Recording,
    asked: &RecordedQuestion,
    sample: u32,
    label: &RecordingLabel,
) -> JudgeError {
    let shown = &label.shown;
    let name = name(asked).map(|name| format!(" of `{name}`")).unwrap_or_default();
    let nearest = nearest(recording, asked);
    let changed = nearest.and_then(|known| version(known, asked));
    let mut details = Vec::new();
    let headline = match (nearest, changed) {
        (None, _) => format!("the recording `{shown}` is empty"),
        (_, Some((was, is))) => {
            format!("the prompt{name} changed in this version (recorded /{was}, now /{is}): record again")
        }
        (Some(known), None) if known.key() == asked.key() => format!(
            "`{shown}` has {} of this question{name}, and not sample {}; was `num_samples` raised?",
            count(known.replies.len(), "sample"),
            sample + 1
        ),
        (Some(known), None)
            if without_mark(&known.prompt) == without_mark(&asked.prompt)
                && !differs_beside_prompt(known, asked) =>
        {
            format!("the marks around data in the prompt{name} changed in this version: record again")
        }
        (Some(known), None) => {
            details = difference(known, asked, &name);
            format!("`{shown}` has no answer to this question{name}")
        }
    };
    let mut text = format!("{NOT_RECORDED}{headline}");
    for line in details {
        text.push('\n');
        text.push_str(&line);
    }
    text.push_str(&format!("\nrecord it  {}", label.how_to_record()));
    JudgeError::new(JudgeErrorKind::NotRecorded, text)
}

/// The name of the prompt: `final_response_match_v2` of `final_response_match_v2/3`.
fn name(question: &RecordedQuestion) -> Option<&str> {
    let template = question.template.as_deref()?;
    Some(template.rsplit_once('/').map_or(template, |(name, _)| name))
}

/// The versions of a prompt that changed, the recorded one first.
fn version<'a>(known: &'a RecordedQuestion, asked: &'a RecordedQuestion) -> Option<(&'a str, &'a str)> {
    let (name, was) = known.template.as_deref()?.rsplit_once('/')?;
    let (same, is) = asked.template.as_deref()?.rsplit_once('/')?;
    (name == same && was != is).then_some((was, is))
}

/// The recorded question that is most similar to the asked one. Similarity is, in this order: the same name
/// of the prompt, the same key, the same version of the prompt, the same case, the longest common beginning
/// and end.
fn nearest<'a>(recording: &'a Recording, asked: &RecordedQuestion) -> Option<&'a RecordedQuestion> {
    let words = without_mark(&asked.prompt);
    recording.questions().iter().max_by_key(|known| {
        let same_name = name(known) == name(asked);
        let same_version = known.template == asked.template;
        let same_case = known.cases.iter().any(|case| asked.cases.contains(case));
        let in_common = in_common(&without_mark(&known.prompt), &words);
        (same_name, known.key() == asked.key(), same_version, same_case, in_common)
    })
}

/// The number of bytes in the common beginning and end.
fn in_common(one: &str, other: &str) -> usize {
    let shorter = one.len().min(other.len());
    let same = |(one, other): &(u8, u8)| one == other;
    let begin = one.bytes().zip(other.bytes()).take_while(same).count();
    let end = one.bytes().rev().zip(other.bytes().rev()).take(shorter - begin).take_while(same).count();
    begin + end
}

/// The lines that show how a question differs from the nearest recorded one.
fn difference(known: &RecordedQuestion, asked: &RecordedQuestion, name: &str) -> Vec<String> {
    let mut lines = vec![format!("the nearest recorded question{name} differs (- recorded, + asked):")];
    let mut field = |name: &str, was: &dyn std::fmt::Display, is: &dyn std::fmt::Display| {
        let (was, is) = (was.to_string(), is.to_string());
        if was != is {
            lines.push(format!("  - {name}: {}", cut(&was, MAX_LINE_CHARS)));
            lines.push(format!("  + {name}: {}", cut(&is, MAX_LINE_CHARS)));
        }
    };
    let temperature = |question: &RecordedQuestion| match question.temperature {
        Some(temperature) => format!("{temperature:?}"),
        None => "none".to_owned(),
    };
    let value = |value: Option<&eval_format::Value>| value.map_or("none".to_owned(), ToString::to_string);
    field("model", &known.model, &asked.model);
    field("temperature", &temperature(known), &temperature(asked));
    let config = |question: &RecordedQuestion| eval_format::Value::from(question.config.clone()).to_string();
    field("config", &config(known), &config(asked));
    field("schema", &value(known.schema.as_ref()), &value(asked.schema.as_ref()));
    prompts(&mut lines, &without_mark(&known.prompt), &without_mark(&asked.prompt));
    lines
}

/// Whether questions differ in more than their prompts.
fn differs_beside_prompt(known: &RecordedQuestion, asked: &RecordedQuestion) -> bool {
    let mut same_prompt = known.clone();
    same_prompt.prompt.clone_from(&asked.prompt);
    same_prompt.key() != asked.key()
}

/// Adds the lines of two prompts from their first to their last difference.
fn prompts(out: &mut Vec<String>, known: &str, asked: &str) {
    if known == asked {
        return;
    }
    let (known, asked): (Vec<&str>, Vec<&str>) = (known.split('\n').collect(), asked.split('\n').collect());
    let shorter = known.len().min(asked.len());
    let same = |(one, other): &(&&str, &&str)| one == other;
    let begin = known.iter().zip(&asked).take_while(same).count();
    let end = known.iter().rev().zip(asked.iter().rev()).take(shorter - begin).take_while(same).count();
    out.push(format!("  prompt, from line {}", begin + 1));
    for (mark, lines) in [('-', &known), ('+', &asked)] {
        let changed = &lines[begin..lines.len() - end];
        out.extend(
            changed.iter().take(MAX_DIFF_LINES).map(|line| format!("  {mark} {}", cut(line, MAX_LINE_CHARS))),
        );
        if changed.len() > MAX_DIFF_LINES {
            out.push(format!("  {mark} ... and {}", count(changed.len() - MAX_DIFF_LINES, "more line")));
        }
    }
}

#[derive(Clone, Debug)]
pub(in crate::judge) struct RecordingLabel {
    pub(super) shown: String,
    /// The command that runs the test with the questions, if it is known.
    pub(super) command: Option<String>,
}

impl RecordingLabel {
    pub(super) fn how_to_record(&self) -> String {
        match &self.command {
            Some(command) => format!("EVALSET_JUDGE=record {command}"),
            None => "EVALSET_JUDGE=record and the same command again".to_owned(),
        }
    }
}
