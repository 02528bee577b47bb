//! Checks of rubrics that need both the config and the set. They also find rubrics of cases and turns that no
//! metric of the config reads because of a mistake.
//!
//! ADK leaves such rubrics out silently, or asks the judge about nothing. Rubrics of a type that no metric of
//! the config reads do no harm, and [`NotCompared`](super::NotCompared) counts them.

use std::collections::HashSet;

use eval_support::spelling::suggest;

use super::incompatibility::{Incompatibility, Part, RubricPlace};
use crate::config::{Criterion, EvalConfig};
use crate::metric::{MetricInfo, TRAJECTORY_QUALITY, metric, rubric_types};
use crate::model::{EvalCase, Invocation, Rubric};
use crate::problem::{ProblemCode, shown};

/// Finds metrics that have no rubrics in a case, or two rubrics with the same id. Also finds weights of
/// unknown rubrics, and rubrics that are not read because of a mistake. Custom metrics are not checked.
pub(super) fn check(
    config: &EvalConfig,
    answered: &[&str],
    cases: &[EvalCase],
    incompatibilities: &mut Vec<Incompatibility>,
) {
    let mut kinds = Vec::new();
    for (name, criterion) in &config.criteria {
        let own = answered.contains(&name.as_str()) || config.custom_metrics.contains_key(name);
        let kind = metric(name).filter(|_| !own).and_then(MetricInfo::rubric_type);
        if let Some(kind) = kind {
            kinds.push(kind);
            let general = criterion.rubrics();
            let weightless = criterion.weights().filter(|(_, weight)| *weight == 0.0);
            let reader = Reader {
                metric: name,
                kind,
                general: general.iter().map(|rubric| rubric.rubric_id.as_str()).collect(),
                weightless: weightless.map(|(id, _)| id).collect(),
            };
            let known = reader.check(cases, incompatibilities);
            incompatibilities.extend(reader.unknown_weight(criterion, &known));
        }
    }
    check_unread(&kinds, cases, incompatibilities);
}

struct Reader<'a> {
    metric: &'a str,
    kind: &'a str,
    /// The ids of the criterion's own rubrics, which are judged in every turn.
    general: HashSet<&'a str>,
    /// The ids of the rubrics with the weight 0.
    weightless: HashSet<&'a str>,
}

type Finding = (ProblemCode, String, String);

impl<'a> Reader<'a> {
    /// Checks the cases, and returns the ids of all rubrics that the metric reads.
    fn check(&self, cases: &'a [EvalCase], incompatibilities: &mut Vec<Incompatibility>) -> HashSet<&'a str> {
        let mut known = self.general.clone();
        for (at, case) in cases.iter().enumerate() {
            known.extend(self.mine(case.rubrics.as_ref()));
            for turn in self.turns(case) {
                known.extend(self.mine(turn.rubrics.as_ref()));
            }
            if let Some((code, message, help)) = self.case(case) {
                incompatibilities.push(Incompatibility::of_case(at, case, code, message, help));
            }
        }
        known
    }

    fn turns<'c>(&self, case: &'c EvalCase) -> &'c [Invocation] {
        match case.conversation.as_slice() {
            [.., last] if self.kind == TRAJECTORY_QUALITY => std::slice::from_ref(last),
            turns => turns,
        }
    }

    fn mine<'c>(&self, rubrics: Option<&'c Vec<Rubric>>) -> Vec<&'c str> {
        let mine = rubrics.into_iter().flatten().filter(|rubric| rubric.kind.as_deref() == Some(self.kind));
        mine.map(|rubric| rubric.rubric_id.as_str()).collect()
    }

    fn case(&self, case: &EvalCase) -> Option<Finding> {
        let of_case = self.mine(case.rubrics.as_ref());
        if let Some(id) = of_case.iter().find(|id| self.general.contains(*id)) {
            return Some(self.duplicate(id, ""));
        }
        let some = !self.general.is_empty() || !of_case.is_empty();
        let counts = self.any_counts(&of_case) || self.general.iter().any(|id| !self.weightless.contains(id));
        let turns = self.turns(case);
        if turns.is_empty() {
            return self.nothing(some, counts, "");
        }
        for (at, turn) in turns.iter().enumerate() {
            let own = self.mine(turn.rubrics.as_ref());
            let which = if turns.len() > 1 { format!(" in turn {}", at + 1) } else { String::new() };
            if let Some(id) = own.iter().find(|id| self.general.contains(*id)) {
                return Some(self.duplicate(id, &which));
            }
            let found = self.nothing(some || !own.is_empty(), counts || self.any_counts(&own), &which);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn any_counts(&self, ids: &[&str]) -> bool {
        ids.iter().any(|id| !self.weightless.contains(id))
    }

    fn duplicate(&self, id: &str, turn: &str) -> Finding {
        (
            ProblemCode::DuplicateRubricId,
            format!(
                "the rubric `{}`{turn} has the id of a rubric of the criterion of `{}`",
                shown(id),
                self.metric
            ),
            "rename one of them; verdicts are told apart by the id".to_owned(),
        )
    }

    fn nothing(&self, some: bool, counts: bool, turn: &str) -> Option<Finding> {
        let (metric, kind) = (self.metric, self.kind);
        let (message, help) = match (some, counts) {
            (false, _) => (
                format!("`{metric}` has no rubrics to judge by{turn}"),
                format!(
                    "add `rubrics` to its criterion, or rubrics with `\"type\": \"{kind}\"` to the case or its turns"
                ),
            ),
            (true, false) => (
                format!("every rubric of `{metric}`{turn} has the weight 0, so nothing would be scored"),
                "give one of them a weight above 0 in `weights`".to_owned(),
            ),
            (true, true) => return None,
        };
        Some((ProblemCode::NoRubrics, message, help))
    }

    /// A weight for a rubric that neither the criterion nor any case has.
    fn unknown_weight(&self, criterion: &Criterion, known: &HashSet<&str>) -> Option<Incompatibility> {
        let weighted = criterion.weights().map(|(id, _)| id);
        let unknown = weighted.filter(|id| !known.contains(id)).min()?;
        let help = match suggest(unknown, known.iter().copied()) {
            Some(known) => format!("did you mean `{}`?", shown(known)),
            None => "remove it, or add the rubric".to_owned(),
        };
        Some(Incompatibility {
            case: None,
            eval_id: None,
            code: ProblemCode::UnknownRubric,
            message: format!(
                "`weights` of `{}` names a rubric `{}` that does not exist",
                self.metric,
                shown(unknown)
            ),
            help,
            part: Part::Case,
        })
    }
}

/// Finds rubrics that metrics for these types do not read because of a mistake.
fn check_unread(kinds: &[&str], cases: &[EvalCase], incompatibilities: &mut Vec<Incompatibility>) {
    if kinds.is_empty() {
        return;
    }
    for (at, case) in cases.iter().enumerate() {
        let turns = case.conversation.iter().enumerate();
        let last = case.conversation.len().saturating_sub(1);
        let of_turns = turns.map(|(turn, it)| (Some(turn), turn == last, it.rubrics.as_deref()));
        for (turn, last, rubrics) in [(None, true, case.rubrics.as_deref())].into_iter().chain(of_turns) {
            for (position, rubric) in rubrics.unwrap_or_default().iter().enumerate() {
                let Some((message, help)) = unread(rubric, last, kinds) else { continue };
                let found = Incompatibility::of_case(at, case, ProblemCode::UnreadRubric, message, help);
                incompatibilities.push(found.at(Part::Rubric(RubricPlace { turn, at: position })));
            }
        }
    }
}

/// The mistake because of which no metric for these types reads a rubric, and its remedy.
fn unread(rubric: &Rubric, last: bool, kinds: &[&str]) -> Option<(String, String)> {
    let id = shown(&rubric.rubric_id);
    let Some(kind) = rubric.kind.as_deref() else {
        let types: Vec<String> = kinds.iter().map(|kind| format!("`\"type\": \"{kind}\"`")).collect();
        return Some((format!("the rubric `{id}` has no `type`"), format!("add {}", types.join(" or "))));
    };
    if !kinds.contains(&kind) {
        // Compared with all types, so that the type of another metric does not look like a misspelling.
        let meant = suggest(kind, rubric_types().map(|(known, _)| known))?;
        let is_known = rubric_types().any(|(known, _)| known == kind);
        return (!is_known && kinds.contains(&meant)).then(|| {
            let message = format!("the rubric `{id}` has the type `{}`, which does not exist", shown(kind));
            (message, format!("did you mean `{meant}`?"))
        });
    }
    if kind == TRAJECTORY_QUALITY && !last {
        let message = format!("the rubric `{id}` is about the whole conversation and is in an earlier turn");
        let help = "move it to the `rubrics` of the case; ADK reads only the rubrics of the last turn";
        return Some((message, help.to_owned()));
    }
    let says_something = rubric.text_property.as_deref().is_some_and(|text| !text.trim().is_empty());
    (!says_something).then(|| {
        let help = r#"write `"rubric_content": {"text_property": "The answer names a price."}`"#;
        (format!("the rubric `{id}` says nothing"), help.to_owned())
    })
}
