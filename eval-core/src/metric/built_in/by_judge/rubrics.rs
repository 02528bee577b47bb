//! Parts shared by the metrics with rubrics: the rubrics that apply, the questions about them, and the scores of
//! verdicts.

mod verdicts;

use std::collections::{HashMap, HashSet};

use eval_format::metric::MetricInfo;
use eval_format::{Invocation, Rubric};
use eval_support::{message, words};

use crate::agent::BoxError;
use crate::judge::{
    JudgeClient, JudgeError, JudgeErrorKind, JudgePrompt, JudgeRequest, majority, rubrics as properties,
};
use crate::metric::{MetricInput, RubricScore, Score, Scores};
use crate::score::mean;
use verdicts::{Known, RubricVerdict, Verdicts};

#[derive(Debug)]
pub(super) struct Question {
    rubrics: Vec<Rubric>,
    prompt: String,
}

impl Question {
    pub(super) fn new(prompt: JudgePrompt<'_>, rubrics: Vec<Rubric>) -> Self {
        Self { prompt: prompt.data("properties", properties(&rubrics)).render(), rubrics }
    }
}

/// The rubrics that apply to a turn: first from the criterion, then from the case and the turn, of the metric's type.
///
/// Fails if there are none, or two with one id, as in ADK.
pub(super) fn effective(
    input: MetricInput<'_>,
    turn: &Invocation,
    metric: &str,
) -> Result<Vec<Rubric>, BoxError> {
    let info = eval_format::metric::metric(metric);
    let kind =
        info.and_then(MetricInfo::rubric_type).ok_or_else(|| format!("`{metric}` reads no rubrics"))?;
    let of_turn = turn.rubrics.iter().flatten().filter(|rubric| rubric.kind.as_deref() == Some(kind));
    let rubrics: Vec<Rubric> = input.criterion.rubrics().into_iter().chain(of_turn.cloned()).collect();
    let mut seen = HashSet::new();
    if let Some(twice) = rubrics.iter().find(|rubric| !seen.insert(rubric.rubric_id.as_str())) {
        return Err(format!("two rubrics have the id `{}`; rename one of them", twice.rubric_id).into());
    }
    if rubrics.is_empty() {
        let message = format!(
            "there are no rubrics; add `rubrics` to the criterion, or rubrics of type `{kind}` to the case or the turn"
        );
        return Err(message.into());
    }
    Ok(rubrics)
}

/// Scores each turn by its rubrics. The question about a turn ends with them.
pub(super) async fn judge_turns(
    input: MetricInput<'_>,
    metric: &str,
    template: &str,
    prompt: impl Fn(&Invocation) -> JudgePrompt<'static>,
) -> Result<Scores, BoxError> {
    let mut questions = Vec::with_capacity(input.actual.len());
    for turn in input.actual {
        let rubrics = effective(input, turn, metric)?;
        questions.push(Question::new(prompt(turn), rubrics));
    }
    judge(input, template, questions).await
}

/// Asks each question as often as the criterion says and takes the majority of the samples, rubric by rubric.
///
/// The overall score is the exact mean over all rubrics of all turns, as in ADK. The criterion's `weights`
/// apply to it.
pub(super) async fn judge(
    input: MetricInput<'_>,
    template: &str,
    questions: Vec<Question>,
) -> Result<Scores, BoxError> {
    let judging = input.judging();
    let questions: Vec<(&Question, Known<'_>)> =
        questions.iter().map(|question| (question, Known::new(&question.rubrics))).collect();
    let judging = &judging;
    let samples = judging
        .sample_all(
            template,
            &questions,
            |(question, _)| &question.prompt,
            |(_, known), request| Box::pin(sample(judging, request, known)),
            |(question, _), answered| is_decided(&question.rubrics, answered, judging.samples() as usize),
        )
        .await;

    let weights: HashMap<&str, f64> = input.criterion.weights().collect();
    let mut all = Vec::new();
    let mut scores = Vec::with_capacity(questions.len());
    for (at, ((question, _), samples)) in samples.iter().enumerate() {
        let found = count(&question.rubrics, samples, judging.samples() as usize)
            .map_err(|error| error.in_turn(at, questions.len()))?;
        let weighed = found.iter().filter_map(|found| {
            Some((found.score.score?, weights.get(found.score.rubric_id.as_str()).copied().unwrap_or(1.0)))
        });
        let weighed: Vec<(f64, f64)> = weighed.collect();
        let unread = samples.iter().find_map(|sample| sample.as_ref().ok()?.unread.as_deref());
        scores.push(turn(found, weighed_mean(&weighed), unread));
        all.extend(weighed);
    }
    // Leaving out a turn that was not judged could raise the mean.
    let overall = if scores.iter().any(|score| score.value().is_none()) { None } else { weighed_mean(&all) };
    Ok(scores.into_iter().collect::<Scores>().with_overall(overall))
}

type Sample<'r> = Result<Answer<'r>, JudgeError>;

#[derive(Clone, Debug)]
struct Answer<'r> {
    verdicts: Verdicts<'r>,
    /// The last reply, if a rubric has no verdict.
    unread: Option<String>,
}

/// Asks once, and once more if a rubric has no verdict. Verdicts of the first reply are kept.
async fn sample<'r>(judging: &JudgeClient, request: JudgeRequest, known: &Known<'r>) -> Sample<'r> {
    let mut verdicts = known.read(&judging.ask(&request).await?.text, &request.prompt);
    let missing: Vec<&str> = known.missing(&verdicts).collect();
    if missing.is_empty() {
        return Ok(Answer { verdicts, unread: None });
    }
    let wrong = format!(
        "it has no `ID:`, `Property:`, `Rationale:` and one `Verdict: yes` or `Verdict: no`, each on its line, for the id {}",
        missing.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
    );
    let reply = judging.ask_again(&request, &wrong).await?.text;
    for (id, again) in known.read(&reply, &request.prompt) {
        verdicts.entry(id).or_insert(again);
    }
    let is_whole = known.missing(&verdicts).next().is_none();
    Ok(Answer { verdicts, unread: (!is_whole).then_some(reply) })
}

struct Found {
    score: RubricScore,
    /// A note for reports: the vote, or why there is none.
    note: String,
}

/// Counts the votes on each rubric. Fails if more samples failed than answered, since a vote of the rest would be
/// chance.
fn count(rubrics: &[Rubric], samples: &[Sample<'_>], all: usize) -> Result<Vec<Found>, JudgeError> {
    let answered: Vec<&Answer<'_>> = samples.iter().filter_map(|sample| sample.as_ref().ok()).collect();
    let failed = samples.len() - answered.len();
    if let Some(error) = samples.iter().find_map(|sample| sample.as_ref().err())
        && failed * 2 > all
    {
        return Err(error.clone());
    }
    let votes = |rubric: &Rubric| -> Vec<&RubricVerdict> {
        answered.iter().filter_map(|answer| answer.verdicts.get(rubric.rubric_id.as_str())).collect()
    };
    Ok(rubrics.iter().map(|rubric| vote(rubric, &votes(rubric), all)).collect())
}

/// Whether the remaining samples cannot change the verdict on any rubric.
fn is_decided(rubrics: &[Rubric], answered: &[Sample<'_>], all: usize) -> bool {
    let left = all.saturating_sub(answered.len());
    let outcome = |rest: Sample<'_>| -> Option<Vec<Option<f64>>> {
        let samples: Vec<Sample<'_>> =
            answered.iter().cloned().chain(std::iter::repeat_n(rest, left)).collect();
        let found = count(rubrics, &samples, all).ok()?;
        Some(found.iter().map(|found| found.score.score).collect())
    };
    let unanimous = |passed| -> Sample<'_> {
        let verdict = RubricVerdict { passed, noes: usize::from(!passed), rationale: String::new() };
        let verdicts = rubrics.iter().map(|rubric| (rubric.rubric_id.as_str(), verdict.clone()));
        Ok(Answer { verdicts: verdicts.collect(), unread: None })
    };
    let silent = Ok(Answer { verdicts: Verdicts::new(), unread: None });
    let first = outcome(Err(JudgeError::new(JudgeErrorKind::Failed, "")));
    [unanimous(true), unanimous(false), silent].into_iter().all(|rest| outcome(rest) == first)
}

/// Takes the majority on one rubric. The rationale comes from the first sample of the majority.
fn vote(rubric: &Rubric, votes: &[&RubricVerdict], samples: usize) -> Found {
    let id = rubric.rubric_id.as_str();
    let yes = votes.iter().filter(|verdict| verdict.passed).count();
    let no = votes.iter().map(|verdict| verdict.noes).sum();
    let outcome = majority(yes, no, samples).filter(|_| votes.len() * 2 >= samples);
    let mut winners = votes.iter().filter(|verdict| Some(verdict.passed) == outcome);
    let (won, first) = (winners.clone().count(), winners.next());
    let Some((passed, first)) = outcome.zip(first) else {
        let of = words::count(samples, "sample");
        let found = if votes.len() * 2 < samples {
            format!("no verdict on rubric `{id}`: {} of {of} had one", votes.len())
        } else {
            format!("too few verdicts on rubric `{id}`: {yes} of {of} say yes, which is not more than half")
        };
        return Found { score: RubricScore::new(id, None), note: format!("the judge gave {found}") };
    };
    let word = if passed { "yes" } else { "no" };
    let samples = words::count(samples, "sample");
    let note = format!("rubric `{id}`: {word} ({won} of {samples}); {}", first.rationale);
    Found { score: RubricScore::new(id, Some(passed)).rationale(first.rationale.as_str()), note }
}

/// The score of a turn: the mean, or not evaluated if one of its rubrics has no score. The reason then quotes a reply
/// without a verdict.
fn turn(found: Vec<Found>, mean: Option<f64>, reply: Option<&str>) -> Score {
    let unread: Vec<&str> =
        found.iter().filter(|found| found.score.score.is_none()).map(|found| found.note.as_str()).collect();
    let mut score = match mean {
        Some(mean) if unread.is_empty() => Score::from(mean),
        _ => Score::not_evaluated(unread.join("; ") + &reply.map(message::quote).unwrap_or_default()),
    };
    for failed in found.iter().filter(|found| found.score.score == Some(0.0)) {
        score = score.note(failed.note.as_str());
    }
    score.with_rubrics(found.into_iter().map(|found| found.score).collect())
}

/// The mean of scores with their weights; ADK's exact mean if all weights are equal.
fn weighed_mean(weighed: &[(f64, f64)]) -> Option<f64> {
    let (_, first) = weighed.first()?;
    // Equal to the last bit: only then is it ADK's mean.
    let alike = weighed.iter().all(|(_, weight)| weight.to_bits() == first.to_bits());
    if alike && *first > 0.0 {
        return mean::exact(&weighed.iter().map(|(score, _)| *score).collect::<Vec<_>>());
    }
    let sum = |part: fn(&(f64, f64)) -> f64| weighed.iter().map(part).sum::<f64>();
    let weight = sum(|(_, weight)| *weight);
    (weight > 0.0).then(|| sum(|(score, weight)| score * weight) / weight)
}

#[cfg(test)]
mod tests;
