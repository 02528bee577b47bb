//! Rubrics that stand partly in a config and partly in a set.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::config::EvalConfig;
use crate::metric::metric;
use crate::model::{EvalCase, Invocation, Rubric};
use crate::problem::{Code, JsonPath, Problem, shown};
use crate::reader::CasePlace;
use crate::suggest::suggest;

use super::TRAJECTORY;

/// What keeps a config and a set from being used together, though each of them is sound.
///
/// ```
/// use eval_format::{Criterion, EvalCase, EvalConfig, Invocation, check_together};
///
/// let config = EvalConfig::default().with("rubric_based_tool_use_quality_v1", Criterion::new(1.0));
/// let cases = [EvalCase::new("refund").turn(Invocation::user("I want my money back."))];
/// let misfits = check_together(&config, &[], &cases);
/// assert!(misfits[0].to_string().starts_with("case `refund`: `rubric_based_tool_use_quality_v1` has no rubrics"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misfit {
    /// The case, by its position; absent where it is about the set as a whole.
    pub case: Option<usize>,
    /// The id of the case.
    pub eval_id: Option<String>,
    /// The metric.
    pub metric: String,
    /// What kind of problem it is.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Misfit {
    /// As a problem of the set's file: at the id of the case, or at the beginning.
    pub fn problem(&self, places: &[CasePlace]) -> Problem {
        let place = self.case.and_then(|at| Some((at, places.get(at)?)));
        let (path, range) = match place {
            Some((at, place)) => (JsonPath::default().key("eval_cases").index(at), place.id_range.clone()),
            None => (JsonPath::default(), 0..1),
        };
        let label = if place.is_some() { "this case cannot be scored" } else { "" };
        Problem::error(self.code, path, range, self.message.as_str()).label(label).help(self.help.as_str())
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(id) = &self.eval_id {
            write!(f, "case `{}`: ", shown(id))?;
        }
        write!(f, "{}; {}", self.message, self.help)
    }
}

/// Holds cases against the criteria that they will be scored with.
///
/// `answered` names the custom metrics that exist in Rust; such a name is not a built-in metric.
pub fn check_together(config: &EvalConfig, answered: &[&str], cases: &[EvalCase]) -> Vec<Misfit> {
    let mut misfits = Vec::new();
    for (name, criterion) in &config.criteria {
        let own = answered.contains(&name.as_str()) || config.custom_metrics.contains_key(name);
        let kind = metric(name).filter(|_| !own).and_then(crate::MetricInfo::rubric_type);
        if let Some(kind) = kind {
            let general = criterion.rubrics();
            let together = Together {
                metric: name,
                kind,
                general: general.iter().map(|rubric| rubric.rubric_id.as_str()).collect(),
                weights: criterion.weights().collect(),
            };
            together.check(cases, &mut misfits);
        }
    }
    misfits
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
    fn check(&self, cases: &'a [EvalCase], misfits: &mut Vec<Misfit>) {
        let mut known = self.general.clone();
        for (at, case) in cases.iter().enumerate() {
            let lists = [&case.rubrics].into_iter().chain(self.turns(case).iter().map(|turn| &turn.rubrics));
            known.extend(lists.flat_map(|rubrics| self.mine(rubrics.as_ref())));
            if let Some((code, message, help)) = self.case(case) {
                misfits.push(Misfit {
                    case: Some(at),
                    eval_id: Some(case.eval_id.clone()),
                    metric: self.metric.to_owned(),
                    code,
                    message,
                    help,
                });
            }
        }
        misfits.extend(self.unknown_weight(&known));
    }

    /// The turns whose rubrics are read.
    fn turns<'c>(&self, case: &'c EvalCase) -> &'c [Invocation] {
        match case.conversation.as_slice() {
            [.., last] if self.kind == TRAJECTORY => std::slice::from_ref(last),
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
    fn unknown_weight(&self, known: &HashSet<&str>) -> Option<Misfit> {
        let unknown = self.weights.keys().filter(|id| !known.contains(*id)).min()?;
        let help = match suggest(unknown, known.iter().copied()) {
            Some(known) => format!("did you mean `{}`?", shown(known)),
            None => "remove it, or add the rubric".to_owned(),
        };
        Some(Misfit {
            case: None,
            eval_id: None,
            metric: self.metric.to_owned(),
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
