//! The model of an open case. Texts are plain, as in the [`model`](super::model) of the page.

use serde::Serialize;

use super::comparison::Block;
use super::earlier_runs::{CaseHistory, CaseSince};
use super::keys::Keys;
use super::media::Media;
use super::{Text, is_zero};

/// The details of a case. They are embedded as JSON; the script shows them when the case is opened.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CaseDetails {
    pub name: String,
    /// The class of its state: `failed`.
    pub state: &'static str,
    pub word: &'static str,
    pub reason: Option<String>,
    /// The part of a case in progress that is in work; `None` if the case or its run has ended.
    pub in_work: Option<InWork>,
    /// The differences in a few words, as in the row of the case.
    pub differs: Option<String>,
    /// The place in its file: `evals/weather.evalset.json:12`.
    pub place: Option<String>,
    pub facts: Vec<(&'static str, String)>,
    pub next: Option<Next>,
    /// A doubt about the comparison: the case was edited, or its file is not here.
    pub doubt: Option<String>,
    pub notes: Vec<String>,
    pub metrics: Vec<MetricLine>,
    pub earlier: Vec<Earlier>,
    /// The case beside its line of the baseline; `None` without one.
    pub since: Option<CaseSince>,
    /// Its results in the runs before.
    pub history: CaseHistory,
    pub runs: Vec<Run>,
    pub printed: Option<Text>,
}

impl CaseDetails {
    /// Marks the runs whose error is in the line that the case begins with. A case in work does not begin with it.
    pub fn mark_told(&mut self) {
        let lead = self.differs.as_deref().or(self.reason.as_deref()).filter(|_| self.in_work.is_none());
        for run in &mut self.runs {
            run.headline_has_error |=
                run.error.as_ref().zip(lead).is_some_and(|(error, lead)| lead.contains(&error.shown));
        }
    }
}

/// The part of a case that is in work.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InWork {
    /// `run 2 of 3: turn 1 of 2`.
    pub what: String,
    /// Its start: `2026-11-22T02:31:07.250Z`. The script of a server's page says how long ago that is.
    pub began: Option<String>,
    /// The same as people read it: `2026-11-22 02:31:07 UTC`.
    pub shown: Option<String>,
}

/// The things to do about a case, by the causes of its verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Next {
    /// One; two if runs failed and others have no verdict.
    pub steps: Vec<NextStep>,
    /// The remedy for all cases with the cause of this one; `None` if it is alone.
    pub group: Option<NextOfGroup>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextStep {
    /// The runs that it is about, if there are other steps: `run 2 of 3 failed`.
    pub about: Option<String>,
    pub why: String,
    pub commands: Vec<Command>,
}

#[derive(Clone, Debug, Serialize)]
pub struct NextOfGroup {
    pub cases: usize,
    pub why: String,
    pub commands: Vec<Command>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Command {
    /// `Run it again`.
    pub does: String,
    pub command: String,
    /// Whether it records what the judge answers.
    #[serde(skip)]
    pub records: bool,
}

impl Command {
    pub(crate) fn new(does: impl Into<String>, command: String) -> Self {
        Self { does: does.into(), command, records: false }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct MetricLine {
    pub name: String,
    pub state: &'static str,
    pub score: Option<String>,
    pub threshold: Option<String>,
    /// `2 of 3 turns`; `None` if none was played.
    pub scored: Option<String>,
    pub reason: Option<String>,
    pub criterion: Vec<(String, String)>,
    pub notes: Vec<String>,
    /// An explanation for people who do not know the metric.
    pub about: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Earlier {
    pub attempt: u32,
    pub state: &'static str,
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Run {
    pub number: usize,
    pub state: &'static str,
    pub error: Option<Text>,
    /// Whether the line that the case begins with says the error of this run.
    pub headline_has_error: bool,
    pub tokens: Option<String>,
    pub scores: Vec<RunScore>,
    /// The differences in its turns and in the session state.
    pub differences: usize,
    pub turns: Vec<Turn>,
    pub state_rows: Vec<StateRow>,
    pub judges: Vec<Judge>,
}

impl Run {
    /// A conversation that has no verdict, as a draft has none.
    pub fn of_turns(turns: Vec<Turn>) -> Self {
        Self { number: 1, state: "draft", turns, ..Self::default() }.counted()
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct RunScore {
    pub metric: String,
    pub state: &'static str,
    pub score: Option<String>,
    pub threshold: Option<String>,
    pub reason: Option<String>,
    /// The remarks on a score of the run as a whole.
    pub whole: Option<TurnScore>,
}

#[derive(Clone, Debug, Default, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, which the script shows")]
pub struct Turn {
    /// `false` if the run ended before it.
    pub played: bool,
    pub user: Text,
    pub user_media: Vec<Media>,
    /// The comparison of the calls, in words; `None` if no turn was expected.
    pub compared: Option<String>,
    pub calls: Vec<Call>,
    /// Texts of agents before the answer, if no steps tell them.
    pub between: Vec<Text>,
    pub expected: Option<Text>,
    pub actual: Option<Text>,
    pub expected_media: Vec<Media>,
    pub actual_media: Vec<Media>,
    /// Whether the answer is the expected one, with all its parts.
    pub same: bool,
    /// Whether images or other parts beside the text differ.
    pub other_parts: bool,
    /// Whether the texts differ only in what is masked or cut here.
    pub hidden: bool,
    /// The comparison of both answers, if they differ.
    pub diff: Vec<Block>,
    /// Whether a score of the turn failed or is missing.
    pub bad: bool,
    /// Whether an error ended the run in it.
    pub broke: bool,
    /// Whether a call, the answer or a score of the turn is not as it should be.
    pub differs: bool,
    /// The differences in its calls and in its answer.
    #[serde(skip_serializing_if = "is_zero")]
    pub differences: usize,
    /// Those in the text of the answer.
    #[serde(skip_serializing_if = "is_zero")]
    pub in_answer: usize,
    pub scores: Vec<TurnScore>,
    /// `1.2 s in all, 0.9 s in the model`.
    pub took: Option<String>,
    pub steps: Vec<Step>,
    pub more_steps: usize,
}

/// A call beside the expected ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// Nothing is expected of it.
    #[default]
    Made,
    Same,
    Changed,
    Moved,
    Missing,
    Extra,
    /// The run ended before it.
    Unreached,
    /// The time of its run was up before a response.
    Unanswered,
    /// Other arguments, which a rule of the case allows.
    Loosened,
    /// Not made, which a rule of the case allows.
    LeftOut,
    /// Not expected, and allowed by a rule of the case.
    Other,
}

impl CallState {
    /// Whether the agent did not do what was expected.
    pub fn differs(self) -> bool {
        matches!(self, Self::Changed | Self::Moved | Self::Missing | Self::Extra)
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Call {
    pub is: CallState,
    pub expected: Option<String>,
    pub actual: Option<String>,
    pub result: Option<String>,
    /// The images in the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub result_media: Vec<Media>,
    /// The name of the tool.
    pub name: String,
    /// The arguments of a call that changed.
    pub keys: Option<Keys>,
    #[serde(skip_serializing_if = "is_zero")]
    pub differences: usize,
    /// A remark: `expected as call 2, made as call 3`, `` `day` matches <date> ``.
    pub note: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct TurnScore {
    pub metric: String,
    pub state: &'static str,
    pub score: Option<String>,
    pub threshold: Option<String>,
    pub reason: Option<String>,
    pub notes: Vec<Text>,
    pub rubrics: Vec<JudgedRubric>,
}

#[derive(Clone, Debug, Serialize)]
pub struct JudgedRubric {
    /// The turn, from 1, on the card of a judge that looked at several.
    pub turn: Option<usize>,
    pub id: String,
    pub score: Option<f64>,
    pub text: Option<Text>,
    pub rationale: Option<Text>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// Seconds since the turn began.
    pub at: f64,
    /// The time at which work on the event began, and who worked: `model`, `tool`.
    pub from: f64,
    pub by: &'static str,
    pub author: String,
    pub what: &'static str,
    pub text: String,
    pub tokens: Option<String>,
    pub model: Option<String>,
}

/// A key of the session state that changed, or that has an expected value.
#[derive(Clone, Debug, Serialize)]
pub struct StateRow {
    pub key: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub expected: Option<String>,
    pub differs: bool,
}

/// A model that a metric asked, with the verdict that came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Judge {
    /// The metric, or `playing the user`.
    pub purpose: String,
    pub model: String,
    /// `3 questions, 1 from the recording, 1 without an answer`.
    pub asked: String,
    /// The class of the metric's verdict; `None` for a simulated user.
    pub state: Option<&'static str>,
    pub score: Option<String>,
    pub threshold: Option<String>,
    /// The reason of the verdict in a line.
    pub reason: Option<String>,
    pub rubrics: Vec<JudgedRubric>,
    pub questions: Vec<Question>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Question {
    pub template: Option<String>,
    pub prompt: Text,
    pub answers: Vec<Text>,
    /// A vote for each answer.
    pub votes: Vec<Vote>,
    /// `2 of 3 say invalid`.
    pub tally: Option<String>,
}

/// A judge's answer in short.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Vote {
    pub verdict: Option<String>,
    pub reason: Option<String>,
}
