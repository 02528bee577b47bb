//! Texts of a review: the head, a case side by side with what its runs did, and a choice.

use std::time::SystemTime;

use eval_core::journal::Revision;
use eval_format::{EvalCase, FunctionCall};
use eval_support::untrusted::{one_line, quoted};
use eval_support::words::count;

use crate::drafts::{Draft, shown as draft_shown};
use crate::output::{BOLD, ERROR, GOOD, WARNING, styled};
use crate::recorded::{LoadedRun, State};
use crate::review::{CallLine, Choice, GoldenChange, Item, Offer, Queue, arguments};
use crate::sides::commit_here;

/// The column in which texts begin.
const INDENT_COLUMNS: usize = 12;

/// The first line: the run, and how much can be accepted.
pub(super) fn head(queue: &Queue<'_>, loaded: Option<&LoadedRun>) -> String {
    let mut words = Vec::new();
    if let Some(loaded) = loaded {
        let of = |state| queue.tests.iter().filter(|test| test.state == state).count();
        let (failed, broken) = (of(State::Failed), of(State::Error));
        words.push(format!("run {}", loaded.name()));
        words.push(format!("{}, {failed} failed", count(queue.tests.len(), "case")));
        words.extend((broken > 0).then(|| count(broken, "error")));
        let began = loaded.run.processes.iter().map(|head| head.started).min();
        words.extend(began.and_then(|began| SystemTime::now().duration_since(began).ok()).map(age));
        if let (Some(there), Some(here)) = (loaded.commit(), commit_here()) {
            let of = if there == here {
                "of this commit".to_owned()
            } else {
                format!("of commit {}", Revision::short(&there))
            };
            words.push(of);
        }
    }
    let counted = |fits: &dyn Fn(&Item) -> bool| queue.items.iter().filter(|item| fits(item)).count();
    let offered = counted(&|item| matches!(item.offer, Offer::Change));
    let (varies, drafts) = (counted(&Item::varies), counted(&|item| matches!(item.offer, Offer::Draft)));
    let others = queue.items.len() - offered - varies - drafts;
    let mut parts = vec![format!("{offered} can be accepted")];
    parts.extend((varies > 0).then(|| format!("{varies} {}", if varies == 1 { "varies" } else { "vary" })));
    parts.extend((others > 0).then(|| format!("{others} not offered")));
    parts.extend((drafts > 0).then(|| count(drafts, "draft")));
    words.push(String::new());
    let run = words.join(", ");
    format!("{}: {}\n\n", run.trim_end_matches(", "), parts.join(", ")).trim_start_matches(": ").to_owned()
}

fn age(age: std::time::Duration) -> String {
    let seconds = age.as_secs();
    let (number, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{} old", count(usize::try_from(number).unwrap_or(usize::MAX), unit))
}

/// An entry: its name and place, why it failed, and what its runs did.
pub(super) fn item(item: &Item, at: usize, all: usize) -> String {
    if matches!(item.offer, Offer::Draft) {
        let draft = Draft { path: item.path.clone(), case: item.case.clone() };
        let mut text = format!("{} of {all}  {}", at + 1, draft_shown(&draft).trim_end());
        text.push('\n');
        for warning in &item.warnings {
            text += &format!("    {} {}\n", styled(WARNING, "!"), warning.message);
        }
        return text;
    }
    let place = match item.line {
        Some(line) => format!("{}:{line}", item.path.display()),
        None => item.path.display().to_string(),
    };
    let how = item.how();
    let since = item.since.as_ref().map(|since| format!("; in the baseline it {since}")).unwrap_or_default();
    let name = styled(BOLD, &one_line(&item.case.eval_id));
    let mut text = format!("{} of {all}  {name}   {}   {how}{since}\n", at + 1, one_line(&place));
    for metric in &item.metrics {
        text += &format!("    {}\n", one_line(metric));
    }
    for said in &item.judged {
        text += &format!("    judge   {}\n", quoted(said, INDENT_COLUMNS));
    }
    match (&item.offer, item.change()) {
        (Offer::Not(not), _) => {
            for varied in &not.varied {
                text += &format!("    varied  {}\n", quoted(varied, INDENT_COLUMNS));
            }
            text += &format!("    not offered: {}\n    help: {}\n", not.why, not.help);
        }
        (_, Some(change)) => text += &side_by_side(change),
        _ => {}
    }
    if let Some(again) = item.again.as_ref().filter(|_| item.runs == 1 || item.change().is_none()) {
        text += &format!("    run it 5 times: {again}\n");
    }
    text
}

/// The golden beside the run: `=` the same, `~` other arguments, `-` not any more, `+` new.
fn side_by_side(change: &GoldenChange) -> String {
    let mut text = String::new();
    for turn in 0..change.golden.conversation.len() {
        text += &turn_text(change, turn);
    }
    let state = |case: &EvalCase| eval_format::Value::from(case.final_session_state.clone()).to_string();
    let (golden, run) = (state(&change.golden), state(&change.whole()));
    if golden != run {
        text += &line("state", '-', &golden);
        text += &line("", '+', &run);
    }
    text
}

/// A turn of the golden beside the run.
pub(super) fn turn_text(change: &GoldenChange, turn: usize) -> String {
    let (golden, run) = (&change.golden.conversation[turn], &change.run.conversation[turn]);
    let mut text = format!("    turn {}\n", turn + 1);
    text += &format!("    {:6}  {}\n", "user", quoted(&golden.user_text(), INDENT_COLUMNS));
    let (calls, made): (Vec<&FunctionCall>, Vec<_>) =
        (golden.tool_calls().collect(), run.tool_calls().collect());
    let mut what = "calls";
    let lines: Vec<CallLine> = match change.lines[turn].as_slice() {
        [] => (0..calls.len()).map(CallLine::Kept).collect(),
        lines => lines.to_vec(),
    };
    for of_line in lines {
        text += &match of_line {
            CallLine::Kept(at) => line(what, '=', &calls[at].to_string()),
            CallLine::Missing(at) => line(what, '-', &calls[at].to_string()),
            CallLine::Extra(at) => line(what, '+', &made[at].to_string()),
            CallLine::Changed(at, new) => {
                let keys: Vec<String> = arguments(calls[at], made[new])
                    .into_iter()
                    .map(|(key, ..)| format!("`{}`", one_line(key)))
                    .collect();
                let differ = if keys.len() == 1 { "differs" } else { "differ" };
                let one = line(what, '~', &calls[at].to_string());
                let other = format!("{}   {} {differ}", made[new], keys.join(", "));
                one + &line("", ' ', &other)
            }
        };
        what = "";
    }
    let (old, new) = (golden.response_text(), change.whole().conversation[turn].response_text());
    if old == new {
        if !old.is_empty() {
            text += &line("answer", '=', &old);
        }
    } else {
        text += &line("answer", '-', if old.is_empty() { "(no answer is expected)" } else { &old });
        text += &line("", '+', &new);
    }
    text
}

fn line(what: &str, sign: char, said: &str) -> String {
    let sign = match sign {
        '-' => styled(ERROR, "-"),
        '+' => styled(GOOD, "+"),
        sign => sign.to_string(),
    };
    format!("    {what:6}  {sign} {}\n", quoted(said, INDENT_COLUMNS + 2))
}

/// A choice: its warnings, what the record would score, and its bytes.
pub(super) fn about(choice: &Choice) -> String {
    let mut text = String::new();
    for warning in &choice.warnings {
        text += &format!("{} {}\n", styled(WARNING, "!"), warning.message);
    }
    text += &choice.edit.shown();
    if let Some(forecast) = &choice.forecast {
        text += &format!("{}\n", one_line(&forecast.said()));
    }
    text
}

/// A text with its lines indented.
pub(super) fn indented(text: &str, columns: usize) -> String {
    let indent = " ".repeat(columns);
    text.lines().flat_map(|line| [indent.as_str(), line, "\n"]).collect()
}
