//! `review --list`: the queue with all choices, for people and for programs.

use eval_support::untrusted::one_line;
use eval_support::words::count;
use serde::Serialize;

use super::screen;
use crate::output::{Answer, CommandError, Format, Outcome};
use crate::recorded::LoadedRun;
use crate::review::{Choice, Forecast, Hunk, Item, Offer, Queue, Warning};

#[derive(Serialize)]
struct Document<'r> {
    run: Option<String>,
    /// The reasons why the run is not complete; empty if it is.
    incomplete: &'r [String],
    items: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    id: String,
    set: String,
    eval_id: String,
    line: Option<usize>,
    kind: &'static str,
    /// Whether all runs did the same.
    stable: bool,
    passed: usize,
    runs: usize,
    /// The runs without a verdict.
    errors: usize,
    metrics: Vec<String>,
    judged: Vec<String>,
    since: Option<String>,
    /// The reason why nothing of it can be accepted.
    not_offered: Option<String>,
    help: Option<String>,
    varied: Vec<String>,
    again: Option<String>,
    accept: Vec<Shown>,
    loosen: Vec<Shown>,
}

/// A choice with the name and the hash by which it is accepted.
#[derive(Serialize)]
struct Shown {
    id: String,
    hash: String,
    what: String,
    warnings: Vec<Warning>,
    change: Vec<Hunk>,
    bytes_before: usize,
    bytes_after: usize,
    forecast: Option<Forecast>,
}

impl Shown {
    fn new(choice: Choice) -> Self {
        let (bytes_before, bytes_after) = choice.edit.sizes();
        Self {
            hash: choice.hash(),
            change: choice.edit.hunks(),
            id: choice.id,
            what: choice.what,
            warnings: choice.warnings,
            bytes_before,
            bytes_after,
            forecast: choice.forecast,
        }
    }
}

pub(super) fn answer(
    queue: &Queue<'_>,
    loaded: Option<&LoadedRun>,
    incomplete: &[String],
    format: Format,
) -> Result<Answer, CommandError> {
    if format == Format::Json {
        let items = queue.items.iter().map(|item| entry(queue, item)).collect::<Result<_, _>>()?;
        let document = Document { run: loaded.map(LoadedRun::name), incomplete, items };
        return Answer::results("review", Outcome::Passed, &document);
    }
    let mut text = screen::head(queue, loaded);
    for (at, item) in queue.items.iter().enumerate() {
        text += &screen::item(item, at, queue.items.len());
        let choices = queue.choices(item);
        for choice in choices.accepting()? {
            text += &listed(&choice);
        }
        for choice in choices.loosening()? {
            text += &listed(&choice);
        }
        text.push('\n');
    }
    if queue.items.is_empty() {
        text += match incomplete {
            [] => "nothing is left to review\n",
            _ => "nothing that ended is left to review, and the run is not complete\n",
        };
    } else {
        text += &format!(
            "{}; accept by name: `{} review --accept SET:CASE@HASH`\n",
            count(queue.items.len(), "case"),
            eval_support::command::name()
        );
    }
    Ok(Answer::new(Outcome::Passed, text))
}

fn entry(queue: &Queue<'_>, item: &Item) -> Result<Entry, CommandError> {
    let choices = queue.choices(item);
    let shown = |choices: Vec<Choice>| choices.into_iter().map(Shown::new).collect();
    let not = if let Offer::Not(not) = &item.offer { Some(not) } else { None };
    Ok(Entry {
        id: item.id.clone(),
        set: item.path.display().to_string(),
        eval_id: item.case.eval_id.clone(),
        line: item.line,
        kind: if matches!(item.offer, Offer::Draft) { "draft" } else { "failing" },
        stable: item.change().is_some(),
        passed: item.passed,
        runs: item.runs,
        errors: item.errors,
        metrics: item.metrics.clone(),
        judged: item.judged.clone(),
        since: item.since.clone(),
        not_offered: not.map(|not| not.why.clone()),
        help: not.map(|not| not.help.clone()),
        varied: not.map(|not| not.varied.clone()).unwrap_or_default(),
        again: item.again.clone(),
        accept: shown(choices.accepting()?),
        loosen: shown(choices.loosening()?),
    })
}

/// A choice in the list: its name with the hash, its warnings, its bytes.
fn listed(choice: &Choice) -> String {
    let name = one_line(&format!("{}@{}", choice.id, choice.hash()));
    let mut text = format!("    {}\n      {name}\n", choice.what);
    text += &screen::indented(&screen::about(choice), 6);
    text
}
