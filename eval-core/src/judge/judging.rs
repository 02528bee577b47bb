//! A judge with the options of a criterion: model, number of samples, parallelism.

use eval_format::Criterion;
use eval_format::options::DEFAULT_MODEL;
use eval_support::mutex::Mutex;
use eval_support::{message, words};

use super::{BoxJudge, Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};
use crate::agent::BoxFuture;
use crate::guard;
use crate::score::mean;

/// ADK's number of samples for a criterion that names none.
const DEFAULT_SAMPLES: u32 = 5;
/// ADK's number of questions at a time for a criterion that names none.
const DEFAULT_PARALLELISM: u32 = 1;

/// The text after a prompt that is asked again. The mistake in the earlier answer follows.
pub(super) const REMARK: &str = "\n\nAn earlier answer to this could not be used: ";

pub(super) fn without_remark(prompt: &str) -> &str {
    prompt.rsplit_once(REMARK).map_or(prompt, |(first, _)| first)
}

/// A judge together with the `judge_model_options` of a criterion: the model, its options, the number of
/// samples per question, and how many are asked at a time.
///
/// ```
/// use eval_core::Criterion;
/// use eval_core::judge::{Judge, JudgeClient, ScriptedJudge};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let options = eval_core::format::Value::from(eval_core::json!({ "num_samples": 3 }));
/// let criterion = Criterion::new(1.0).with("judge_model_options", options);
/// let judging = JudgeClient::new(ScriptedJudge::new(["yes", "no", "yes"]).boxed(), &criterion);
///
/// let read = |reply: &str| match reply {
///     "yes" => Ok(Some(true)),
///     "no" => Ok(Some(false)),
///     _ => Err("it is neither yes nor no".to_owned()),
/// };
/// let vote = judging.vote("polite/1", "Is this polite? ...", read).await?;
/// assert!(vote.passed);
/// assert_eq!((vote.votes, vote.voters), (2, 3));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct JudgeClient {
    judge: BoxJudge,
    request: JudgeRequest,
    samples: u32,
    parallelism: usize,
}

/// One sample of a question: the value that was read from the reply, and the reply; or the error.
pub type Sample<T> = Result<(T, JudgeReply), JudgeError>;

/// The majority of the samples of a yes-or-no question.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Vote {
    /// Whether more than half of all samples say yes. A tie of yes and no is a no.
    pub passed: bool,
    /// The number of samples that voted for the winning answer.
    pub votes: u32,
    /// The number of samples that voted: yes or no.
    pub voters: u32,
    /// The number of samples that the criterion asks for.
    pub samples: u32,
    /// The first reply with the winning answer.
    pub reply: String,
}

impl JudgeClient {
    /// A judge with the options of a criterion. ADK's defaults hold for options that are missing: the model
    /// `gemini-2.5-flash`, 5 samples, 1 question at a time.
    pub fn new(judge: BoxJudge, criterion: &Criterion) -> Self {
        let config = criterion.judge_model_config().cloned().unwrap_or_default();
        let model = criterion.judge_model().unwrap_or(DEFAULT_MODEL);
        Self {
            judge,
            request: JudgeRequest::of_model(model, config),
            samples: criterion.num_samples().unwrap_or(DEFAULT_SAMPLES),
            parallelism: criterion.parallelism_limit().unwrap_or(DEFAULT_PARALLELISM) as usize,
        }
    }

    /// The number of samples that the criterion asks for.
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// The request for one sample of a question. `template` is the name of the prompt with its version.
    pub fn request(&self, template: &str, prompt: impl Into<String>, sample: u32) -> JudgeRequest {
        let request = self.request.clone().with_template(template).with_sample(sample);
        JudgeRequest { prompt: prompt.into(), ..request }
    }

    /// Asks the judge one request.
    pub async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        self.judge.ask(request).await
    }

    /// Asks one request and reads the reply. If `read` fails, it asks once more and tells the judge what was wrong.
    ///
    /// The error of `read` says what is wrong with the reply, such as `it is neither yes nor no`.
    pub async fn read<T>(
        &self,
        request: &JudgeRequest,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<(T, JudgeReply), JudgeError> {
        let reply = self.ask(request).await?;
        let wrong = match read(&reply.text) {
            Ok(value) => return Ok((value, reply)),
            Err(wrong) => wrong,
        };
        let reply = self.ask_again(request, &wrong).await?;
        match read(&reply.text) {
            Ok(value) => Ok((value, reply)),
            Err(wrong) => {
                let (model, said) = (&request.model, message::quote(&reply.text));
                let message =
                    format!("two answers of `{model}` could not be read; of the last, {wrong}{said}");
                Err(JudgeError::new(JudgeErrorKind::Unreadable, message))
            }
        }
    }

    /// Asks a request again and tells the judge what was wrong with its answer.
    pub(crate) async fn ask_again(
        &self,
        request: &JudgeRequest,
        wrong: &str,
    ) -> Result<JudgeReply, JudgeError> {
        let prompt = format!(
            "{}{REMARK}{wrong}. Answer again, in exactly the form that is asked for.",
            request.prompt
        );
        self.ask(&JudgeRequest { prompt, ..request.clone() }).await
    }

    /// Asks samples of several questions, at most `parallelism_limit` of them at the same time. Once a
    /// question is decided, its remaining samples are skipped.
    ///
    /// `prompt` is the text of a question, and `ask` asks it. `is_decided` gets a question and its samples so
    /// far, in the order in which they were answered. Each question is returned with its results, in the
    /// order of the samples.
    pub(crate) async fn sample_all<'a, Q: Sync, T: Clone + Send>(
        &self,
        template: &str,
        questions: &'a [Q],
        prompt: impl Fn(&Q) -> &str,
        ask: impl Fn(&'a Q, JudgeRequest) -> BoxFuture<'a, T> + Sync,
        is_decided: impl Fn(&Q, &[T]) -> bool + Sync,
    ) -> Vec<(&'a Q, Vec<T>)> {
        let (ask, is_decided) = (&ask, &is_decided);
        let answered: Vec<Mutex<Vec<T>>> = questions.iter().map(|_| Mutex::default()).collect();
        let mut asked: Vec<BoxFuture<'_, Option<T>>> = Vec::new();
        for (question, answered) in questions.iter().zip(&answered) {
            for sample in 0..self.samples {
                let request = self.request(template, prompt(question), sample);
                asked.push(Box::pin(async move {
                    // Samples start in order, and each started sample is awaited. So a recording holds the
                    // samples that a replay asks for, whichever was answered first.
                    let is_done = is_decided(question, &answered.lock());
                    if is_done {
                        return None;
                    }
                    let answer = ask(question, request).await;
                    answered.lock().push(answer.clone());
                    Some(answer)
                }));
            }
        }
        let mut answers = guard::all(self.parallelism, asked).await.into_iter();
        let samples = self.samples as usize;
        let samples_of = |question| (question, answers.by_ref().take(samples).flatten().collect());
        questions.iter().map(samples_of).collect()
    }

    /// Whether the remaining samples cannot change the outcome of a vote.
    fn is_decided(&self, answered: &[Sample<Option<bool>>]) -> bool {
        let left = (self.samples as usize).saturating_sub(answered.len());
        let outcome = |rest: Sample<Option<bool>>| {
            let samples: Vec<_> = answered.iter().cloned().chain(std::iter::repeat_n(rest, left)).collect();
            self.count(&samples).map(|vote| vote.passed).ok()
        };
        let reply = |vote| Ok((vote, JudgeReply::default()));
        let failed = Err(JudgeError::failed(""));
        let first = outcome(failed);
        [reply(Some(true)), reply(Some(false)), reply(None)].into_iter().all(|rest| outcome(rest) == first)
    }

    /// Takes the majority of each of several yes-or-no questions; see [`vote`](Self::vote). `read` gets a reply and the
    /// prompt that it answers.
    pub(crate) async fn vote_all(
        &self,
        template: &str,
        prompts: &[String],
        read: impl Fn(&str, &str) -> Result<Option<bool>, String> + Sync,
    ) -> Vec<Result<Vote, JudgeError>> {
        let read = &read;
        let is_decided = |_: &String, answered: &[_]| self.is_decided(answered);
        let samples = self
            .sample_all(
                template,
                prompts,
                String::as_str,
                |prompt, request| {
                    Box::pin(async move { self.read(&request, |reply| read(reply, prompt)).await })
                },
                is_decided,
            )
            .await;
        samples.iter().map(|(_, samples)| self.count(samples)).collect()
    }

    /// Asks all samples of a question, at most `parallelism_limit` of them at the same time.
    ///
    /// The samples are returned in order, including failed ones. `read` is as in [`read`](Self::read).
    pub async fn sample<T: Send>(
        &self,
        template: &str,
        prompt: &str,
        read: impl Fn(&str) -> Result<T, String> + Sync,
    ) -> Vec<Sample<T>> {
        let read = &read;
        let mut asked: Vec<BoxFuture<'_, Sample<T>>> = Vec::new();
        for sample in 0..self.samples {
            let request = self.request(template, prompt, sample);
            asked.push(Box::pin(async move { self.read(&request, read).await }));
        }
        guard::all(self.parallelism, asked).await
    }

    /// Asks samples of a yes-or-no question and takes the majority. A yes needs more than half of all samples; a tie of
    /// yes and no is a no, as in ADK.
    ///
    /// Samples that could not change the outcome any more are not asked.
    ///
    /// `read` returns `Some(true)` for yes, `Some(false)` for no and `None` if the reply says neither. A reply that
    /// says neither does not vote, and neither does a sample that failed.
    ///
    /// It is an error if the samples without a vote outnumber the votes, or if they could turn a yes into a
    /// no: the majority would be an accident. If most samples failed, the error is the first failure, else
    /// one of the kind [`Unreadable`](JudgeErrorKind::Unreadable).
    pub async fn vote(
        &self,
        template: &str,
        prompt: &str,
        read: impl Fn(&str) -> Result<Option<bool>, String> + Sync,
    ) -> Result<Vote, JudgeError> {
        let votes = self.vote_all(template, &[prompt.to_owned()], |reply, _| read(reply)).await;
        votes.into_iter().next().unwrap_or_else(|| self.count(&[]))
    }

    fn count(&self, samples: &[Sample<Option<bool>>]) -> Result<Vote, JudgeError> {
        let failed = samples.iter().filter_map(|sample| sample.as_ref().err());
        if let Some(error) = failed.clone().next()
            && failed.count() * 2 > self.samples as usize
        {
            return Err(error.clone());
        }
        let voters: Vec<(bool, &JudgeReply)> = samples
            .iter()
            .filter_map(|sample| sample.as_ref().ok())
            .filter_map(|(vote, reply)| Some(((*vote)?, reply)))
            .collect();
        let yes = voters.iter().filter(|(vote, _)| *vote).count();
        let silent = samples.len() - voters.len();
        let passed = match majority(yes, voters.len() - yes, self.samples as usize) {
            Some(passed) if silent * 2 <= self.samples as usize => passed,
            _ => return Err(too_few_votes(samples, yes, voters.len())),
        };
        let winners = voters.iter().filter(|(vote, _)| *vote == passed);
        let reply = winners.clone().next().map(|(_, reply)| reply.text.clone()).unwrap_or_default();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Ok(Vote {
            passed,
            votes: count(winners.count()),
            voters: count(voters.len()),
            samples: self.samples,
            reply,
        })
    }
}

/// The outcome of a vote; `None` if there is none. Samples without a vote may have meant no, so a yes needs
/// more than half of all samples.
pub(crate) fn majority(yes: usize, no: usize, all: usize) -> Option<bool> {
    let passed = yes > no;
    (yes + no > 0 && (!passed || yes * 2 > all)).then_some(passed)
}

fn too_few_votes(samples: &[Sample<Option<bool>>], yes: usize, voters: usize) -> JudgeError {
    let failed = samples.iter().filter(|sample| sample.is_err()).count();
    let failed = if failed == 0 { String::new() } else { format!(", and {failed} failed") };
    // The first reply that says neither yes nor no.
    let said = samples.iter().filter_map(|sample| sample.as_ref().ok()).find(|(vote, _)| vote.is_none());
    let said = said.map(|(_, reply)| message::quote(&reply.text)).unwrap_or_default();
    let verb = |count| if count > 1 { "say" } else { "says" };
    let of = words::count(samples.len(), "sample");
    let message = match voters {
        0 => format!("none of {of} says yes or no{failed}{said}"),
        _ if (samples.len() - voters) * 2 > samples.len() => {
            format!("only {voters} of {of} {} yes or no{failed}{said}", verb(voters))
        }
        _ => format!("only {yes} of {of} {} yes, which is not more than half{failed}{said}", verb(yes)),
    };
    JudgeError::new(JudgeErrorKind::Unreadable, message)
}

/// The mean of the samples of a question that is answered with a number.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Rating {
    /// The mean of the samples that answered: the exact mean, rounded once.
    pub mean: f64,
    /// The number of samples that answered.
    pub voters: u32,
    /// The number of samples that the criterion asks for.
    pub samples: u32,
    /// The first reply with the lowest number.
    pub reply: String,
}

impl JudgeClient {
    /// Asks all samples of a question that is answered with a number and takes their mean.
    ///
    /// ```
    /// use eval_core::Criterion;
    /// use eval_core::judge::{Judge, JudgeClient, ScriptedJudge};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let options = eval_core::format::Value::from(eval_core::json!({ "num_samples": 2 }));
    /// let criterion = Criterion::new(3.0).with("judge_model_options", options);
    /// let judging = JudgeClient::new(ScriptedJudge::new(["4", "5"]).boxed(), &criterion);
    ///
    /// let read = |reply: &str| match reply.parse() {
    ///     Ok(number @ 1.0..=5.0) => Ok(number),
    ///     _ => Err("it is no number from 1 to 5".to_owned()),
    /// };
    /// let rating = judging.rate("clarity/1", "How clear is this, from 1 to 5? ...", read).await?;
    /// assert_eq!(rating.mean, 4.5);
    /// # Ok(()) }
    /// ```
    ///
    /// The error of `read` says what is wrong with a reply, such as a number out of range. NaN is always an
    /// error. A sample that failed does not count. It is an error if more samples failed than answered, as in
    /// [`vote`](Self::vote).
    pub async fn rate(
        &self,
        template: &str,
        prompt: &str,
        read: impl Fn(&str) -> Result<f64, String> + Sync,
    ) -> Result<Rating, JudgeError> {
        let read = |reply: &str| match read(reply)? {
            number if number.is_nan() => Err("the number is NaN".to_owned()),
            number => Ok(number),
        };
        let (read, all) = (&read, self.samples() as usize);
        let failed = |samples: &[Sample<f64>]| samples.iter().filter(|sample| sample.is_err()).count();
        // The mean needs every sample. Only once most have failed is the outcome certain: an error.
        let is_lost = |_: &&str, answered: &[Sample<f64>]| failed(answered) * 2 > all;
        let questions = [prompt];
        let samples = self
            .sample_all(
                template,
                &questions,
                |prompt| prompt,
                |_, request| Box::pin(async move { self.read(&request, read).await }),
                is_lost,
            )
            .await;
        let samples: Vec<Sample<f64>> = samples.into_iter().flat_map(|(_, samples)| samples).collect();
        let answered: Vec<&(f64, JudgeReply)> =
            samples.iter().filter_map(|sample| sample.as_ref().ok()).collect();
        if let Some(error) = samples.iter().find_map(|sample| sample.as_ref().err())
            && failed(&samples) * 2 > all
        {
            return Err(error.clone());
        }
        let numbers: Vec<f64> = answered.iter().map(|(number, _)| *number).collect();
        let lowest = answered.iter().min_by(|(a, _), (b, _)| a.total_cmp(b));
        match (mean::exact(&numbers), lowest) {
            (Some(mean), Some((_, reply))) => Ok(Rating {
                mean,
                voters: u32::try_from(answered.len()).unwrap_or(u32::MAX),
                samples: self.samples(),
                reply: reply.text.clone(),
            }),
            _ => Err(JudgeError::new(JudgeErrorKind::Unreadable, "no sample was asked for")),
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod rating_tests {
    use eval_format::Criterion;
    use serde_json::json;

    use super::*;
    use crate::judge::{Judge, ScriptedJudge};
    use crate::test_support::ready;

    fn rate(replies: &[&str], samples: u32) -> Result<Rating, JudgeError> {
        let criterion = Criterion::new(1.0).with("judge_model_options", json!({ "num_samples": samples }));
        let judge = ScriptedJudge::new(replies.iter().copied());
        let read = |reply: &str| reply.parse().map_err(|_| format!("`{reply}` is no number"));
        ready(JudgeClient::new(judge.boxed(), &criterion).rate("t/1", "how many?", read))
    }

    #[test]
    fn the_mean_of_the_samples_that_answer_is_taken() {
        let rating = rate(&["4", "2", "5"], 3).unwrap();
        assert_eq!((rating.mean, rating.voters, rating.samples), (11.0 / 3.0, 3, 3));
        assert_eq!(rating.reply, "2");
        // Two replies to the first sample are no number: it was asked again.
        let rating = rate(&["?", "NaN", "2", "5"], 3).unwrap();
        assert_eq!((rating.mean, rating.voters, rating.samples), (3.5, 2, 3));
    }

    #[test]
    fn samples_that_fail_more_often_than_not_are_an_error() {
        let error = rate(&["?", "?", "?", "?", "5"], 3).unwrap_err();
        assert_eq!(error.kind(), JudgeErrorKind::Unreadable);
        assert!(rate(&["?", "?", "5"], 2).is_ok(), "half of them may");
        assert_eq!(rate(&[], 1).unwrap_err().kind(), JudgeErrorKind::Failed);
    }

    #[test]
    fn samples_are_asked_until_most_have_failed() {
        for (replies, samples, asked) in
            [(vec!["1"; 3], 3, 3), (vec!["?"; 6], 3, 4), (vec!["?", "?", "5"], 2, 3), (vec!["?"; 2], 1, 2)]
        {
            let criterion =
                Criterion::new(1.0).with("judge_model_options", json!({ "num_samples": samples }));
            let judge = std::sync::Arc::new(ScriptedJudge::new(replies));
            let judging = JudgeClient::new(std::sync::Arc::clone(&judge).boxed(), &criterion);
            let read = |reply: &str| reply.parse().map_err(|_| "it is no number".to_owned());
            let _ = ready(judging.rate("t/1", "how many?", read));
            assert_eq!(judge.requests().len(), asked, "{samples} samples");
        }
    }
}
