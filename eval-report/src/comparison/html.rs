//! Two builds side by side as a page in one file.

use askama::Template;

use super::category::Category;
use super::diff::{Diff, Row, rows};
use crate::baseline::Origin;
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
    diff: &'c Diff,
    origins: [Origin; 2],
    numbers: Vec<String>,
    categories: Vec<(Category, Vec<Row>)>,
}

/// The page.
pub fn html(diff: &Diff) -> Result<String, askama::Error> {
    let style = [STYLE, TABLE].concat();
    let policy = policy(&[&style], &[], false);
    let (origins, numbers) = (diff.origins(), diff.numbers().collect());
    Page { policy, style: &style, diff, origins, numbers, categories: rows(&diff.comparison) }.render()
}
