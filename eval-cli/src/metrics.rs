//! `cargo evalset metrics`: what a config can ask for.

use eval_format::{CriterionField, FieldKind, METRICS, MetricGroup, MetricInfo, Need, metric, suggest};
use serde::Serialize;

use crate::answer::{Answer, Format, Outcome, Refusal};
use crate::show::{BOLD, one_line, styled};
use crate::words::code_list;

/// Lists the metrics, or describes one: its range, what it needs, and the fields of its criterion.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The metric to describe.
    name: Option<String>,

    /// For whom to print.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset metrics
  cargo evalset metrics tool_trajectory_avg_score
  cargo evalset metrics --format json";

pub(crate) fn run(args: &Args) -> Result<Answer, Refusal> {
    let outcome = Outcome::Passed;
    let one = args.name.as_deref().map(find).transpose()?;
    match (args.format, one) {
        (Format::Human, None) => Ok(Answer { outcome, text: list() }),
        (Format::Human, Some(info)) => Ok(Answer { outcome, text: description(info) }),
        (Format::Json, one) => {
            let metrics = METRICS.iter().filter(|info| one.is_none_or(|one| one.name == info.name));
            Answer::json(
                outcome,
                &Document { command: "metrics", metrics: metrics.map(Entry::from).collect() },
            )
        }
    }
}

fn find(name: &str) -> Result<&'static MetricInfo, Refusal> {
    metric(name).ok_or_else(|| {
        let help = match suggest(name, METRICS.iter().map(|info| info.name)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "`cargo evalset metrics` lists them; metrics of your own are not built in".to_owned(),
        };
        Refusal::new(format!("there is no metric `{}`", one_line(name)), help)
    })
}

/// A table for each group.
fn list() -> String {
    let width = METRICS.iter().map(|info| info.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    let mut group = None;
    for info in METRICS {
        if group.replace(info.group) != Some(info.group) {
            let blank = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{blank}{}\n", styled(BOLD, group_title(info.group))));
        }
        let name = info.name;
        text.push_str(&format!("  {name:width$}  {:<7}  {}\n", range(info), info.summary));
    }
    text + "\n`cargo evalset metrics NAME` describes one: what it needs, and the fields of its criterion\n"
}

fn description(info: &MetricInfo) -> String {
    let mut text = format!("{}\n  {}\n\n", styled(BOLD, info.name), info.summary);
    let mut line = |what: &str, value: &str| text.push_str(&format!("  {what:9}  {value}\n"));
    line("from", group_title(info.group));
    line("score", &range(info));
    let needs: Vec<_> = info.needs.iter().map(|need| need_sentence(*need)).collect();
    line("needs", &if needs.is_empty() { "nothing".to_owned() } else { needs.join("; ") });
    line(
        "decides",
        if info.gates { "yes, by its threshold" } else { "no: printed for information, without threshold" },
    );
    if info.gates {
        line("criterion", r#"a number, the threshold, or an object with `"threshold"`"#);
        text.push_str(&fields(info.criterion));
    }
    text
}

fn fields(fields: &[CriterionField]) -> String {
    let mut text = String::new();
    for field in fields {
        let default = match field.default {
            Some(default) => format!("default {default}"),
            None => "required".to_owned(),
        };
        let name = styled(BOLD, field.name);
        text.push_str(&format!("\n  {name}: {}, {default}\n    {}\n", kind_phrase(field.kind), field.doc));
    }
    if !fields.is_empty() {
        text.insert_str(0, "             and these fields, in snake_case or camelCase\n");
    }
    text
}

/// The least and the greatest score.
fn range(info: &MetricInfo) -> String {
    match info.max {
        Some(max) => format!("{} to {max}", info.min),
        None => format!("{} up", info.min),
    }
}

fn group_title(group: MetricGroup) -> &'static str {
    match group {
        MetricGroup::AdkLexical => "ADK, compared with what is expected",
        MetricGroup::AdkJudged => "ADK, judged by a model or a service",
        MetricGroup::AdkInformational => "ADK, for information",
        MetricGroup::Vertex => "Vertex AI's names",
        MetricGroup::AdkRs => "adk-rs's names",
        MetricGroup::AdkEval => "adk-eval's names",
        MetricGroup::Own => "our own",
        _ => "others",
    }
}

fn need_sentence(need: Need) -> &'static str {
    match need {
        Need::Expectation => "an expected turn to compare with",
        Need::Judge => "a judge: a model or a service",
        Need::Scenario => "a conversation scenario",
        _ => "something else",
    }
}

fn kind_phrase(kind: FieldKind) -> String {
    match kind {
        FieldKind::Bool => "true or false".to_owned(),
        FieldKind::Number => "a number".to_owned(),
        FieldKind::String => "a text".to_owned(),
        FieldKind::Choice { values, .. } => format!("one of {}", code_list(values)),
        FieldKind::Strings => "an array of texts".to_owned(),
        FieldKind::Rubrics => "an array of objects".to_owned(),
        FieldKind::Weights | FieldKind::JudgeOptions => "an object".to_owned(),
        _ => "a value".to_owned(),
    }
}

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct Document {
    command: &'static str,
    metrics: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct Entry {
    name: &'static str,
    group: &'static str,
    summary: &'static str,
    min: f64,
    max: Option<f64>,
    needs: Vec<&'static str>,
    gates: bool,
    criterion: Vec<Field>,
}

#[derive(Debug, Serialize)]
struct Field {
    name: &'static str,
    kind: &'static str,
    values: &'static [&'static str],
    required: bool,
    default: Option<serde_json::Value>,
    doc: &'static str,
}

impl From<&MetricInfo> for Entry {
    fn from(info: &MetricInfo) -> Self {
        Self {
            name: info.name,
            group: group_name(info.group),
            summary: info.summary,
            min: info.min,
            max: info.max,
            needs: info.needs.iter().map(|need| need_name(*need)).collect(),
            gates: info.gates,
            criterion: info.criterion.iter().map(Field::from).collect(),
        }
    }
}

impl From<&CriterionField> for Field {
    fn from(field: &CriterionField) -> Self {
        let (kind, values) = kind_name(field.kind);
        // Defaults are JSON; a test of `METRICS` holds them to it.
        let default = field.default.and_then(|text| serde_json::from_str(text).ok());
        Self { name: field.name, kind, values, required: field.default.is_none(), default, doc: field.doc }
    }
}

fn group_name(group: MetricGroup) -> &'static str {
    match group {
        MetricGroup::AdkLexical => "adk_lexical",
        MetricGroup::AdkJudged => "adk_judged",
        MetricGroup::AdkInformational => "adk_informational",
        MetricGroup::Vertex => "vertex",
        MetricGroup::AdkRs => "adk_rs",
        MetricGroup::AdkEval => "adk_eval",
        MetricGroup::Own => "own",
        _ => "other",
    }
}

fn need_name(need: Need) -> &'static str {
    match need {
        Need::Expectation => "expectation",
        Need::Judge => "judge",
        Need::Scenario => "scenario",
        _ => "other",
    }
}

fn kind_name(kind: FieldKind) -> (&'static str, &'static [&'static str]) {
    match kind {
        FieldKind::Bool => ("bool", &[]),
        FieldKind::Number => ("number", &[]),
        FieldKind::String => ("string", &[]),
        FieldKind::Choice { values, .. } => ("choice", values),
        FieldKind::Strings => ("strings", &[]),
        FieldKind::Rubrics => ("objects", &[]),
        FieldKind::Weights | FieldKind::JudgeOptions => ("object", &[]),
        _ => ("other", &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_listed_once_and_can_be_described() {
        let list = list();
        for info in METRICS {
            assert_eq!(list.matches(&format!("  {} ", info.name)).count(), 1, "{}", info.name);
            let text = description(info);
            assert!(info.criterion.iter().all(|field| text.contains(field.doc)), "{text}");
        }
    }

    #[test]
    fn nothing_that_is_known_is_called_other() {
        for info in METRICS {
            let json = serde_json::to_string(&Entry::from(info)).unwrap();
            assert!(!json.contains("\"other\""), "{json}");
            assert_ne!(group_title(info.group), "others");
        }
    }

    #[test]
    fn a_metric_that_is_not_there_is_guessed() {
        assert_eq!(find("tool_trajectory").unwrap_err().help, "did you mean `tool_trajectory_avg_score`?");
        assert!(find("brevity").unwrap_err().help.contains("lists them"));
    }
}
