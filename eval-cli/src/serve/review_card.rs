//! An entry of a review as its card on the page.

use eval_report::run_page::turns;
use serde::Serialize;
use serde_json::{Value, json};

use super::draft_card::{DraftRow, rows};
use crate::drafts::{anchor, golden_of};
use crate::output::mask;
use crate::page::{Run, line, text};
use crate::review::{Choice, Item, Offer, Queue};

/// The card of a failing case or of a draft. Its page has it as JSON too, of which the script draws the conversation.
#[derive(Debug, Serialize)]
pub(super) struct ReviewCard {
    /// `SET:CASE`, as a request names it.
    pub(super) id: String,
    pub(super) shown: String,
    pub(super) anchor: String,
    /// `failing`, `draft`, or `not` if nothing of it is offered.
    pub(super) kind: &'static str,
    pub(super) place: String,
    /// The runs that failed, and the passes in the baseline, in words.
    pub(super) how: String,
    pub(super) metrics: Vec<String>,
    judged: Vec<String>,
    /// The reason why it is not offered, and the help.
    pub(super) refused: Option<[String; 2]>,
    varied: Vec<String>,
    again: Option<String>,
    /// The choice of all that changed, or of the draft.
    whole: Option<Value>,
    parts: Vec<Named>,
    rules: Vec<Named>,
    run: Option<Run>,
    rows: Vec<DraftRow>,
}

/// A choice that can be asked for.
#[derive(Debug, Serialize)]
struct Named {
    name: String,
    what: String,
}

impl ReviewCard {
    pub(super) fn new(queue: &Queue<'_>, item: &Item) -> Self {
        let choices = queue.choices(item);
        let lines = |all: &[String]| all.iter().map(|text| line(text)).collect();
        let named = |all: Vec<(String, String)>| {
            all.into_iter().map(|(name, what)| Named { name, what: line(&what) }).collect()
        };
        let (whole, problem) = match choices.whole() {
            Ok(whole) => (whole.map(|whole| shown(&whole, &[])), None),
            Err(error) => (None, Some([line(&error.message), line(&error.help)])),
        };
        let refused = match &item.offer {
            Offer::Not(not) => Some([line(&not.why), line(&not.help)]),
            _ => problem,
        };
        let run = conversation(item);
        let rows = match &item.offer {
            Offer::Draft => {
                rows(&item.case, run.as_ref().map(|run| run.turns.as_slice()).unwrap_or_default())
            }
            _ => Vec::new(),
        };
        let since = item.since.as_ref().map(|since| format!("; in the baseline it {since}"));
        let place = item.line.map(|line| format!(":{line}")).unwrap_or_default();
        Self {
            id: mask(&item.id).into_owned(),
            shown: line(&item.case.eval_id),
            anchor: anchor(&item.path, &item.case.eval_id).replacen("draft-", "review-", 1),
            kind: match (&item.offer, &refused) {
                (Offer::Draft, _) => "draft",
                (_, Some(_)) => "not",
                (_, None) => "failing",
            },
            place: line(&format!("{}{place}", item.path.display())),
            how: match item.offer {
                Offer::Draft => "a draft, which no test runs".to_owned(),
                _ => line(&(item.how() + &since.unwrap_or_default())),
            },
            metrics: lines(&item.metrics),
            judged: lines(&item.judged),
            varied: match &item.offer {
                Offer::Not(not) => lines(&not.varied),
                _ => Vec::new(),
            },
            again: item.again.as_deref().filter(|_| item.runs == 1 || refused.is_some()).map(line),
            refused,
            whole,
            parts: named(choices.part_names()),
            rules: named(choices.rule_names()),
            run,
            rows,
        }
    }

    /// Whether all that changed can be accepted.
    pub(super) fn is_offered(&self) -> bool {
        self.whole.is_some()
    }
}

/// The golden with what would be accepted beside it; of a case that varied, with its first run.
fn conversation(item: &Item) -> Option<Run> {
    let (actual, expected) = match (&item.offer, item.changes.first()) {
        (Offer::Draft, _) => (item.case.clone(), golden_of(&item.case)),
        (_, Some(change)) => (change.whole(), Some(change.golden.clone())),
        _ => return None,
    };
    let expected = expected.as_ref().map(|golden| golden.conversation.as_slice());
    let turns = turns(&actual.conversation, expected, None, "compared with the expected ones");
    Some(Run::of_turns(turns))
}

/// A choice as it is shown before it is written: its warnings, its bytes as on a terminal, and what the record would score.
pub(super) fn shown(choice: &Choice, parts: &[String]) -> Value {
    let warnings = choice.warnings.iter().map(|it| json!({ "message": line(&it.message), "asks": it.asks }));
    json!({
        "parts": parts,
        "what": line(&choice.what),
        "hash": choice.hash(),
        "warnings": warnings.collect::<Vec<_>>(),
        "bytes": text(&choice.edit.shown()),
        "forecast": choice.forecast.as_ref().map(|it| line(&it.said())),
    })
}
