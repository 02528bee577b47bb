//! The results for people.

use eval_format::problem::Code;
use eval_support::untrusted::one_line;
use eval_support::words::{count, short_code_list};

use super::fix::FixState;
use super::results::CheckResults;
use crate::files;
use crate::output::style::{BOLD, ERROR, GOOD, WARNING, styled};

pub(super) fn text(results: &CheckResults) -> String {
    let mut text = String::new();
    for file in &results.files {
        text.push_str(&files::shown(&file.shown, &file.found));
    }
    for (_, error) in results.not_checked() {
        text.push_str(&error.shown());
        text.push('\n');
    }
    text.push_str(&fixes(results));
    text.push_str(&own_metrics(results));
    text.push_str(&not_compared(results));
    text.push_str(&summary(results));
    text.push('\n');
    text
}

/// A line for each file that was rewritten or deliberately not, and one for all that could be rewritten.
fn fixes(results: &CheckResults) -> String {
    let mut text = String::new();
    let mut possible = Vec::new();
    for (file, fix) in results.files.iter().filter_map(|file| Some((file, file.fix.as_ref()?))) {
        let shown = one_line(&file.shown);
        match &fix.state {
            FixState::Done => text.push_str(&format!("{} `{shown}`: {}\n", styled(GOOD, "fixed"), fix.what)),
            FixState::Kept(_) if !results.fix => {}
            FixState::Kept(reason) => {
                let kept = styled(BOLD, "kept");
                text.push_str(&format!("{kept} `{shown}` as it is: {reason}\n"));
            }
            FixState::Possible => possible.push(shown),
        }
    }
    if !possible.is_empty() {
        let files = short_code_list(&possible);
        let note = styled(BOLD, "note");
        text.push_str(&format!("{note}: `--fix` would rewrite {files} in the form that ADK writes today\n"));
    }
    text
}

/// How configs can use metrics of the user's own, if a metric is unknown.
fn own_metrics(results: &CheckResults) -> String {
    let mut codes = results.files.iter().flat_map(|file| &file.found.problems).map(|problem| problem.code);
    if codes.any(|code| matches!(code, Code::UnknownMetric | Code::UnansweredCustomMetric)) {
        let note = styled(BOLD, "note");
        return format!("{note}: name metrics of your own on the command line: `--metric NAME,NAME`\n");
    }
    String::new()
}

/// A line for each set that expects something that no metric reads.
fn not_compared(results: &CheckResults) -> String {
    let mut text = String::new();
    for file in results.files.iter().filter(|file| !file.not_compared.is_empty()) {
        let (note, shown) = (styled(BOLD, "note"), one_line(&file.shown));
        text.push_str(&format!("{note}: `{shown}`: not compared: {}\n", file.not_compared));
    }
    text
}

fn summary(results: &CheckResults) -> String {
    let counts = results.counts();
    let mut found = Vec::new();
    if counts.errors > 0 {
        found.push(styled(ERROR, &count(counts.errors, "error")));
    }
    if counts.warnings > 0 {
        let denied = if results.deny_warnings { " (denied)" } else { "" };
        found.push(format!("{}{denied}", styled(WARNING, &count(counts.warnings, "warning"))));
    }
    if counts.not_checked > 0 {
        found.push(styled(ERROR, &format!("{} not checked", count(counts.not_checked, "path"))));
    }
    if found.is_empty() {
        found.push(styled(GOOD, "no problems"));
    }
    let drafts = match counts.drafts {
        0 => String::new(),
        drafts => format!(" ({})", count(drafts, "draft")),
    };
    let (files, cases) = (count(counts.files, "file"), count(counts.cases, "case"));
    format!("{files}, {cases}{drafts}: {}", found.join(", "))
}
