//! The report for people.

use eval_format::Code;

use super::Report;
use super::fix::State;
use crate::show::{self, BOLD, ERROR, GOOD, WARNING, one_line, styled};
use crate::words::{count, short_code_list};

pub(super) fn text(report: &Report) -> String {
    let mut text = String::new();
    for file in &report.files {
        text.push_str(&show::problems(&file.shown, &file.text, file.problems.iter()));
    }
    for refusal in report.files.iter().filter_map(|file| file.failure.as_ref()).chain(&report.refusals) {
        text.push_str(&show::refusal(refusal));
        text.push('\n');
    }
    text.push_str(&fixes(report));
    text.push_str(&own_metrics(report));
    text.push_str(&summary(report));
    text.push('\n');
    text
}

/// A line for each file that was rewritten or left alone, and one for those that could be rewritten.
fn fixes(report: &Report) -> String {
    let mut text = String::new();
    let mut possible = Vec::new();
    for (file, fix) in report.files.iter().filter_map(|file| Some((file, file.fix.as_ref()?))) {
        let shown = one_line(&file.shown);
        match &fix.state {
            State::Done => text.push_str(&format!("{} `{shown}`: {}\n", styled(GOOD, "fixed"), fix.what)),
            State::Kept(_) if !report.fix => {}
            State::Kept(reason) => {
                let kept = styled(BOLD, "kept");
                text.push_str(&format!("{kept} `{shown}` as it is: {reason}\n"));
            }
            State::Possible => possible.push(shown),
        }
    }
    if !possible.is_empty() {
        let files = short_code_list(&possible);
        let note = styled(BOLD, "note");
        text.push_str(&format!("{note}: `--fix` would bring {files} into the form that ADK writes today\n"));
    }
    text
}

/// How configs may ask for metrics that only Rust knows.
fn own_metrics(report: &Report) -> String {
    let mut codes = report.files.iter().flat_map(|file| &file.problems).map(|problem| problem.code);
    if codes.any(|code| matches!(code, Code::UnknownMetric | Code::UnansweredCustomMetric)) {
        let note = styled(BOLD, "note");
        return format!("{note}: metrics of your own are named on the command line: `--metric NAME,NAME`\n");
    }
    String::new()
}

fn summary(report: &Report) -> String {
    let (errors, warnings, unread) = (report.errors(), report.warnings(), report.unread());
    let mut found = Vec::new();
    if errors > 0 {
        found.push(styled(ERROR, &count(errors, "error")));
    }
    if warnings > 0 {
        let denied = if report.deny_warnings { " (denied)" } else { "" };
        found.push(format!("{}{denied}", styled(WARNING, &count(warnings, "warning"))));
    }
    if unread > 0 {
        found.push(styled(ERROR, &format!("{} not checked", count(unread, "path"))));
    }
    if found.is_empty() {
        found.push(styled(GOOD, "no problems"));
    }
    let (files, cases) = (count(report.files.len(), "file"), count(report.cases(), "case"));
    format!("{files}, {cases}: {}", found.join(", "))
}
