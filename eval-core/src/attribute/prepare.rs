//! From compiled-in text to the parts of a run: the case, its criteria, its metrics and judges.

use std::sync::Arc;

use eval_format::__private::{ModelFaults, parse_value};
use eval_format::tools::{check_declarations, check_injections};
use eval_format::{EvalCase, EvalConfig, Map, Meaning, Value};
use eval_support::words::count;

use crate::case_runner::{CaseRunner, SessionNames, ToolFiles};
use crate::compiled::{ConfigSource, FileSource, SetSource, Test};
use crate::judge::JudgeRouter;
use crate::metric::{MakeMetric, with_commands};
#[cfg(feature = "models")]
use crate::model_use::PlannedRuns;
use crate::models::Models;
use crate::stale;

/// The case of a test. It lives as long as the program, since the setup function may keep references into it.
pub(super) fn case(test: &Test) -> Result<&'static EvalCase, String> {
    let slice = test.case_text().ok_or("the case lies outside its file")?;
    let (form, eval_id) = (test.set.form, test.source.eval_id);
    let case = eval_format::__private::read_case(form, slice, eval_id, test.session_text());
    let mut case = case.map_err(|problems| problems.to_string())?;
    if let Some(faults) = test.set.model_faults {
        add_model_faults(&mut case, faults)?;
    }
    // One case per test is a small leak.
    Ok(Box::leak(Box::new(case)))
}

/// Adds the attribute's model faults to the case's own. The compiler checked both.
fn add_model_faults(case: &mut EvalCase, text: &str) -> Result<(), String> {
    let more = parse_value(text)?;
    let own = case.extra.get(EvalCase::MODELS_KEY).cloned();
    let lists = own
        .iter()
        .chain([&more])
        .filter_map(|value| value.as_object()?.get(ModelFaults::LIST_KEY)?.as_array());
    let all: Value = lists.flatten().cloned().collect();
    case.extra.insert(EvalCase::MODELS_KEY, Value::Object(Map::from([(ModelFaults::LIST_KEY, all)])));
    Ok(())
}

pub(super) fn meaning(test: &Test, case: Option<&EvalCase>) -> Meaning {
    // Later comparisons with the set do not know the session file and the attribute.
    let is_changed = test.session_text().is_some() || test.set.model_faults.is_some();
    let alone = is_changed.then(|| {
        let (form, eval_id) = (test.set.form, test.source.eval_id);
        eval_format::__private::read_case(form, test.case_text()?, eval_id, None).ok()
    });
    let alone = alone.flatten();
    alone.as_ref().or(case).map(Meaning::from_case).unwrap_or_default()
}

pub(super) fn case_runner(
    set: &SetSource,
    metrics: &[(&'static str, MakeMetric)],
    judges: JudgeRouter,
) -> Result<CaseRunner, String> {
    let config = config(set, metrics)?;
    let custom = metrics.iter().map(|(name, make)| ((*name).to_owned(), make())).collect();
    let custom = with_commands(&config, custom);
    let names = SessionNames::default();
    let runner = CaseRunner::new(&config, custom, judges, set.options, names, None)?;
    Ok(runner.with_tool_files(tool_files(set)?))
}

/// The recorded calls of models of a test.
#[cfg(feature = "models")]
pub(super) fn models(test: &Test) -> Result<Models, String> {
    let command = crate::failure::rerun_command(test);
    let plan = PlannedRuns { runs: test.set.options.runs, is_variant: test.variant.is_some() };
    let root = stale::root(test.set.manifest_dir);
    let own = test.own_models().map(|file| file.text);
    let texts = test.set.models.as_ref().map(|models| (Some(models.shared.text), own));
    Models::compiled(&root, test.set.file, test.set.shown, texts, command, plan)
}

/// Without the feature there are none, and a variable that asks for them is an error.
#[cfg(not(feature = "models"))]
pub(super) fn models(_: &Test) -> Result<Models, String> {
    Models::checked()
}

/// The content of the files of golden tools. They were checked by the compiler.
fn tool_files(set: &SetSource) -> Result<ToolFiles, String> {
    let mut files = ToolFiles::default();
    if let Some(FileSource { file, text }) = set.faults {
        let read = check_injections(file, text.as_bytes()).into_result();
        files.faults = Some(Arc::new(read.map_err(|problems| problems.to_string())?));
    }
    if let Some(FileSource { file, text }) = set.tool_list {
        let read = check_declarations(file, text.as_bytes()).into_result();
        files.declarations = Some(Arc::new(read.map_err(|problems| problems.to_string())?));
    }
    Ok(files)
}

fn config(set: &SetSource, metrics: &[(&'static str, MakeMetric)]) -> Result<EvalConfig, String> {
    let (name, text) = match &set.config {
        ConfigSource::Default => return Ok(EvalConfig::adk_default()),
        ConfigSource::Inline(text) => ("criteria(..)", *text),
        ConfigSource::File(file) => (file.file, file.text),
    };
    let answered: Vec<&str> = metrics.iter().map(|(name, _)| *name).collect();
    let checked = eval_format::config::check_config(name, text.as_bytes(), &answered);
    let problems = checked.problems.len();
    let config = checked.config.ok_or_else(|| format!("{name} has {}", count(problems, "problem")))?;
    // Only a file can name programs. They run in its folder.
    Ok(config.in_folder_of(stale::root(set.manifest_dir).join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_the_attribute_come_after_the_ones_of_the_case() {
        let fault = |turn: u8| format!(r#"{{"at":{{"turn":{turn},"call":1}},"fault":"reset"}}"#);
        let list = |items: &[String]| format!(r#"{{"faults":[{}]}}"#, items.join(","));
        for (own, expected) in
            [(None, list(&[fault(2)])), (Some(list(&[fault(1)])), list(&[fault(1), fault(2)]))]
        {
            let mut case = EvalCase::new("c");
            if let Some(own) = own {
                case = case.with_extra(EvalCase::MODELS_KEY, parse_value(&own).unwrap());
            }
            add_model_faults(&mut case, &list(&[fault(2)])).unwrap();
            assert_eq!(case.extra[EvalCase::MODELS_KEY].to_string(), expected);
        }
    }
}
