//! Two builds side by side as a page in one file.

use askama::Template;

use super::card::Card;
use super::category::Category;
use super::diff::Diff;
use crate::baseline::Origin;
use crate::page::{ELEMENTS, STYLE, policy};

/// The buttons that copy commands.
const SCRIPT: &str = include_str!("../../templates/comparison/comparison.js");

#[derive(Template)]
#[template(path = "comparison/comparison.html")]
struct Page<'c> {
    policy: String,
    style: &'c str,
    diff: &'c Diff,
    origins: [Origin; 2],
    numbers: Vec<String>,
    /// The cases, those that changed first.
    categories: Vec<(Category, &'static str, Vec<Card>)>,
    scripts: [&'static str; 2],
}

/// The page.
pub fn html(diff: &Diff) -> Result<String, askama::Error> {
    let scripts = [ELEMENTS, SCRIPT];
    let policy = policy(&[STYLE], &scripts, false);
    let (origins, numbers) = (diff.origins(), diff.numbers().collect());
    let categories = Card::of_categories(&diff.comparison.cases);
    Page { policy, style: STYLE, diff, origins, numbers, categories, scripts }.render()
}
