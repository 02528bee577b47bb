//! `cargo evalset list`: the cases of sets.

use std::ffi::OsString;
use std::path::MAIN_SEPARATOR;

use eval_format::tags::TagSelection;
use eval_format::{EvalCase, SetEditor, Value};
use eval_support::untrusted::one_line;
use eval_support::words::count;
use serde::{Serialize, Serializer};

use crate::edited::{SelectedSet, open, select};
use crate::output::{Answer, BOLD, CommandError, Format, Outcome, WARNING, styled};
use crate::tags::TagArgs;

/// Lists the cases of eval sets: turns, tools, tags, and which of them are drafts.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Sets: files, folders, globs in quotes, or ids of sets below this folder. `SET:case1,case2` selects cases.
    #[arg(value_name = "SET[:CASE,..]", required = true)]
    sets: Vec<OsString>,

    /// Lists drafts only.
    #[arg(long)]
    drafts: bool,

    #[command(flatten)]
    tags: TagArgs,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset list evals
  cargo evalset list evals --drafts
  cargo evalset list evals --tag smoke --skip-tag slow
  cargo evalset list weather:sunny --format json

Exit codes:
  0  all sets are listed
  2  a set, a case or a tag does not exist, or a set has errors";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let mut listing = Listing { sets: Vec::new(), errors: Vec::new() };
    let mut opened = Vec::new();
    for set in select(&args.sets)? {
        match open(&set.path) {
            Ok(editor) => opened.push((set, editor)),
            Err(error) => listing.errors.push(error),
        }
    }
    let tags = args.tags.among(opened.iter().flat_map(|(_, set)| set.cases()).flat_map(EvalCase::tags))?;
    listing
        .sets
        .extend(opened.iter().map(|(selected, set)| ListedSet::new(selected, set, args.drafts, &tags)));
    match args.format {
        Format::Human => Ok(Answer::new(listing.outcome(), text(&listing))),
        Format::Json => Answer::results("list", listing.outcome(), &listing),
    }
}

#[derive(Debug, Serialize)]
struct Listing {
    sets: Vec<ListedSet>,
    #[serde(rename = "not_listed")]
    errors: Vec<CommandError>,
}

impl Listing {
    fn outcome(&self) -> Outcome {
        if self.errors.is_empty() { Outcome::Passed } else { Outcome::Unmeasurable }
    }
}

#[derive(Debug, Serialize)]
struct ListedSet {
    file: String,
    eval_set_id: String,
    /// The number of cases in the set.
    #[serde(skip)]
    all: usize,
    /// The words for a set without a listed case.
    #[serde(skip)]
    none: &'static str,
    cases: Vec<ListedCase>,
}

/// A case in the list. Fields may be added to its JSON; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
struct ListedCase {
    eval_id: String,
    turns: usize,
    /// Whether a simulated user follows a scenario, in place of turns.
    scenario: bool,
    /// The tools that are expected to be called, each once, in the order of their first call.
    tools: Vec<String>,
    tags: Vec<String>,
    #[serde(serialize_with = "as_json")]
    draft: Option<Value>,
}

/// Serializes a value of a set with its keys sorted.
#[expect(clippy::ref_option, reason = "serde gives references")]
fn as_json<S: Serializer>(value: &Option<Value>, serializer: S) -> Result<S::Ok, S::Error> {
    value.as_ref().map(serde_json::Value::from).serialize(serializer)
}

impl ListedSet {
    fn new(selected: &SelectedSet, set: &SetEditor, drafts_only: bool, tags: &TagSelection) -> Self {
        let is_meant = |id: &String| selected.cases.as_ref().is_none_or(|ids| ids.contains(id));
        let listed = set.cases().filter(|case| is_meant(&case.eval_id));
        let listed = listed.filter(|case| !drafts_only || case.draft().is_some());
        let listed = listed.filter(|case| tags.takes(case.tags()));
        Self {
            file: selected.path.display().to_string().replace(MAIN_SEPARATOR, "/"),
            eval_set_id: set.eval_set_id().to_owned(),
            all: set.cases().len(),
            none: match (set.cases().len(), drafts_only, tags.is_empty()) {
                (0, ..) => "no cases",
                (_, true, true) => "no drafts",
                (_, true, false) => "no drafts with these tags",
                (_, false, _) => "no cases with these tags",
            },
            cases: listed.map(ListedCase::new).collect(),
        }
    }
}

impl ListedCase {
    fn new(case: &EvalCase) -> Self {
        let mut tools: Vec<String> = Vec::new();
        let calls = case.conversation.iter().flat_map(eval_format::Invocation::tool_calls);
        for name in calls.filter_map(|call| call.name.as_ref()) {
            if !tools.contains(name) {
                tools.push(name.clone());
            }
        }
        Self {
            eval_id: case.eval_id.clone(),
            turns: case.conversation.len(),
            scenario: case.conversation_scenario.is_some(),
            tools,
            tags: case.tags().map(str::to_owned).collect(),
            draft: case.draft().cloned(),
        }
    }
}

/// The widest column, in characters. A longer cell pushes the rest of its line.
const MAX_COLUMN_WIDTH: usize = 40;

fn text(listing: &Listing) -> String {
    let mut text = String::new();
    for set in &listing.sets {
        set_text(set, &mut text);
    }
    text.extend(listing.errors.iter().map(|error| error.shown() + "\n"));
    let listed = || listing.sets.iter().flat_map(|set| &set.cases);
    let drafts = match listed().filter(|case| case.draft.is_some()).count() {
        0 => String::new(),
        drafts => format!(", {}", styled(WARNING, &count(drafts, "draft"))),
    };
    let all = count(listing.sets.iter().map(|set| set.all).sum(), "case");
    let of = match listed().count() {
        _ if listing.sets.iter().all(|set| set.cases.len() == set.all) => String::new(),
        listed => format!("{listed} of "),
    };
    text + &format!("{}, {of}{all}{drafts}\n", count(listing.sets.len(), "set"))
}

fn set_text(set: &ListedSet, text: &mut String) {
    let (file, id) = (one_line(&set.file), one_line(&set.eval_set_id));
    text.push_str(&format!("{}  {id}\n", styled(BOLD, &file)));
    if set.cases.is_empty() {
        text.push_str(&format!("  {}\n", set.none));
    }
    let rows: Vec<[String; 3]> = set.cases.iter().map(row).collect();
    let widths = [0, 1, 2].map(|column| {
        let of_cells = rows.iter().map(|row| row[column].chars().count());
        of_cells.max().unwrap_or_default().min(MAX_COLUMN_WIDTH)
    });
    for (row, case) in rows.iter().zip(&set.cases) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths).filter(|(_, width)| *width > 0) {
            line.push_str(&format!("  {cell:width$}"));
        }
        if !case.tags.is_empty() {
            line.push_str(&format!("  tags {}", one_line(&case.tags.join(", "))));
        }
        if let Some(mark) = &case.draft {
            line.push_str(&format!("  {} {}", styled(WARNING, "draft"), origin(mark)));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

fn origin(mark: &Value) -> String {
    match &mark["from"] {
        Value::String(from) => format!("from {}", one_line(from)),
        _ => one_line(&mark.to_string()),
    }
}

fn row(case: &ListedCase) -> [String; 3] {
    let turns = if case.scenario { "scenario".to_owned() } else { count(case.turns, "turn") };
    let tools: Vec<String> = case.tools.iter().map(|tool| one_line(tool)).collect();
    [one_line(&case.eval_id), turns, tools.join(", ")]
}
