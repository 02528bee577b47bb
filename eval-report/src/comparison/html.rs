//! A comparison as a page in one file.

use askama::Template;

use super::category::Category;
use super::compared::{ComparedCase, Comparison};
use super::gated::{passes, shown};
use super::pair::metrics_that_fell;
use crate::page::{STYLE, policy};

/// The styles of the table beside the styles of the page of a run.
const TABLE: &str = "table { border-collapse: collapse; margin: .4rem 0 1rem; } h2 { font-size: 1.1rem; }\n\
                     th, td { text-align: left; vertical-align: top; padding: .2rem 1rem .2rem 0; border-bottom: 1px solid var(--line); \
                     overflow-wrap: anywhere; }\n";

#[derive(Template)]
#[template(path = "comparison/comparison.html")]
struct Page<'c> {
    policy: String,
    style: &'c str,
    before: &'c str,
    now: &'c str,
    doubts: &'c [&'c String],
    notes: &'c [String],
    categories: Vec<(Category, Vec<Row>)>,
}

/// A case as the page shows it.
struct Row {
    name: String,
    before: String,
    now: String,
    p: String,
    why: String,
}

impl Row {
    fn new(case: &ComparedCase) -> Self {
        let p = case.compared.map(|(_, decision)| shown(decision.p));
        let why = case.incomparable.clone().or_else(|| metrics_that_fell(&case.metrics));
        Self {
            name: case.key.to_string(),
            before: passes(case.before.as_ref()),
            now: passes(case.now.as_ref()),
            p: p.unwrap_or_default(),
            why: why.unwrap_or_default(),
        }
    }
}

/// The page, with the names of the sides, reasons why they may not be whole, and notes.
pub fn html(
    comparison: &Comparison,
    [before, now]: [&str; 2],
    doubts: &[&String],
    notes: &[String],
) -> Result<String, askama::Error> {
    let style = [STYLE, TABLE].concat();
    let categories = comparison.counted().into_keys();
    let categories = categories.map(|category| (category, comparison.of(category).map(Row::new).collect()));
    let policy = policy(&[&style], &[], false);
    Page { policy, style: &style, before, now, doubts, notes, categories: categories.collect() }.render()
}
