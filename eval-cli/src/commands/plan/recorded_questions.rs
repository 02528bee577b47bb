//! Which questions to judges have a recorded answer.

use std::collections::HashSet;
use std::path::Path;

use eval_format::metric::METRICS;
use eval_format::recording::check_recording;
use eval_support::untrusted::one_line;
use eval_support::words::count;

use super::last_run::SIMULATED_USER;
use crate::files::read;

/// The recorded questions of a set.
#[derive(Debug)]
pub(super) struct RecordedQuestions {
    /// The path of the recording, as messages show it.
    shown: String,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// There is no recording.
    Missing,
    /// The recording has errors.
    Broken,
    /// The metric and the case of each question.
    Asked(HashSet<(String, String)>),
}

impl RecordedQuestions {
    pub(super) fn read(path: &Path) -> Self {
        let recorded = read(path).map(|bytes| check_recording("", &bytes).into_result());
        let content = match recorded {
            Err(_) => Content::Missing,
            Ok(Err(_)) => Content::Broken,
            Ok(Ok(recording)) => {
                // A prompt without a name belongs to no metric.
                let named =
                    recording.questions().iter().filter_map(|it| Some((it.template.as_deref()?, &it.cases)));
                let questions = named.flat_map(|(template, cases)| {
                    let metric = asker(template);
                    cases.iter().map(|case| (metric.to_owned(), case.clone()))
                });
                Content::Asked(questions.collect())
            }
        };
        Self { shown: one_line(&path.display().to_string()), content }
    }

    /// Whether a question of a metric about a case is recorded.
    pub(super) fn has(&self, metric: &str, case: &str) -> bool {
        match &self.content {
            Content::Missing | Content::Broken => false,
            Content::Asked(asked) => asked.contains(&(metric.to_owned(), case.to_owned())),
        }
    }

    /// Why so many of the cases have no recorded answer, and how to record one.
    pub(super) fn lacks(&self, missing: usize, cases: usize) -> String {
        let shown = &self.shown;
        match self.content {
            Content::Missing => {
                format!("there is no recording `{shown}`; a run with `EVALSET_JUDGE=record` makes it")
            }
            Content::Broken => format!("`{shown}` has problems; `cargo evalset check` shows them"),
            Content::Asked(_) => format!(
                "`{shown}` holds no answer for {missing}/{}; a run with `EVALSET_JUDGE=record` adds them",
                count(cases, "case")
            ),
        }
    }
}

/// The metric or simulated user that asks with a prompt. The name of a prompt begins with that of the metric.
fn asker(template: &str) -> &str {
    let names = METRICS.iter().map(|metric| metric.name).chain([SIMULATED_USER]);
    names.filter(|name| template.starts_with(name)).max_by_key(|name| name.len()).unwrap_or(template)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_that_of_the_metric_it_is_named_after() {
        for (template, expected) in [
            ("safety_v1/1", "safety_v1"),
            ("hallucinations_v1_segment/1", "hallucinations_v1"),
            ("user_simulator_custom/1", "user_simulator"),
            ("polite/1", "polite/1"),
        ] {
            assert_eq!(asker(template), expected);
        }
    }
}
