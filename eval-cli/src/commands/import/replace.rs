//! `cargo evalset import --replace`: what an agent did in a recorded run, as a draft in place of the golden.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use eval_agents::draft::{Draft, NotReplaced, Origin};
use eval_agents::import;
use eval_core::report::Verdict;
use eval_format::{EvalCase, SetEditor};
use eval_support::shell;
use eval_support::untrusted::{headline, one_line};
use eval_support::words::count;
use serde_json::{Value, json};

use super::source::{refused, run_and_case};
use crate::drafts::{self, GoldenBy, NotGolden, shown};
use crate::edited::{self, edit, open};
use crate::output::{Answer, CommandError, Format, GOOD, Outcome, styled};
use crate::recorded::{Cases, LoadedRun, RunResults, WhichRun, near};

/// A golden and the draft that takes its place.
struct Replacement {
    path: PathBuf,
    golden: EvalCase,
    draft: EvalCase,
}

pub(super) fn run(from: &[OsString], dry_run: bool, format: Format) -> Result<Answer, CommandError> {
    let (mut all, mut unchanged): (Vec<Replacement>, Vec<String>) = (Vec::new(), Vec::new());
    let (mut runs, mut cases) = (BTreeMap::new(), Cases::default());
    for word in from {
        match replacement(&word.to_string_lossy(), &mut runs, &mut cases)? {
            Ok(new) if all.iter().any(|it| it.path == new.path && it.draft == new.draft) => {}
            Ok(new) => {
                let id = &new.draft.eval_id;
                if all.iter().any(|it| it.path == new.path && it.draft.eval_id == *id) {
                    let message = format!("two runs are named for the case `{}`", one_line(id));
                    return Err(CommandError::new(message, "name one of them: a golden has one replacement"));
                }
                all.push(new);
            }
            Err(eval_id) if unchanged.contains(&eval_id) => {}
            Err(eval_id) => unchanged.push(eval_id),
        }
    }
    // The drafts of a set are written together.
    all.sort_by(|one, other| one.path.cmp(&other.path));
    let mut text = String::new();
    for of_set in all.chunk_by(|one, other| one.path == other.path) {
        let path = &of_set[0].path;
        let file = one_line(&path.display().to_string());
        if dry_run {
            let mut editor = open(path)?;
            let before = editor.text();
            of_set.iter().try_for_each(|it| it.replace(&mut editor))?;
            let after = editor.text();
            let diff = similar::TextDiff::from_lines(&before, &after);
            text.push_str(&diff.unified_diff().context_radius(3).header(&file, &file).to_string());
            text.push('\n');
            text.push_str(&format!(
                "would put {} of `{file}`\n{}",
                in_place(of_set.len()),
                cannot_pass(path, of_set)
            ));
            continue;
        }
        edit(path, |editor| of_set.iter().try_for_each(|it| it.replace(editor)))?;
        text.push_str(&format!("{} {} of `{file}`\n\n", styled(GOOD, "put"), in_place(of_set.len())));
        for it in of_set {
            text.push_str(&shown(&drafts::Draft { path: path.clone(), case: it.draft.clone() }));
        }
        text.push_str(&cannot_pass(path, of_set));
        let ids: Vec<&str> = of_set.iter().map(|it| it.draft.eval_id.as_str()).collect();
        text.push_str(&drafts::to_review(&format!("{}:{}", path.display(), ids.join(",")), of_set.len()));
    }
    for id in &unchanged {
        text.push_str(&format!("`{}` expects already what the agent did\n", one_line(id)));
    }
    if format == Format::Json {
        let drafts: Vec<Value> = all.iter().map(Replacement::entry).collect();
        let written = !dry_run && !all.is_empty();
        let results = json!({ "written": written, "drafts": drafts, "unchanged": unchanged });
        return Answer::results("import", Outcome::Passed, &results);
    }
    Ok(Answer::new(Outcome::Passed, text))
}

fn in_place(drafts: usize) -> String {
    let goldens = if drafts == 1 { "a golden" } else { "goldens" };
    format!("{} in place of {goldens}", count(drafts, "draft"))
}

fn cannot_pass(path: &Path, drafts: &[Replacement]) -> String {
    let cases: Vec<EvalCase> = drafts.iter().map(|it| it.draft.clone()).collect();
    drafts::cannot_pass(path, &cases)
}

impl Replacement {
    fn replace(&self, editor: &mut SetEditor) -> Result<(), CommandError> {
        let id = &self.golden.eval_id;
        if editor.case(id).is_some_and(|now| *now != self.golden) {
            let file = one_line(&self.path.display().to_string());
            let message = format!("`{file}`: the case `{}` was changed meanwhile", one_line(id));
            return Err(CommandError::new(message, GoldenBy::Import.run_again()));
        }
        editor.redraft(&self.draft).map_err(|error| edited::refused(&self.path, &error))
    }

    fn entry(&self) -> Value {
        let calls: usize = self.draft.conversation.iter().map(|turn| turn.tool_calls().count()).sum();
        json!({
            "set": self.path.display().to_string(),
            "eval_id": self.draft.eval_id,
            "turns": self.draft.conversation.len(),
            "calls": calls,
            "draft": self.draft.draft().map(Value::from),
        })
    }
}

/// A run, and the reason why it may be another one than is meant.
struct Run {
    loaded: LoadedRun,
    doubt: Option<String>,
}

impl Run {
    fn named(run: Option<&str>) -> Result<Self, CommandError> {
        let loaded = WhichRun::named(run.map(str::to_owned)).load()?;
        let results = RunResults::new(&loaded, None, true).ok().filter(|results| results.totals.is_doubtful);
        let doubt = results.and_then(|results| results.doubts.first().cloned());
        Ok(Self { loaded, doubt })
    }
}

/// The replacement of a case that is named by `RUN:CASE`; the id of the case if nothing changes.
fn replacement(
    text: &str,
    runs: &mut BTreeMap<Option<String>, Run>,
    cases: &mut Cases,
) -> Result<Result<Replacement, String>, CommandError> {
    let Some((run, case)) = run_and_case(text) else {
        return Err(CommandError::new(
            format!("`{}` names no case of a recorded run", one_line(text)),
            "`--replace` takes `RUN:CASE`, or `:CASE` for the last run",
        ));
    };
    let Run { loaded, doubt } = match runs.entry(run.map(str::to_owned)) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(new) => new.insert(Run::named(run)?),
    };
    let name = loaded.name();
    let of_run = |why: &str| format!("`{}` in run {name}: {}", one_line(case), one_line(why));
    let refused_run = |not: NotGolden| CommandError::new(of_run(&not.why), not.help);
    let test =
        import::recorded(&format!("run {name}"), &loaded.run, case).map_err(|error| refused(&error))?;
    let verdict = test.last().and_then(|attempt| Some((attempt, &attempt.decided.as_ref()?.verdict)));
    let Some((attempt, verdict)) = verdict else {
        return Err(CommandError::new(of_run("it has no verdict"), GoldenBy::Import.run_again()));
    };
    if let Verdict::Error { message, .. } = verdict {
        let why = format!("it is an ERROR, and no answer of the agent: {}", headline(message));
        return Err(refused_run(GoldenBy::Import.broken(why)));
    }
    let found =
        cases.find(&attempt.started).map_err(|error| CommandError::new(of_run(&error.why), error.help))?;
    let id = &found.case.eval_id;
    let file = near(&found.path).to_path_buf();
    if found.case.draft().is_some() {
        let named = shell::word(&format!("{}:{id}", file.display()));
        return Err(CommandError::new(
            of_run("the case is a draft already"),
            format!("look at it, and accept it: `cargo evalset accept {}`", one_line(&named)),
        ));
    }
    if let Some(doubt) = doubt {
        let named = shell::word(&format!("{name}:{case}"));
        return Err(CommandError::new(
            of_run(doubt),
            format!(
                "run the tests again; or if this run is meant, name it: `cargo evalset import {named} --replace`"
            ),
        ));
    }
    if found.is_edited {
        return Err(refused_run(GoldenBy::Import.edited()));
    }
    let transcripts: Vec<_> = attempt.evaluations.iter().map(|it| &it.ran.transcript).collect();
    let mut origin = Origin::new(format!("run {name}")).with("format", "journal").with("case", test.name());
    if transcripts.len() > 1 {
        origin = origin.with("runs", i64::try_from(transcripts.len()).unwrap_or(i64::MAX));
    }
    match Draft::in_place_of(&found.case, &transcripts, origin) {
        Ok(draft) => Ok(Ok(Replacement { path: file, draft: draft.marked(), golden: found.case })),
        Err(NotReplaced::Unchanged) => Ok(Err(id.clone())),
        Err(error) => Err(refused_run(GoldenBy::Import.not_replaced(&error))),
    }
}
