//! Rubrics that stand partly in a config and partly in a set.

use std::collections::{HashMap, HashSet};

use super::incompatibility::Incompatibility;
use crate::config::EvalConfig;
use crate::metric::{MetricInfo, TRAJECTORY_QUALITY, metric};
use crate::model::{EvalCase, Invocation, Rubric};
use crate::problem::{Code, shown};
use crate::suggest::suggest;

/// Finds the metrics of a config that have no rubrics in a case, or two of one id; `answered` names the custom metrics,
/// which read what they like.
pub(super) fn check(
    config: &EvalConfig,
    answered: &[&str],
    cases: &[EvalCase],
    incompatibilities: &mut Vec<Incompatibility>,
) {
    for (name, criterion) in &config.criteria {
        let own = answered.contains(&name.as_str()) || config.custom_metrics.contains_key(name);
        let kind = metric(name).filter(|_| !own).and_then(MetricInfo::rubric_type);
        if let Some(kind) = kind {
            let general = criterion.rubrics();
            let together = Together {
                metric: name,
                kind,
                general: general.iter().map(|rubric| rubric.rubric_id.as_str()).collect(),
                weights: criterion.weights().collect(),
            };
            together.check(cases, incompatibilities);
        }
    }
}

/// One metric that reads rubrics.
struct Together<'a> {
    metric: &'a str,
    kind: &'a str,
    /// The ids of the criterion's own rubrics, which are judged in every turn.
    general: HashSet<&'a str>,
    weights: HashMap<&'a str, f64>,
}

/// What is wrong with a case, and what to do about it.
type Finding = (Code, String, String);

impl<'a> Together<'a> {
    fn check(&self, cases: &'a [EvalCase], incompatibilities: &mut Vec<Incompatibility>) {
        let mut known = self.general.clone();
        for (at, case) in cases.iter().enumerate() {
            let lists = [&case.rubrics].into_iter().chain(self.turns(case).iter().map(|turn| &turn.rubrics));
            known.extend(lists.flat_map(|rubrics| self.mine(rubrics.as_ref())));
            if let Some((code, message, help)) = self.case(case) {
                incompatibilities.push(Incompatibility::of_case(at, case, code, message, help));
            }
        }
        incompatibilities.extend(self.unknown_weight(&known));
    }

    /// The turns whose rubrics are read.
    fn turns<'c>(&self, case: &'c EvalCase) -> &'c [Invocation] {
        match case.conversation.as_slice() {
            [.., last] if self.kind == TRAJECTORY_QUALITY => std::slice::from_ref(last),
            turns => turns,
        }
    }

    /// The ids of those rubrics that are of this metric's type.
    fn mine<'c>(&self, rubrics: Option<&'c Vec<Rubric>>) -> impl Iterator<Item = &'c str> {
        rubrics
            .into_iter()
            .flatten()
            .filter(|rubric| rubric.kind.as_deref() == Some(self.kind))
            .map(|rubric| rubric.rubric_id.as_str())
    }

    fn case(&self, case: &EvalCase) -> Option<Finding> {
        let of_case = || self.mine(case.rubrics.as_ref());
        let twice = of_case().find(|id| self.general.contains(id));
        if let Some(id) = twice {
            return Some(self.duplicate(id, ""));
        }
        let some = !self.general.is_empty() || of_case().next().is_some();
        let counts = of_case().chain(self.general.iter().copied()).any(|id| self.counts(id));
        let turns = self.turns(case);
        if turns.is_empty() {
            return self.nothing(some, counts, "");
        }
        turns.iter().enumerate().find_map(|(at, turn)| {
            let own = || self.mine(turn.rubrics.as_ref());
            let which = if turns.len() > 1 { format!(" in turn {}", at + 1) } else { String::new() };
            if let Some(id) = own().find(|id| self.general.contains(id)) {
                return Some(self.duplicate(id, &which));
            }
            self.nothing(some || own().next().is_some(), counts || own().any(|id| self.counts(id)), &which)
        })
    }

    fn counts(&self, id: &str) -> bool {
        self.weights.get(id) != Some(&0.0)
    }

    fn duplicate(&self, id: &str, turn: &str) -> Finding {
        (
            Code::DuplicateRubricId,
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
        Some((Code::NoRubrics, message, help))
    }

    /// A weight for a rubric that neither the criterion nor any case has.
    fn unknown_weight(&self, known: &HashSet<&str>) -> Option<Incompatibility> {
        let unknown = self.weights.keys().filter(|id| !known.contains(*id)).min()?;
        let help = match suggest(unknown, known.iter().copied()) {
            Some(known) => format!("did you mean `{}`?", shown(known)),
            None => "remove it, or add the rubric".to_owned(),
        };
        Some(Incompatibility {
            case: None,
            eval_id: None,
            code: Code::UnknownRubric,
            message: format!(
                "`weights` of `{}` names a rubric `{}` that does not exist",
                self.metric,
                shown(unknown)
            ),
            help,
        })
    }
}
