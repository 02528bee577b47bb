//! What is said where an answer is not recorded: what is nearest, how that differs, and how to record.

use eval_format::{RecordedQuestion, Recording};

use super::RecordingStore;
use crate::judge::{JudgeError, JudgeErrorKind};
use crate::message::{count, cut};

/// Lines of a difference that are shown of each side.
const SHOWN_LINES: usize = 6;
/// A line is cut to about this many characters.
const SHOWN_LINE: usize = 160;

/// There is no recording at all (of this store; of a set without one), and nothing was said about asking.
pub(crate) fn no_recording(store: Option<&RecordingStore>) -> JudgeError {
    let missing = match store {
        Some(store) => format!("there is no recording `{}`", store.shown()),
        None => "this set stands in no file, so no recording stands beside it".to_owned(),
    };
    let mut text = format!("no judge: {missing}, and a judge is asked only where `EVALSET_JUDGE` says so\n");
    if store.is_some() {
        text.push_str(
            "EVALSET_JUDGE=record        asks the judge and writes the recording, from which later runs replay\n",
        );
    }
    text.push_str(
        "EVALSET_JUDGE=live          asks the judge and keeps nothing\n\
         EVALSET_MISSING_JUDGE=skip  skips what needs a judge\n",
    );
    match store {
        Some(store) => text.push_str(&format!("record it  {}", store.command())),
        None => text.push_str("give the runner a judge with a recording: `RecordedJudge::open(path, judge)`"),
    }
    JudgeError::new(JudgeErrorKind::NoJudge, text)
}

/// There is a recording, and the question is not in it.
pub(super) fn not_recorded(
    recording: &Recording,
    asked: &RecordedQuestion,
    sample: u32,
    store: &RecordingStore,
) -> JudgeError {
    let shown = store.shown();
    let name = match name(&asked.template) {
        "" => String::new(),
        name => format!(" of `{name}`"),
    };
    let (headline, details) = match nearest(recording, asked) {
        None => (format!("the recording `{shown}` is empty"), Vec::new()),
        Some(known) if version(known, asked).is_some() => {
            let (was, is) = version(known, asked).unwrap_or_default();
            let headline = format!(
                "the prompt{name} changed in this version (recorded /{was}, now /{is}): record again"
            );
            (headline, Vec::new())
        }
        Some(known) if known.key() == asked.key() => {
            let have = count(known.replies.len(), "sample");
            let headline = format!(
                "`{shown}` has {have} of this question{name}, and not number {sample} (from 0); was `num_samples` raised?"
            );
            (headline, Vec::new())
        }
        Some(known) => {
            let headline = format!("`{shown}` has no answer to this question{name}");
            (headline, difference(known, asked, &name))
        }
    };
    let mut text = format!("not recorded: {headline}");
    for line in details {
        text.push('\n');
        text.push_str(&line);
    }
    text.push_str(&format!("\nrecord it  {}", store.command()));
    JudgeError::new(JudgeErrorKind::NotRecorded, text)
}

/// A template without its version.
fn name(template: &str) -> &str {
    template.rsplit_once('/').map_or(template, |(name, _)| name)
}

/// The two versions of one template, where they differ.
fn version<'a>(known: &'a RecordedQuestion, asked: &'a RecordedQuestion) -> Option<(&'a str, &'a str)> {
    let (name, was) = known.template.rsplit_once('/')?;
    let (same, is) = asked.template.rsplit_once('/')?;
    (name == same && was != is).then_some((was, is))
}

/// The recorded question that is most like the one that is asked: of the same prompt, then of the same case, then with
/// the most of its text in common at both ends.
fn nearest<'a>(recording: &'a Recording, asked: &RecordedQuestion) -> Option<&'a RecordedQuestion> {
    recording.questions().iter().max_by_key(|known| {
        let same_name = name(&known.template) == name(&asked.template);
        let same_version = known.template == asked.template;
        let same_case = known.cases.iter().any(|case| asked.cases.contains(case));
        let in_common = in_common(&known.prompt, &asked.prompt);
        (same_name, known.key() == asked.key(), same_version, same_case, in_common)
    })
}

/// How many bytes two texts share at their beginnings and ends.
fn in_common(one: &str, other: &str) -> usize {
    let shorter = one.len().min(other.len());
    let same = |(one, other): &(u8, u8)| one == other;
    let begin = one.bytes().zip(other.bytes()).take_while(same).count();
    let end = one.bytes().rev().zip(other.bytes().rev()).take(shorter - begin).take_while(same).count();
    begin + end
}

fn difference(known: &RecordedQuestion, asked: &RecordedQuestion, name: &str) -> Vec<String> {
    let mut lines = vec![format!("the nearest recorded question{name} differs (- recorded, + asked):")];
    let mut field = |name: &str, was: &dyn std::fmt::Display, is: &dyn std::fmt::Display| {
        let (was, is) = (was.to_string(), is.to_string());
        if was != is {
            lines.push(format!("  - {name}: {}", cut(&was, SHOWN_LINE)));
            lines.push(format!("  + {name}: {}", cut(&is, SHOWN_LINE)));
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
    prompts(&mut lines, &known.prompt, &asked.prompt);
    lines
}

/// The lines between the first and the last that differ.
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
            changed.iter().take(SHOWN_LINES).map(|line| format!("  {mark} {}", cut(line, SHOWN_LINE))),
        );
        if changed.len() > SHOWN_LINES {
            out.push(format!("  {mark} ... and {}", count(changed.len() - SHOWN_LINES, "more line")));
        }
    }
}
