//! The plan for people.

use eval_core::judge::JudgeMode;

use super::judges::Judged;
use super::{Plan, Planned};
use crate::show::{self, BOLD, ERROR, GOOD, harmless, one_line, styled};
use crate::words::{code_list, count};

pub(super) fn text(plan: &Plan) -> String {
    let mut text = String::new();
    for planned in &plan.sets {
        text.push_str(&set(planned));
    }
    for refusal in &plan.refusals {
        text.push_str(&show::refusal(refusal));
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
    if plan.sets.iter().any(|planned| planned.set.last.is_some()) {
        let run = plan.run.as_deref().unwrap_or_default();
        text.push_str(&format!("     runs, criteria and tokens are those of the last run, {run}\n"));
    }
    let unplanned = plan.sets.iter().filter(|planned| planned.set.last.is_none()).count();
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
        None => "`EVALSET_JUDGE` is not set: recordings are replayed, and nobody is asked over the network",
        Some(JudgeMode::Replay) => {
            "`EVALSET_JUDGE=replay`: recordings are replayed, and nobody is asked over the network"
        }
        Some(JudgeMode::Record) => "`EVALSET_JUDGE=record`: what is not recorded is asked, which costs money",
        Some(JudgeMode::Live) => "`EVALSET_JUDGE=live`: every question is asked, which costs money",
        Some(_) => "`EVALSET_JUDGE` has a value that this version of cargo-evalset does not know",
    }
}

fn set(planned: &Planned) -> String {
    let Planned { set, judged } = planned;
    let path = one_line(&set.path.display().to_string());
    let mut text =
        format!("{}  {} · {}\n", styled(BOLD, &path), count(set.cases.len(), "case"), count(set.runs, "run"));
    let free: Vec<String> = set
        .criteria
        .keys()
        .filter(|name| !judged.iter().any(|judged| judged.name == **name))
        .map(|name| one_line(name))
        .collect();
    if !free.is_empty() {
        text.push_str(&format!("  {} ask no judge\n", code_list(&free)));
    }
    for judged in judged {
        text.push_str(&metric(judged));
    }
    if let Some(tokens) = tokens(planned) {
        text.push_str(&format!("  {tokens}\n"));
    }
    text
}

fn metric(judged: &Judged) -> String {
    let Judged { name, model, samples, questions, is_known, recorded, cases, obstacle } = judged;
    let about = if *is_known { "" } else { "about " };
    let (name, model) = (one_line(name), one_line(model));
    let mut text = format!(
        "  `{name}` asks {model} {about}{} ({} each), recorded for {recorded}/{}\n",
        count(*questions, "question"),
        count(*samples as usize, "sample"),
        count(*cases, "case")
    );
    match obstacle {
        Some(why) => {
            let why = harmless(why).replace('\n', "\n    ");
            text.push_str(&format!("    {}: {why}\n", styled(ERROR, "missing")));
        }
        None => text.push_str(&format!("    {}\n", styled(GOOD, "can be answered"))),
    }
    text
}

/// What the last run took, for all runs that are planned.
fn tokens(planned: &Planned) -> Option<String> {
    let last = planned.set.last.as_ref().filter(|last| last.runs > 0)?;
    let (ran, runs) = (last.runs, planned.set.runs);
    let scaled = |tokens: i128| crate::report::tokens(scale(tokens, runs, ran));
    let parts: Vec<String> = [("agent", last.usage.agent.count), ("judges", last.usage.judge.count)]
        .into_iter()
        .filter_map(|(who, tokens)| Some(format!("{who} about {}", scaled(tokens?))))
        .collect();
    (!parts.is_empty()).then(|| format!("{} (by {} of the last run)", parts.join(", "), count(ran, "run")))
}

/// What so many runs take where fewer or more took this.
pub(super) fn scale(tokens: i128, runs: usize, ran: usize) -> i128 {
    let (runs, ran) =
        (i128::try_from(runs).unwrap_or(i128::MAX), i128::try_from(ran.max(1)).unwrap_or(i128::MAX));
    tokens.saturating_mul(runs) / ran
}
