//! The metrics for people.

use eval_format::metric::{CriterionField, FieldKind, METRICS, MetricGroup, MetricInfo, Need};
use eval_support::words::code_list;

use crate::output::style::{BOLD, styled};

/// A table for each group.
pub(super) fn list() -> String {
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
    text + "\n`cargo evalset metrics NAME` describes a metric: what it needs, and the fields of its criterion\n"
}

pub(super) fn description(info: &MetricInfo) -> String {
    let mut text = format!("{}\n  {}\n\n", styled(BOLD, info.name), info.summary);
    let mut line = |what: &str, value: &str| text.push_str(&format!("  {what:9}  {value}\n"));
    line("from", group_title(info.group));
    line("score", &range(info));
    let needs: Vec<_> = info.needs.iter().map(|need| need_phrase(*need)).collect();
    line("needs", &if needs.is_empty() { "nothing".to_owned() } else { needs.join("; ") });
    line(
        "decides",
        if info.gates { "yes, by its threshold" } else { "only with a `direction`; else informational" },
    );
    if info.gates {
        line("criterion", r#"a number, the threshold, or an object with `"threshold"`"#);
    } else {
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
        MetricGroup::AdkInformational => "ADK, informational",
        MetricGroup::Vertex => "Vertex AI's names",
        MetricGroup::AdkRs => "adk-rs's names",
        MetricGroup::AdkEval => "adk-eval's names",
        MetricGroup::Own => "our own",
        _ => "others",
    }
}

fn need_phrase(need: Need) -> &'static str {
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
    fn every_group_has_a_title() {
        for info in METRICS {
            assert_ne!(group_title(info.group), "others", "{}", info.name);
        }
    }
}
