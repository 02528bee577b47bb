//! From the model to the file.

use askama::Template;

use super::json::inside_html;
use super::model::{CaseDetails, PageModel};
use super::policy::policy;

const STYLE: &str = include_str!("../../templates/page.css");
const SCRIPT: &str = include_str!("../../templates/page.js");

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'m> {
    page: &'m PageModel,
    policy: String,
    style: &'static str,
    script: &'static str,
}

impl Page<'_> {
    /// The details of a case, for a script element.
    #[expect(clippy::unused_self, reason = "the template calls it")]
    fn details(&self, details: &CaseDetails) -> String {
        inside_html(details)
    }
}

/// The page as a file: HTML without anything beside it.
pub(crate) fn render(page: &PageModel) -> Result<String, askama::Error> {
    Page { page, policy: policy(STYLE, SCRIPT), style: STYLE, script: SCRIPT }.render()
}
