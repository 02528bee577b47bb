//! A choice of a reviewer: its name, its bytes, its warnings, and what the record would score with it.

use std::time::SystemTime;

use eval_core::report::Verdict;
use eval_format::metric::metric;
use eval_format::{Criterion, EvalCase};
use eval_support::untrusted::one_line;

use super::change::{GoldenChange, Part};
use super::edit::{Action, Edit, as_shown};
use super::forecast::Forecast;
use super::item::{Item, Offer};
use super::lines::{CallLine, arguments};
use super::loosen::{AnswerMetrics, loosenings};
use super::warnings::{Warning, of_draft, of_loosened, warnings};
use crate::output::CommandError;
use crate::recorded::TestResult;

/// A choice with all that is shown before it is written.
#[derive(Debug)]
pub(crate) struct Choice {
    /// `SET:CASE`, with the part behind it: `:1`, `:1:2`, `:1:2:day`, `:1:answer`, `:loosen-1`.
    pub(crate) id: String,
    pub(crate) what: String,
    pub(crate) edit: Edit,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) forecast: Option<Forecast>,
}

impl Choice {
    /// The hash of what is shown.
    pub(crate) fn hash(&self) -> String {
        self.edit.hash(self.warnings.iter().map(|warning| warning.message.as_str()))
    }

    pub(crate) fn asks(&self) -> bool {
        self.warnings.iter().any(|warning| warning.asks)
    }
}

/// Makes the choices of an entry. `test` is its test in the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choices<'i, 'r> {
    pub(crate) item: &'i Item,
    pub(crate) test: Option<&'i TestResult<'r>>,
}

impl Choices<'_, '_> {
    /// All choices that accept: the whole, then the parts that the file can hold; the golden that a draft would be.
    pub(crate) fn accepting(&self) -> Result<Vec<Choice>, CommandError> {
        let mut all = self.whole()?.into_iter().collect::<Vec<_>>();
        if let Some(change) = self.item.change() {
            let of_part =
                |part: Part| self.parts(change, &part.to_string(), std::slice::from_ref(&part)).ok();
            all.extend(proper_parts(change).into_iter().filter_map(of_part));
        }
        Ok(all)
    }

    /// The choice that accepts all; `None` if nothing is offered.
    pub(crate) fn whole(&self) -> Result<Option<Choice>, CommandError> {
        match (&self.item.offer, self.item.change()) {
            (Offer::Draft, _) => {
                let edit = Edit::new(&self.item.path, &self.item.case, Action::Accept)?;
                let (id, what) = (self.item.id.clone(), "the draft".to_owned());
                Ok(Some(Choice { id, what, edit, warnings: of_draft(&self.item.case), forecast: None }))
            }
            (_, Some(change)) => Ok(Some(self.parts(change, "", &change.parts())?)),
            _ => Ok(None),
        }
    }

    /// The choice that removes a draft.
    pub(crate) fn removing(&self) -> Result<Choice, CommandError> {
        let edit = Edit::new(&self.item.path, &self.item.case, Action::Reject)?;
        let (id, what) = (self.item.id.clone(), "remove the draft".to_owned());
        Ok(Choice { id, what, edit, warnings: Vec::new(), forecast: None })
    }

    /// The choice of some parts.
    pub(crate) fn parts(
        &self,
        change: &GoldenChange,
        suffix: &str,
        parts: &[Part],
    ) -> Result<Choice, CommandError> {
        let case = change.with(&[self.item.taken.as_slice(), parts].concat());
        let mut warnings = warnings(&self.item.case, &case, &self.criteria(), self.ran());
        warnings.extend(self.item.warnings.iter().cloned());
        self.revising(suffix, described(change, parts), case, warnings)
    }

    /// The choices that loosen, as far as the file can hold them.
    pub(crate) fn loosening(&self) -> Result<Vec<Choice>, CommandError> {
        let rules = self.rules();
        if !rules.is_empty() {
            as_shown(&self.item.path, &self.item.case)?;
        }
        let revised = rules.into_iter().map(|(suffix, what, case)| self.loosened(&suffix, what, case));
        Ok(revised.filter_map(Result::ok).collect())
    }

    /// The choice of a rule that loosens.
    pub(super) fn loosened(
        &self,
        suffix: &str,
        what: String,
        case: EvalCase,
    ) -> Result<Choice, CommandError> {
        let runs: Vec<&EvalCase> = self.item.changes.iter().map(|change| &change.run).collect();
        let warnings = of_loosened(&self.item.case, &case, &runs, &self.criteria());
        self.revising(suffix, what, case, warnings)
    }

    /// The rules that loosen: the name of each behind the case, its words, and the case with it.
    pub(super) fn rules(&self) -> Vec<(String, String, EvalCase)> {
        let answers = self.answer_metrics();
        let rules = loosenings(&self.item.changes, &answers).into_iter().filter_map(|it| {
            // Parts that were accepted before stay.
            let mut case = self.item.case.clone();
            for key in [EvalCase::EXPECT_KEY, EvalCase::CRITERIA_KEY] {
                if let Some(value) = it.case.extra.get(key) {
                    case.extra.insert(key, value.clone());
                }
            }
            case.check().is_ok().then_some((it.what, case))
        });
        rules.enumerate().map(|(at, (what, case))| (format!(":loosen-{}", at + 1), what, case)).collect()
    }

    /// The choice of another text of the case, as it was edited.
    pub(crate) fn text(&self, text: String) -> Result<Choice, CommandError> {
        let edit = Edit::new(&self.item.path, &self.item.case, Action::Text(text))?;
        let forecast = edit.case_after().and_then(|case| self.forecast(&case));
        let (id, what) = (self.item.id.clone(), "the edited case".to_owned());
        Ok(Choice { id, what, edit, warnings: Vec::new(), forecast })
    }

    fn revising(
        &self,
        suffix: &str,
        what: String,
        case: EvalCase,
        warnings: Vec<Warning>,
    ) -> Result<Choice, CommandError> {
        let forecast = self.forecast(&case);
        let edit = Edit::new(&self.item.path, &self.item.case, Action::Revise(Box::new(case)))?;
        Ok(Choice { id: format!("{}{suffix}", self.item.id), what, edit, warnings, forecast })
    }

    fn forecast(&self, case: &EvalCase) -> Option<Forecast> {
        Forecast::of(case, self.test?, self.item.found.as_ref()?)
    }

    fn criteria(&self) -> Vec<&Criterion> {
        self.test.iter().flat_map(|test| test.deciding()).filter_map(|it| it.criterion.as_ref()).collect()
    }

    fn ran(&self) -> Option<SystemTime> {
        Some(self.test?.attempt.started.at)
    }

    /// The metrics of answers that the test has.
    fn answer_metrics(&self) -> AnswerMetrics {
        let Some(test) = self.test else { return AnswerMetrics::default() };
        let deciding = || test.deciding().filter_map(|report| Some((report, metric(&report.name)?)));
        let failed =
            deciding().filter(|(report, info)| info.compares_words() && report.verdict == Verdict::Failed);
        let judges = deciding().filter(|(_, info)| info.judges_meaning);
        AnswerMetrics {
            failed_words: failed.map(|(_, info)| info.name).collect(),
            judges: judges.map(|(_, info)| info.name).collect(),
        }
    }
}

/// The parts that are not all of what is above them.
pub(super) fn proper_parts(change: &GoldenChange) -> Vec<Part> {
    let parts = change.parts();
    let turn_of = |part: &Part| match part {
        Part::Turn(turn) | Part::Call(turn, _) | Part::Argument(turn, ..) | Part::Answer(turn) => Some(*turn),
        Part::State => None,
    };
    let is_turn = |part: &&Part| matches!(part, Part::Turn(_) | Part::State);
    let has_turns = parts.iter().filter(is_turn).count() > 1;
    let count = |fits: &dyn Fn(&Part) -> bool| parts.iter().filter(|part| fits(part)).count();
    let is_proper = |part: &&Part| match part {
        Part::Turn(_) | Part::State => has_turns,
        Part::Call(turn, _) | Part::Answer(turn) => {
            count(&|it| turn_of(it) == Some(*turn) && matches!(it, Part::Call(..) | Part::Answer(_))) > 1
        }
        Part::Argument(turn, line, _) => {
            count(&|it| matches!(it, Part::Argument(of, at, _) if (of, at) == (turn, line))) > 1
        }
    };
    parts.iter().filter(is_proper).cloned().collect()
}

/// A part below a turn or a call, for who chooses one by one.
pub(crate) fn below(change: &GoldenChange, part: Option<&Part>) -> Vec<Part> {
    let is_below = |it: &Part| match (part, it) {
        (None, Part::Turn(_) | Part::State) => true,
        (Some(Part::Turn(turn)), Part::Call(of, _) | Part::Answer(of)) => turn == of,
        (Some(Part::Call(turn, line)), Part::Argument(of, at, _)) => (turn, line) == (of, at),
        _ => false,
    };
    change.parts().into_iter().filter(is_below).collect()
}

/// Whether the changes below a part can be accepted one by one, at any depth.
pub(crate) fn is_divided(change: &GoldenChange, part: Option<&Part>) -> bool {
    match below(change, part).as_slice() {
        [] => false,
        [only] => is_divided(change, Some(only)),
        _ => true,
    }
}

/// Parts of a change in words.
pub(crate) fn described(change: &GoldenChange, parts: &[Part]) -> String {
    match parts {
        [part] => one(change, part),
        _ => {
            let turns = parts.iter().filter(|part| matches!(part, Part::Turn(_))).count();
            let few = parts.iter().filter(|part| !matches!(part, Part::Turn(_) | Part::Argument(..)));
            let few: Vec<String> = few.map(|part| one(change, part)).collect();
            match few.as_slice() {
                [only] if turns <= 1 => only.clone(),
                _ => "all that changed".to_owned(),
            }
        }
    }
}

fn one(change: &GoldenChange, part: &Part) -> String {
    match part {
        Part::Turn(turn) => format!("turn {}", turn + 1),
        Part::Answer(turn) => format!("the answer of turn {}", turn + 1),
        Part::State => "the state at the end".to_owned(),
        Part::Call(turn, line) => {
            let golden: Vec<_> = change.golden.conversation[*turn].tool_calls().collect();
            let run: Vec<_> = change.run.conversation[*turn].tool_calls().collect();
            match change.lines[*turn][*line] {
                CallLine::Extra(at) => format!("the call {}", one_line(&run[at].to_string())),
                CallLine::Missing(at) => format!("that {} is not called", one_line(&golden[at].to_string())),
                CallLine::Changed(_, at) => format!("the arguments of {}", one_line(&run[at].to_string())),
                CallLine::Kept(at) => one_line(&golden[at].to_string()),
            }
        }
        Part::Argument(turn, line, key) => {
            let golden: Vec<_> = change.golden.conversation[*turn].tool_calls().collect();
            let run: Vec<_> = change.run.conversation[*turn].tool_calls().collect();
            let CallLine::Changed(of, at) = change.lines[*turn][*line] else {
                return format!("`{}`", one_line(key));
            };
            let new = arguments(golden[of], run[at]).into_iter().find(|(it, ..)| it == key);
            match new.and_then(|(.., new)| new) {
                Some(value) => format!("`{}: {}`", one_line(key), one_line(&value.to_string())),
                None => format!("no `{}`", one_line(key)),
            }
        }
    }
}
