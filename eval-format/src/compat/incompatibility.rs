//! One reason why a config and a set cannot be used together.

use std::fmt;
use std::ops::Range;

use crate::config::CaseCriteriaError;
use crate::model::EvalCase;
use crate::problem::{JsonPath, Problem, ProblemCode, short, shown};
use crate::reader::{CaseSpan, CheckedSet, SCENARIO_KEYS};
use crate::syntax::{self, Node};
use crate::tools::call_places;

/// A reason why a config and a set cannot be used together, though each of them is valid.
///
/// ```
/// use eval_format::{Criterion, EvalCase, EvalConfig, TurnAggregation, Invocation};
/// use eval_format::compat::check_compatibility;
///
/// let config = EvalConfig::default().with("rubric_based_tool_use_quality_v1", Criterion::new(1.0));
/// let cases = [EvalCase::new("refund").turn(Invocation::user("I want my money back."))];
/// let incompatibilities = check_compatibility(&config, &[], TurnAggregation::Mean, &cases);
/// assert!(incompatibilities[0].to_string().starts_with("case `refund`: `rubric_based_tool_use_quality_v1` has no rubrics"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Incompatibility {
    /// The position of the case; `None` if it is about the set as a whole.
    pub case: Option<usize>,
    /// The id of the case.
    pub eval_id: Option<String>,
    /// The kind of the problem.
    pub code: ProblemCode,
    /// The problem in words.
    pub message: String,
    /// The remedy.
    pub help: String,
    /// The part of the case that it is about.
    pub(super) part: Part,
}

/// The part of a case that an incompatibility is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Part {
    #[default]
    Case,
    Rubric(RubricPlace),
    Call(CallPlace),
    /// The last of these keys of the case.
    Keys(Vec<String>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RubricPlace {
    /// The turn; `None` for a rubric of the case.
    pub(super) turn: Option<usize>,
    /// The position among the rubrics of the turn or case.
    pub(super) at: usize,
}

impl Incompatibility {
    pub(super) fn of_case(
        at: usize,
        case: &EvalCase,
        code: ProblemCode,
        message: String,
        help: String,
    ) -> Self {
        Self { case: Some(at), eval_id: Some(case.eval_id.clone()), code, message, help, part: Part::Case }
    }

    /// A mistake in the criteria of a case.
    pub(super) fn of_criteria(at: usize, case: &EvalCase, error: CaseCriteriaError) -> Self {
        let mut keys = vec![EvalCase::CRITERIA_KEY.to_owned()];
        keys.extend(error.metric);
        let message = format!("`_criteria`: {}", error.message);
        Self::of_case(at, case, ProblemCode::CaseCriteria, message, error.help).at(Part::Keys(keys))
    }

    /// This mistake at a part of the case.
    pub(super) fn at(self, part: Part) -> Self {
        Self { part, ..self }
    }

    /// This mistake at the last of these keys of the case.
    pub(super) fn at_keys(self, keys: &[&str]) -> Self {
        self.at(Part::Keys(keys.iter().map(|key| (*key).to_owned()).collect()))
    }

    /// The incompatibility as a problem of the set's file: at the scenario, the rubric or the id of the case,
    /// or at the beginning of the file.
    ///
    /// ```
    /// use eval_format::{EvalConfig, TurnAggregation};
    /// use eval_format::compat::check_compatibility;
    /// use eval_format::reader::check_set;
    ///
    /// let set = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "trip",
    ///     "conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "Book a hotel."}}]}"#;
    /// let checked = check_set("s.evalset.json", set.as_bytes(), None);
    /// let cases = &checked.set.as_ref().unwrap().eval_cases;
    /// let problem = check_compatibility(&EvalConfig::adk_default(), &[], TurnAggregation::Mean, cases)[0].problem(&checked);
    /// assert_eq!(&set[problem.range], "\"conversation_scenario\"");
    /// ```
    pub fn problem(&self, set: &CheckedSet) -> Problem {
        let mut which = String::new();
        let case = self.place_in(set).and_then(|at| Some((set.path_of(at), set.cases.get(at)?)));
        let (path, range, label) = match case {
            None => (JsonPath::default(), 0..1, ""),
            Some((path, case)) => match self.part(set, case, &path) {
                Some(part) => {
                    which = format!("case `{}`: ", shown(&case.eval_id));
                    part
                }
                None => (path, case.id_range.clone(), self.label()),
            },
        };
        let message = format!("{which}{}", self.message);
        // A warning is enough if no agent can pass the case: its test fails, as in ADK, and says why.
        let is_warning = matches!(self.code, ProblemCode::CannotPass | ProblemCode::NeedlessRule);
        let problem = if is_warning { Problem::warning } else { Problem::error };
        problem(self.code, path, range, message).label(label).help(self.help.as_str())
    }

    /// The position of the case in its file. It has another one among the cases that were selected.
    fn place_in(&self, set: &CheckedSet) -> Option<usize> {
        let at = self.case?;
        let Some(id) = &self.eval_id else { return Some(at) };
        let is_it = |case: &CaseSpan| case.eval_id == *id;
        if set.cases.get(at).is_some_and(is_it) { Some(at) } else { set.cases.iter().position(is_it) }
    }

    /// The key, the rubric or the scenario that it is about: its path, its range, and the note there.
    fn part(
        &self,
        set: &CheckedSet,
        case: &CaseSpan,
        path: &JsonPath,
    ) -> Option<(JsonPath, Range<usize>, &'static str)> {
        match &self.part {
            Part::Case => {}
            Part::Keys(keys) => {
                if let Some((path, range)) = key(keys, set, &case.range, path) {
                    return Some((path, range, self.label()));
                }
            }
            Part::Rubric(rubric) => {
                if let Some((path, range)) = rubric.find(set, &case.range, path) {
                    return Some((path, range, "ADK leaves it out without a word"));
                }
            }
            Part::Call(call) => {
                let (path, range) = call.find(set, &case.range, path)?;
                return Some((path, range, "no response belongs to this call"));
            }
        }
        if self.code != ProblemCode::NothingChecked {
            return None;
        }
        let (key, range) = set.key_in(case, &SCENARIO_KEYS)?;
        Some((path.key(&key), range, "a scenario has no expected turns"))
    }

    fn label(&self) -> &'static str {
        match self.code {
            ProblemCode::UnreadRule => "nothing reads this rule",
            ProblemCode::NeedlessRule => "loosens nothing",
            ProblemCode::CaseCriteria => "cannot be laid over the config",
            ProblemCode::NothingChecked => "nothing that an agent does can fail this case",
            ProblemCode::CannotPass => "by these criteria no answer passes this case",
            ProblemCode::ToolFault => "faults of tools",
            ProblemCode::UnansweredCall => "golden tools cannot answer this case",
            _ => "this case cannot be scored",
        }
    }
}

/// The place of an expected call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallPlace {
    pub(super) turn: usize,
    /// The position among the calls of the turn.
    pub(super) call: usize,
}

impl CallPlace {
    fn find(
        self,
        set: &CheckedSet,
        case: &Range<usize>,
        path: &JsonPath,
    ) -> Option<(JsonPath, Range<usize>)> {
        find_in(set, case, path, Some(self.turn), |turn, path| {
            let (_, range) = call_places(turn).into_iter().nth(self.call)?;
            Some((path, range))
        })
    }
}

impl RubricPlace {
    fn find(
        self,
        set: &CheckedSet,
        case: &Range<usize>,
        path: &JsonPath,
    ) -> Option<(JsonPath, Range<usize>)> {
        find_in(set, case, path, self.turn, |holder, path| {
            let start = holder.get("rubrics")?.value.array()?.get(self.at)?.range.start;
            Some((path.key("rubrics").index(self.at), start..start + 1))
        })
    }
}

/// Finds a place in the text of a case, or of one of its turns. The range is one of the whole text.
fn find_in(
    set: &CheckedSet,
    case: &Range<usize>,
    path: &JsonPath,
    turn: Option<usize>,
    find: impl FnOnce(&Node<'_>, JsonPath) -> Option<(JsonPath, Range<usize>)>,
) -> Option<(JsonPath, Range<usize>)> {
    let root = syntax::parse(set.text.get(case.clone())?, &mut Vec::new()).ok()?;
    let (path, range) = match turn {
        None => find(&root, path.clone()),
        Some(turn) => {
            let node = root.get("conversation")?.value.array()?.get(turn)?;
            find(node, path.key("conversation").index(turn))
        }
    }?;
    Some((path, case.start + range.start..case.start + range.end))
}

impl fmt::Display for Incompatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(id) = &self.eval_id {
            write!(f, "case `{}`: ", shown(id))?;
        }
        write!(f, "{}; {}", self.message, self.help)
    }
}

/// The last of these keys of a case: its path and its range.
fn key(
    keys: &[String],
    set: &CheckedSet,
    case: &Range<usize>,
    path: &JsonPath,
) -> Option<(JsonPath, Range<usize>)> {
    let root = syntax::parse(set.text.get(case.clone())?, &mut Vec::new()).ok()?;
    let (mut node, mut path, mut range) = (&root, path.clone(), None);
    for key in keys {
        let entry = node.get(key)?;
        (node, range) = (&entry.value, Some(entry.key_range.clone()));
        path = path.key(&short(key));
    }
    range.map(|range| (path, case.start + range.start..case.start + range.end))
}
