//! The plan for people.

use eval_core::judge::JudgeMode;
use eval_support::untrusted::{one_line, quoted};
use eval_support::words::{code_list, count, tokens};

use super::judges::Judged;
use super::planned::{Plan, PlannedSet};
use super::set::Set;
use crate::output::style::{BOLD, ERROR, GOOD, styled};

pub(super) fn text(plan: &Plan) -> String {
    let mut text = String::new();
    for planned in &plan.sets {
        text.push_str(&set(planned));
    }
    for error in &plan.errors {
        text.push_str(&error.shown());
    }
    text.push_str("──────────\n");
    text.push_str(&format!(
        "{} {} · {} · {} · {} to judges\n",
        styled(BOLD, "Plan"),
        count(plan.sets.len(), "set"),
        count(plan.cases(), "case"),
        count(plan.runs(), "run"),
        count(plan.questions(), "question")
    ));
    text.push_str(&format!("     {}\n", mode(plan.mode)));
    let unplanned = plan.sets.iter().filter(|planned| planned.set.last.is_none()).count();
    if let Some(run) = plan.run.as_ref().filter(|_| unplanned < plan.sets.len()) {
        text.push_str(&format!("     runs, criteria and tokens are those of the last run, {run}\n"));
    }
    if unplanned > 0 {
        let sets = count(unplanned, "set");
        text.push_str(&format!(
            "     {sets} not in the last run: planned with one run, and the criteria of `test_config.json` or of ADK\n"
        ));
    }
    text
}

fn mode(mode: Option<JudgeMode>) -> &'static str {
    match mode {
        None => "`EVALSET_JUDGE` is not set: recordings are replayed, and no judge is asked over the network",
        Some(JudgeMode::Replay) => {
            "`EVALSET_JUDGE=replay`: recordings are replayed, and no judge is asked over the network"
        }
        Some(JudgeMode::Record) => {
            "`EVALSET_JUDGE=record`: judges are asked what is not recorded, which costs money"
        }
        Some(JudgeMode::Live) => "`EVALSET_JUDGE=live`: judges are asked every question, which costs money",
        Some(_) => "`EVALSET_JUDGE` has a value that this version of cargo-evalset does not know",
    }
}

fn set(planned: &PlannedSet) -> String {
    let PlannedSet { set, judged } = planned;
    let path = one_line(&set.path.display().to_string());
    let (cases, runs) = (count(set.cases.len(), "case"), count(set.runs(), "run"));
    let mut text = format!("{}  {cases} · {runs}\n", styled(BOLD, &path));
    let unjudged: Vec<String> = set
        .criteria
        .keys()
        .filter(|name| !judged.iter().any(|judged| judged.name == **name))
        .map(|name| one_line(name))
        .collect();
    if !unjudged.is_empty() {
        let ask = if unjudged.len() == 1 { "asks" } else { "ask" };
        text.push_str(&format!("  {} {ask} no judge\n", code_list(&unjudged)));
    }
    for judged in judged {
        text.push_str(&metric(judged));
    }
    let not_compared = set.not_compared();
    if !not_compared.is_empty() {
        text.push_str(&format!("  not compared: {not_compared}\n"));
    }
    if let Some(tokens) = tokens_of(set) {
        text.push_str(&format!("  {tokens}\n"));
    }
    text
}

fn metric(judged: &Judged) -> String {
    let Judged { name, model, samples, questions, is_estimate, recorded, cases, obstacle } = judged;
    let about = if *is_estimate { "about " } else { "" };
    let (name, model) = (one_line(name), one_line(model));
    let mut text = format!(
        "  `{name}` asks {model} {about}{} ({} each), recorded for {recorded}/{}\n",
        count(*questions, "question"),
        count(*samples as usize, "sample"),
        count(*cases, "case")
    );
    match obstacle {
        Some(why) => {
            text.push_str(&format!("    {}: {}\n", styled(ERROR, "missing"), quoted(why, 4)));
        }
        None => text.push_str(&format!("    {}\n", styled(GOOD, "can be answered"))),
    }
    text
}

/// The tokens of all planned runs, estimated from the last run.
fn tokens_of(set: &Set) -> Option<String> {
    let last = set.measured()?;
    let parts: Vec<String> = [("agent", set.agent_tokens()), ("judges", set.judge_tokens())]
        .into_iter()
        .filter_map(|(who, number)| Some(format!("{who} about {}", tokens(number?))))
        .collect();
    let ran = count(last.ran, "run");
    (!parts.is_empty()).then(|| format!("{} (by {ran} of the last run)", parts.join(", ")))
}
