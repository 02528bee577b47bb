//! `cargo evalset metrics`: the metrics that a config can use.

use eval_format::metric::{CriterionField, FieldKind, METRICS, MetricGroup, MetricInfo, Need, metric};
use eval_support::command;
use eval_support::untrusted::one_line;
use eval_support::words::{code_list, did_you_mean};
use serde::Serialize;

use crate::output::width::fitted;
use crate::output::{Answer, BOLD, CommandError, Format, Outcome, styled};

/// Lists the metrics, or describes one: its range, what it needs, and the fields of its criterion.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The metric to describe.
    name: Option<String>,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset metrics
  cargo evalset metrics tool_trajectory_avg_score
  cargo evalset metrics --format json";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let one = args.name.as_deref().map(find).transpose()?;
    match (args.format, one) {
        (Format::Human, None) => Ok(Answer::new(Outcome::Passed, fitted(list()))),
        (Format::Human, Some(info)) => Ok(Answer::new(Outcome::Passed, fitted(description(info)))),
        (Format::Json, one) => {
            let metrics = one.map_or_else(|| METRICS.iter().map(Entry::from).collect(), |it| vec![it.into()]);
            Answer::json(Outcome::Passed, &Document { command: "metrics", metrics })
        }
    }
}

fn find(name: &str) -> Result<&'static MetricInfo, CommandError> {
    let list = "`cargo evalset metrics` lists the built-in metrics; metrics of your own are not among them";
    metric(name).ok_or_else(|| no_such_metric(name, list))
}

/// The error for a name that no metric has. `fallback_help` is the help if no metric has a similar name.
pub(super) fn no_such_metric(name: &str, fallback_help: &str) -> CommandError {
    let help = did_you_mean(name, METRICS.iter().map(|info| info.name));
    let help = help.unwrap_or_else(|| fallback_help.to_owned());
    CommandError::new(format!("there is no metric `{}`", one_line(name)), help)
}

/// The output of `--format json`. Fields may be added; no field is removed or changes its meaning.
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
            group: group(info.group).json,
            summary: info.summary,
            min: info.min,
            max: info.max,
            needs: info.needs.iter().map(|it| need(*it).json).collect(),
            gates: info.gates,
            criterion: info.criterion.iter().map(Field::from).collect(),
        }
    }
}

impl From<&CriterionField> for Field {
    fn from(field: &CriterionField) -> Self {
        let values = if let FieldKind::Choice { values, .. } = field.kind { values } else { &[] };
        // A test of eval-format checks that the defaults are JSON.
        let default = field.default.and_then(|text| serde_json::from_str(text).ok());
        let (kind, required) = (kind(field.kind).json, field.default.is_none());
        Self { name: field.name, kind, values, required, default, doc: field.doc }
    }
}

/// A name in JSON, and in words.
struct Named {
    json: &'static str,
    words: &'static str,
}

fn group(group: MetricGroup) -> Named {
    match group {
        MetricGroup::AdkLexical => {
            Named { json: "adk_lexical", words: "ADK, compared with what is expected" }
        }
        MetricGroup::AdkJudged => Named { json: "adk_judged", words: "ADK, judged by a model or a service" },
        MetricGroup::AdkInformational => Named { json: "adk_informational", words: "ADK, informational" },
        MetricGroup::Vertex => Named { json: "vertex", words: "Vertex AI's names" },
        MetricGroup::AdkRs => Named { json: "adk_rs", words: "adk-rs's names" },
        MetricGroup::AdkEval => Named { json: "adk_eval", words: "adk-eval's names" },
        MetricGroup::Own => Named { json: "own", words: "our own" },
        _ => Named { json: "other", words: "others" },
    }
}

fn need(need: Need) -> Named {
    match need {
        Need::Expectation => Named { json: "expectation", words: "an expected turn to compare with" },
        Need::Judge => Named { json: "judge", words: "a judge: a model or a service" },
        Need::Scenario => Named { json: "scenario", words: "a conversation scenario" },
        _ => Named { json: "other", words: "something else" },
    }
}

fn kind(kind: FieldKind) -> Named {
    match kind {
        FieldKind::Bool => Named { json: "bool", words: "true or false" },
        FieldKind::Number => Named { json: "number", words: "a number" },
        FieldKind::String => Named { json: "string", words: "a text" },
        FieldKind::Choice { .. } => Named { json: "choice", words: "one of" },
        FieldKind::Strings => Named { json: "strings", words: "an array of texts" },
        FieldKind::Rubrics => Named { json: "objects", words: "an array of objects" },
        FieldKind::Weights | FieldKind::JudgeOptions => Named { json: "object", words: "an object" },
        _ => Named { json: "other", words: "a value" },
    }
}

fn list() -> String {
    let width = METRICS.iter().map(|info| info.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    let mut last = None;
    for info in METRICS {
        if last.replace(info.group) != Some(info.group) {
            let blank = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{blank}{}\n", styled(BOLD, group(info.group).words)));
        }
        let name = info.name;
        text.push_str(&format!("  {name:width$}  {:<7}  {}\n", range(info), info.summary));
    }
    let more =
        "`cargo evalset metrics NAME` describes a metric: what it needs, and the fields of its criterion";
    format!("{text}\n{}\n", command::spelt(more.to_owned()))
}

fn description(info: &MetricInfo) -> String {
    let mut text = format!("{}\n  {}\n\n", styled(BOLD, info.name), info.summary);
    let mut line = |what: &str, value: &str| text.push_str(&format!("  {what:9}  {value}\n"));
    line("from", group(info.group).words);
    line("score", &range(info));
    let needs: Vec<_> = info.needs.iter().map(|it| need(*it).words).collect();
    line("needs", &if needs.is_empty() { "nothing".to_owned() } else { needs.join("; ") });
    if info.gates {
        line("decides", "yes, by its threshold");
        line("criterion", r#"a number, the threshold, or an object with `"threshold"`"#);
    } else {
        line("decides", "only with a `direction`; else informational");
        line("criterion", r#"an object with `"threshold"` and `"direction"`"#);
    }
    text + &fields(info.criterion)
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

fn range(info: &MetricInfo) -> String {
    match info.max {
        Some(max) => format!("{} to {max}", info.min),
        None => format!("{} and more", info.min),
    }
}

fn kind_phrase(kind: FieldKind) -> String {
    let Named { words, .. } = self::kind(kind);
    match kind {
        FieldKind::Choice { values, .. } => format!("{words} {}", code_list(values)),
        _ => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use eval_format::metric::METRICS;

    use super::*;

    #[test]
    fn a_metric_that_is_not_there_is_guessed() {
        assert_eq!(find("tool_trajectory").unwrap_err().help, "did you mean `tool_trajectory_avg_score`?");
        assert!(find("brevity").unwrap_err().help.contains("lists the built-in metrics"));
    }

    #[test]
    fn nothing_that_is_known_is_called_other() {
        for info in METRICS {
            let json = serde_json::to_string(&Entry::from(info)).unwrap();
            assert!(!json.contains("\"other\""), "{json}");
        }
    }

    #[test]
    fn every_metric_is_listed_once_and_can_be_described() {
        let list = list();
        for info in METRICS {
            assert_eq!(list.matches(&format!("  {} ", info.name)).count(), 1, "{}", info.name);
            let text = description(info);
            assert!(info.criterion.iter().all(|field| text.contains(field.doc)), "{text}");
        }
    }
}
