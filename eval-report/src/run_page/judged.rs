//! Judges: the verdict of the metric that asked, and the votes that it came from.

use std::collections::BTreeMap;

use eval_core::Score;
use eval_core::journal::{JudgeQuestion, JudgeUse};
use eval_core::report::{MetricOutcome, ScoredMetric, TurnVerdict, Verdict, short};
use eval_format::{Bound, Value};
use eval_support::untrusted;
use eval_support::words::count;

use super::scores::{ScoresByTurn, missed};
use crate::journal::Evaluation;
use crate::page::{Judge, Question, Vote, line, text};

pub(super) fn judges(evaluation: &Evaluation, known: &ScoresByTurn) -> Vec<Judge> {
    let scores = known.of_run(evaluation);
    let turns = evaluation.ran.transcript.turns.len().max(1);
    let of_metrics = evaluation.scored.iter().flat_map(|scored| &scored.metrics).zip(&scores);
    let of_metrics = of_metrics.flat_map(|(metric, score)| {
        metric.judge.iter().map(move |judge| {
            let mut all = Vec::new();
            for at in 0..turns {
                let of_turn = known.of_turn(evaluation, at).into_iter();
                all.extend(of_turn.filter(|turn| turn.metric == score.metric).map(|mut turn| {
                    turn.rubrics.iter_mut().for_each(|rubric| rubric.turn = (turns > 1).then_some(at + 1));
                    turn
                }));
            }
            let whole = score.whole.iter().chain(&all);
            let mut shown = shown(&metric.name, judge);
            shown.state = Some(score.state);
            shown.score.clone_from(&score.score);
            shown.threshold.clone_from(&score.threshold);
            shown.rubrics = whole.clone().flat_map(|turn| turn.rubrics.clone()).collect();
            let by_votes = shown.reason.take();
            let by_score =
                || score.reason.clone().or_else(|| whole.clone().find_map(|turn| turn.reason.clone()));
            // An error is told where it happened.
            shown.reason = by_votes.or_else(by_score).filter(|_| score.state != "error");
            shown
        })
    });
    let of_user = evaluation.ran.simulator.iter().map(|judge| shown("playing the user", judge));
    of_metrics.chain(of_user).collect()
}

/// The longest reason in the line of a case.
const MAX_REASON_CHARS: usize = 160;

/// The words of a metric about a turn that it failed: `final_response_match_v2 0 < 0.5, 2 of 3 say invalid: It names rain.`
/// `None` if it did not fail it, or looks at the run as a whole.
pub(super) fn failed_turn(metric: &ScoredMetric, at: usize, bound: Option<Bound>) -> Option<String> {
    failed(metric, at, bound, false)
}

/// The words of a metric about a run that it failed as a whole.
pub(super) fn failed_run(metric: &ScoredMetric, bound: Option<Bound>) -> Option<String> {
    failed(metric, 0, bound, true)
}

fn failed(metric: &ScoredMetric, at: usize, bound: Option<Bound>, of_run: bool) -> Option<String> {
    let MetricOutcome::Scored(scores) = &metric.outcome else { return None };
    let is_failed = metric.verdict == Verdict::Failed && metric.turns.get(at) == Some(&TurnVerdict::Failed);
    let score = scores.scores().get(at).filter(|_| is_failed && scores.is_whole_run() == of_run)?;
    if score.value().zip(bound).is_some_and(|(value, bound)| bound.is_met(value)) {
        return None;
    }
    let value = score.value().map(|it| format!(" {}{}", short(it, bound), missed(it, bound)));
    let question = metric.judge.iter().map(|judge| &judge.questions);
    let question = question.filter(|all| all.len() == scores.scores().len()).find_map(|all| all.get(at));
    let said = line(because(score, question).unwrap_or_default().trim_end_matches('.'));
    let value = value.unwrap_or_default();
    Some(format!("{}{value}{}", line(&metric.name), begin(&said)))
}

/// The beginning of a reason. A number counts as one sign, so that reasons with other numbers end at the same word: they are one cause.
fn begin(said: &str) -> String {
    let (mut signs, mut was_digit) = (0, false);
    let end = said.char_indices().find(|(_, c)| {
        let goes_on = was_digit && c.is_ascii_digit();
        was_digit = c.is_ascii_digit();
        signs += usize::from(!goes_on);
        signs > MAX_REASON_CHARS
    });
    end.map_or_else(|| said.to_owned(), |(at, _)| format!("{}…", &said[..at]))
}

/// The reason of a score: the rubric that is not met, else the votes of the judge, else a remark of the metric.
fn because(score: &Score, question: Option<&JudgeQuestion>) -> Option<String> {
    let of_rubric = || {
        let rubric = score.rubrics().iter().find(|it| it.score == Some(0.0))?;
        Some(format!(", {} is not met: {}", rubric.rubric_id, rubric.rationale.as_deref()?))
    };
    let of_votes = || {
        let votes: Vec<Vote> = question?.answers.iter().map(|answer| vote(answer)).collect();
        let (tally, reason) = tally(&votes)?;
        Some(format!(", {tally}{}", reason.map(|reason| format!(": {reason}")).unwrap_or_default()))
    };
    of_rubric().or_else(of_votes).or_else(|| Some(format!(": {}", score.notes().first()?)))
}

/// The tally of a question whose samples do not agree; `None` if they do, or if their answers have no verdict that is known.
///
/// ```
/// use eval_core::journal::JudgeQuestion;
/// use eval_report::run_page::split_vote;
///
/// let mut question = JudgeQuestion::default();
/// question.answers = ["yes", "no", "yes"].map(|verdict| format!("Verdict: {verdict}")).to_vec();
/// assert_eq!(split_vote(&question).as_deref(), Some("2 of 3 say yes"));
/// question.answers.remove(1);
/// assert_eq!(split_vote(&question), None);
/// ```
pub fn split_vote(question: &JudgeQuestion) -> Option<String> {
    let votes: Vec<Vote> = question.answers.iter().map(|answer| vote(answer)).collect();
    let mut verdicts = votes.iter().filter_map(|vote| vote.verdict.as_deref()).filter(|it| *it != NO_ANSWER);
    let first = verdicts.next()?;
    if verdicts.all(|verdict| verdict == first) { None } else { tally(&votes).map(|(tally, _)| tally) }
}

fn shown(purpose: &str, judge: &JudgeUse) -> Judge {
    let mut asked = count(judge.asked, "question");
    if let Some(replayed) = judge.replayed.filter(|replayed| *replayed > 0) {
        asked.push_str(&format!(", {replayed} answered from the recording"));
    }
    if judge.failed > 0 {
        asked.push_str(&format!(", {} without an answer", judge.failed));
    }
    let questions: Vec<Question> = judge
        .questions
        .iter()
        .map(|it| {
            let votes: Vec<Vote> = it.answers.iter().map(|answer| vote(answer)).collect();
            Question {
                template: it.template.as_deref().map(line),
                prompt: text(&it.prompt),
                answers: it.answers.iter().map(|answer| text(answer)).collect(),
                tally: tally(&votes).map(|(tally, _)| tally),
                votes,
            }
        })
        .collect();
    let reason = questions.iter().find_map(|question| tally(&question.votes)?.1);
    Judge { purpose: line(purpose), model: line(&judge.model), asked, reason, questions, ..Judge::default() }
}

/// The verdict that most votes name, `2 of 3 say invalid`, and the reason of the first of these.
fn tally(votes: &[Vote]) -> Option<(String, Option<String>)> {
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    for verdict in votes.iter().filter_map(|vote| vote.verdict.as_deref()).filter(|it| *it != NO_ANSWER) {
        *counted.entry(verdict).or_default() += 1;
    }
    let most = *counted.values().max()?;
    let first =
        votes.iter().find(|vote| vote.verdict.as_deref().is_some_and(|it| counted.get(it) == Some(&most)))?;
    let verdict = first.verdict.as_deref()?;
    let say = if most == 1 { "says" } else { "say" };
    Some((format!("{most} of {} {say} {verdict}", votes.len()), first.reason.clone()))
}

const NO_ANSWER: &str = "no answer";

const VERDICTS: [&str; 6] = ["is_the_agent_response_valid", "verdict", "is_valid", "valid", "label", "score"];

const REASONS: [&str; 4] = ["reasoning", "reason", "rationale", "explanation"];

/// The most verdicts of one answer: judges of rubrics give one for each rubric.
const MAX_VERDICTS: usize = 6;

/// A judge's answer in short, for people to read. The metric read the answer by rules of its own.
fn vote(answer: &str) -> Vote {
    if let Some(object) = json(answer) {
        let of = |keys: &[&str]| {
            keys.iter().find_map(|key| match object.as_object()?.get(key)? {
                Value::String(text) => Some(line(text.trim())),
                value => Some(line(&value.to_string())),
            })
        };
        return Vote { verdict: of(&VERDICTS), reason: of(&REASONS) };
    }
    if let Some(why) = answer.strip_prefix("no answer:") {
        return Vote { verdict: Some(NO_ANSWER.to_owned()), reason: Some(line(&untrusted::headline(why))) };
    }
    let fields = |name: &'static str| {
        answer.lines().filter_map(move |line| {
            let (key, value) = line.split_once(':')?;
            let key = key.trim_matches(|c: char| !c.is_alphanumeric());
            key.eq_ignore_ascii_case(name).then(|| value.trim_matches(['*', ' ']))
        })
    };
    let verdicts: Vec<&str> = fields("verdict").take(MAX_VERDICTS).collect();
    let verdict = (!verdicts.is_empty()).then(|| line(&verdicts.join(", ")));
    let reason = ["rationale", "reasoning", "reason"].into_iter().find_map(|name| fields(name).next());
    Vote { verdict, reason: reason.map(line) }
}

/// The JSON object of an answer, with or without a fence around it.
fn json(answer: &str) -> Option<Value> {
    let (begin, end) = (answer.find('{')?, answer.rfind('}')?);
    let around = [answer.get(..begin)?, answer.get(end + 1..)?];
    let is_fence =
        |text: &str| text.trim().trim_start_matches("```").trim_start_matches("json").trim().is_empty();
    if !around.into_iter().all(is_fence) {
        return None;
    }
    Value::parse(answer.get(begin..=end)?).ok().filter(|value| value.as_object().is_some())
}

#[cfg(test)]
mod tests {
    use eval_core::Scores;
    use eval_core::metric::RubricScore;
    use eval_format::UsageMetadata;

    use super::*;

    #[test]
    fn an_answer_is_told_in_short() {
        for (answer, verdict, reason) in [
            (
                r#"{"reasoning": "It names rain.", "is_the_agent_response_valid": "invalid"}"#,
                "invalid",
                "It names rain.",
            ),
            ("```json\n{\"verdict\": true, \"reason\": \"a\\nb\"}\n```", "true", "a\\nb"),
            (
                "Property: kind\nRationale: It greets.\nVerdict: yes\nProperty: short\nRationale: x\nVerdict: no",
                "yes, no",
                "It greets.",
            ),
            ("**Verdict:** yes", "yes", "-"),
            (
                "no answer: the judge did not answer in time\nmore",
                "no answer",
                "the judge did not answer in time",
            ),
            ("I think {it} is fine", "-", "-"),
            ("", "-", "-"),
            (r#"{"other": 1}"#, "-", "-"),
        ] {
            let shown = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            let vote = vote(answer);
            assert_eq!(
                (shown(vote.verdict), shown(vote.reason)),
                (verdict.to_owned(), reason.to_owned()),
                "{answer}"
            );
        }
    }

    #[test]
    fn the_votes_are_counted_with_the_reason_of_the_most() {
        let vote = |verdict: &str, reason: &str| Vote {
            verdict: (!verdict.is_empty()).then(|| verdict.to_owned()),
            reason: Some(reason.to_owned()),
        };
        for (votes, told) in [
            (vec![], None),
            (vec![vote("", "a")], None),
            (vec![vote(NO_ANSWER, "late")], None),
            (vec![vote(NO_ANSWER, "late"), vote("valid", "a")], Some(("1 of 2 says valid", "a"))),
            (vec![vote("valid", "a")], Some(("1 of 1 says valid", "a"))),
            (
                vec![vote("valid", "a"), vote("invalid", "b"), vote("invalid", "c")],
                Some(("2 of 3 say invalid", "b")),
            ),
        ] {
            let told = told.map(|(tally, reason)| (tally.to_owned(), Some(reason.to_owned())));
            assert_eq!(tally(&votes), told);
        }
    }

    #[test]
    fn a_turn_that_failed_is_told_with_its_metric_its_score_and_what_the_judge_says() {
        let votes = [("invalid", "Wind is no sun."), ("valid", "Fine."), ("invalid", "No.")].map(
            |(verdict, reason)| {
                format!(r#"{{"reasoning": "{reason}", "is_the_agent_response_valid": "{verdict}"}}"#)
            },
        );
        let mut question = JudgeQuestion::default();
        question.answers = votes.to_vec();
        let mut judge = JudgeUse::default();
        judge.questions = vec![JudgeQuestion::default(), question];
        let rubric = |score| RubricScore::new("kind", Some(score)).rationale("It is rude.");
        let scored = |scores: Scores, judge: &[JudgeUse]| ScoredMetric {
            name: "m".to_owned(),
            custom: false,
            criterion: None,
            turns: scores
                .scores()
                .iter()
                .map(|it| if it.value() < Some(0.8) { TurnVerdict::Failed } else { TurnVerdict::Passed })
                .collect(),
            outcome: MetricOutcome::Scored(scores),
            judge: judge.to_vec(),
            verdict: Verdict::Failed,
        };
        let turns = |last: Score| -> Scores { [Score::from(1.0), last].into_iter().collect() };
        let by_judge = std::slice::from_ref(&judge);
        let bound = Some(Bound::at_least(0.8));
        for (last, judge, said) in [
            (Score::from(0.5), by_judge, "m 0.5 < 0.8, 2 of 3 say invalid: Wind is no sun"),
            (
                Score::from(0.5).with_rubrics(vec![rubric(false)]),
                by_judge,
                "m 0.5 < 0.8, kind is not met: It is rude",
            ),
            (
                Score::from(0.5).with_rubrics(vec![rubric(true)]).note("23 words."),
                &[],
                "m 0.5 < 0.8: 23 words",
            ),
            (Score::from(0.5), &[], "m 0.5 < 0.8"),
        ] {
            let metric = scored(turns(last), judge);
            assert_eq!(failed_turn(&metric, 1, bound).as_deref(), Some(said));
            assert_eq!((failed_turn(&metric, 0, bound), failed_run(&metric, bound)), (None, None));
        }
        // Of two turns it is not known which one a single question was about.
        judge.questions.remove(0);
        assert_eq!(
            failed_turn(&scored(turns(Score::from(0.5)), &[judge.clone()]), 1, bound).as_deref(),
            Some("m 0.5 < 0.8")
        );
        let whole = scored(Scores::whole_run(0.5), &[judge]);
        assert_eq!(failed_turn(&whole, 0, bound), None);
        assert_eq!(
            failed_run(&whole, bound).as_deref(),
            Some("m 0.5 < 0.8, 2 of 3 say invalid: Wind is no sun")
        );
    }

    #[test]
    fn reasons_with_other_numbers_end_at_the_same_word() {
        let long = "It is sunny. ".repeat(20);
        let [one, other] = ["7", "1407"].map(|number| begin(&format!("{number}: {long}")));
        assert_eq!(one.strip_prefix('7'), other.strip_prefix("1407"));
        assert_eq!((one.chars().count(), one.ends_with('…')), (MAX_REASON_CHARS + 1, true));
        assert_eq!(begin("It is sunny."), "It is sunny.");
    }

    #[test]
    fn a_judge_is_shown_with_its_questions_and_how_they_were_answered() {
        let asked = |asked, failed, replayed| {
            let mut judge = JudgeUse::default();
            (judge.model, judge.asked, judge.failed, judge.replayed) =
                ("m".to_owned(), asked, failed, replayed);
            judge.usage = UsageMetadata::default();
            shown("safety_v1", &judge).asked
        };
        assert_eq!(asked(1, 0, None), "1 question");
        assert_eq!(asked(3, 0, Some(0)), "3 questions");
        assert_eq!(asked(3, 1, Some(2)), "3 questions, 2 answered from the recording, 1 without an answer");
    }
}
