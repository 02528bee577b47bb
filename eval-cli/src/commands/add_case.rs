//! `cargo evalset add-case`: adds cases to a set.

mod scenario_id;

use std::ffi::OsString;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use eval_format::problem::Severity;
use eval_format::reader::{CheckedSet, check_set};
use eval_format::{EvalCase, Map, Problem, SessionInput, SetEditor, Value};
use eval_support::file::MAX_FILE_BYTES;
use eval_support::hash::content_hash;
use eval_support::untrusted::one_line;
use eval_support::words::{count, short_code_list};

use crate::edited::{Change, changed, edit, one_set, refused};
use crate::files::{self, FoundProblems, first_error};
use crate::output::{Answer, CommandError, Format, Outcome};
use scenario_id::scenario_id;

/// Adds cases to an eval set, behind those that it has. Every other byte of the file stays.
///
/// The file holds an eval case as JSON, an array of cases, another eval set, or scenarios as `adk eval_set add_eval_case`
/// takes them: `{"scenarios": [{"starting_prompt": .., "conversation_plan": ..}]}`. A new case is indented and spelt as the
/// cases that are there.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The set: a file, or the id of a set below this folder.
    #[arg(value_name = "SET")]
    set: OsString,

    /// The file with the cases; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The id of the case, in place of the one in the file.
    #[arg(long)]
    id: Option<String>,

    /// A file with a session input, for the cases that have none: `{"app_name": .., "user_id": .., "state": {}}`.
    #[arg(long, value_name = "FILE")]
    session_input: Option<PathBuf>,

    /// Marks the cases as drafts. Tests refuse them until `accept` takes the mark away.
    #[arg(long)]
    draft: bool,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset add-case weather case.json
  cargo evalset add-case evals/weather.evalset.json - --draft < case.json
  cargo evalset add-case trip scenarios.json --session-input session_input.json

Exit codes:
  0  the cases were added, or their scenarios are there already
  1  the file with the cases has errors
  2  the set does not exist or has a case of that id, or a file cannot be read or written";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let set = one_set(&args.set)?;
    if set.cases.is_some() {
        let word = one_line(&args.set.to_string_lossy());
        let help = "name the set alone; the id of the case is in the file, or `--id` gives it";
        return Err(CommandError::new(format!("`{word}` names a case"), help));
    }
    let source = Source::read(&args.file)?;
    let session = args.session_input.as_deref().map(session_input).transpose()?;
    let mut cases = match source.cases(args.id.as_deref())? {
        Ok(cases) => cases,
        Err(answer) => return Ok(answer),
    };
    for case in &mut cases {
        if case.session_input.is_none() {
            case.session_input.clone_from(&session);
        }
        if args.draft && case.draft().is_none() {
            let mark = Map::from([("from", Value::from(source.name.as_str()))]);
            *case = std::mem::take(case).with_draft(mark);
        }
    }
    let (added, there) = edit(&set.path, |editor| {
        let (mut added, mut there) = (Vec::new(), Vec::new());
        for case in &cases {
            if source.is_scenarios && is_there(editor, case) {
                there.push(one_line(&case.eval_id));
                continue;
            }
            editor.add_case(case).map_err(|error| refused(&set.path, &error))?;
            added.push(case.eval_id.clone());
        }
        Ok((added, there))
    })?;
    let remark = match there.len() {
        0 => String::new(),
        cases => format!("{} there already: {}\n", count(cases, "scenario"), short_code_list(&there)),
    };
    let change = Change { file: set.path.display().to_string(), cases: added, ..Change::default() };
    changed("add-case", ("added", "to"), &[change], &remark, args.format)
}

fn is_there(editor: &SetEditor, case: &EvalCase) -> bool {
    editor.case(&case.eval_id).is_some_and(|known| known.conversation_scenario == case.conversation_scenario)
}

#[derive(Debug)]
struct Source {
    name: String,
    text: String,
    /// Whether it holds scenarios as ADK's command takes them.
    is_scenarios: bool,
    document: Option<Value>,
}

impl Source {
    fn read(path: &Path) -> Result<Self, CommandError> {
        let (name, bytes) = if path.as_os_str() == "-" {
            ("standard input".to_owned(), standard_input()?)
        } else {
            (path.display().to_string(), files::read(path)?)
        };
        let text = String::from_utf8(bytes).map_err(|_| {
            CommandError::new(format!("`{}` is not UTF-8", one_line(&name)), "save it as UTF-8")
        })?;
        let document = Value::parse(&text).ok();
        let has =
            |key: &str| document.as_ref().and_then(Value::as_object).is_some_and(|map| map.contains_key(key));
        Ok(Self { is_scenarios: has("scenarios"), name, text, document })
    }

    /// The cases, or an answer with the problems of the file. `id` replaces the id of the only case.
    fn cases(&self, id: Option<&str>) -> Result<Result<Vec<EvalCase>, Answer>, CommandError> {
        if self.is_scenarios && self.document.as_ref().is_some_and(|it| it["scenarios"].as_array().is_none())
        {
            let name = one_line(&self.name);
            let help = r#"write `{"scenarios": [{"starting_prompt": "..", "conversation_plan": ".."}]}`"#;
            return Err(CommandError::new(format!("`scenarios` of `{name}` is no array"), help));
        }
        let (checked, wrapped) = self.checked();
        let mut problems: Vec<Problem> =
            checked.problems.iter().filter(|it| it.is_error()).cloned().collect();
        problems.extend(checked.unwritten());
        for problem in &mut problems {
            // Warnings elsewhere; here they stop the cases from being added.
            problem.severity = Severity::Error;
            problem.range = shifted(&problem.range, &wrapped);
            problem.related.iter_mut().for_each(|(range, _)| *range = shifted(range, &wrapped));
        }
        let Some(set) = checked.set.filter(|_| problems.is_empty()) else {
            let text = checked.text.get(wrapped).unwrap_or_default().to_owned();
            let found = FoundProblems { text, problems };
            let text = files::shown(&checked.file, &found) + "nothing was added\n";
            return Ok(Err(Answer::new(Outcome::Failed, text)));
        };
        let mut cases = set.eval_cases;
        if self.is_scenarios {
            for case in &mut cases {
                case.eval_id = case.conversation_scenario.as_ref().map(scenario_id).unwrap_or_default();
            }
        }
        if let Some(id) = id {
            let [case] = cases.as_mut_slice() else {
                let name = one_line(&self.name);
                let message = format!("`--id` names one case, and `{name}` holds {}", cases.len());
                return Err(CommandError::new(message, "leave `--id` out, or give a file with one case"));
            };
            id.clone_into(&mut case.eval_id);
        }
        Ok(Ok(cases))
    }

    /// The file, checked as an eval set, and the range of its text in the text of the set. Cases outside a
    /// set are wrapped in one.
    fn checked(&self) -> (CheckedSet, Range<usize>) {
        let check = |text: &str| check_set(&self.name, text.as_bytes(), None);
        let is_set = |map: &Map| ["eval_cases", "evalCases"].iter().any(|key| map.contains_key(key));
        let (head, cases, tail) = match &self.document {
            Some(Value::Array(_)) => (HEAD, self.text.clone(), "}"),
            Some(document) if self.is_scenarios => {
                let scenarios = document["scenarios"].as_array().unwrap_or_default();
                (HEAD, Value::Array(scenarios.iter().map(of_scenario).collect()).to_string(), "}")
            }
            Some(Value::Object(map)) if !is_set(map) => (HEAD_OF_ONE, self.text.clone(), "]}"),
            _ => return (check(&self.text), 0..self.text.len()),
        };
        (check(&format!("{head}{cases}{tail}")), head.len()..head.len() + cases.len())
    }
}

/// The beginning of a minimal set, up to its cases.
const HEAD: &str = r#"{"eval_set_id": "", "eval_cases": "#;
const HEAD_OF_ONE: &str = r#"{"eval_set_id": "", "eval_cases": ["#;

/// A range in the text of a set, as a range in the text that was wrapped.
fn shifted(range: &Range<usize>, wrapped: &Range<usize>) -> Range<usize> {
    let at = |offset: usize| offset.clamp(wrapped.start, wrapped.end) - wrapped.start;
    at(range.start)..at(range.end)
}

/// A case made of a scenario. Its id only keeps the cases apart while the file is checked.
fn of_scenario(scenario: &Value) -> Value {
    let id = format!("{:016x}", content_hash(scenario.to_string().as_bytes()));
    Value::from(Map::from([("eval_id", Value::from(id)), ("conversation_scenario", scenario.clone())]))
}

fn session_input(path: &Path) -> Result<SessionInput, CommandError> {
    let shown = one_line(&path.display().to_string());
    let error = |why: &str| {
        let help = r#"write an object: `{"app_name": "..", "user_id": "..", "state": {}}`"#;
        CommandError::new(format!("`{shown}` is no session input: {why}"), help)
    };
    let text = String::from_utf8(files::read(path)?).map_err(|_| error("it is not UTF-8"))?;
    let session = Value::parse(&text).map_err(|problems| error(&first_error(&problems).0))?;
    let case = Map::from([
        ("eval_id", Value::from("case")),
        ("conversation", Value::parse(r#"[{"user_content": {}}]"#).unwrap_or_default()),
        ("session_input", session),
    ]);
    let case = EvalCase::parse(&Value::from(case).to_string())
        .map_err(|problems| error(&first_error(&problems).0))?;
    case.session_input.ok_or_else(|| error("it is `null`"))
}

fn standard_input() -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    let error = |why: String| CommandError::new(format!("cannot read standard input: {why}"), "name a file");
    let read = std::io::stdin().lock().take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|failed| error(failed.to_string()))?;
    if bytes.len() as u64 > MAX_FILE_BYTES { Err(error("it is too large".to_owned())) } else { Ok(bytes) }
}
