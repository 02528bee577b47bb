//! The meter of a judge: counts, waiting times and texts of its questions.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use eval_format::UsageMetadata;
use eval_support::mutex::Mutex;
use eval_support::untrusted::masked_beginning;

use super::budget::Clock;
use super::{BoxJudge, Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};
use crate::guard::{Waited, catch_panic};
use crate::judge_outcome::{JudgeQuestion, JudgeUse};

/// The judge of one metric in one run, or of a simulated user. It counts the questions, measures the time
/// spent waiting for the judge, and keeps the first error about a missing judge or recorded answer.
#[derive(Debug)]
pub(crate) struct MeteredJudge {
    judge: BoxJudge,
    open: Arc<Clock>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    missed: Option<JudgeError>,
    used: Vec<JudgeUse>,
    kept: Kept,
}

impl MeteredJudge {
    pub(crate) fn new(judge: BoxJudge) -> Arc<Self> {
        Arc::new(Self { judge, open: Arc::default(), state: Mutex::default() })
    }

    pub(crate) fn judge(self: &Arc<Self>) -> BoxJudge {
        BoxJudge(self.clone())
    }

    /// The error of the first question that had no judge to ask, or no recorded answer. Other errors are left to
    /// the metric: one sample of five may fail.
    pub(crate) fn missed(&self) -> Option<JudgeError> {
        self.state.lock().missed.clone()
    }

    /// The time spent waiting for the judge. Questions that were open at the same time count once.
    pub(crate) fn waited(&self) -> Waited {
        Waited { total: self.open.spent(), still: self.open.is_running() }
    }

    pub(crate) fn used(&self) -> Vec<JudgeUse> {
        let state = self.state.lock();
        let with_texts =
            |used: &JudgeUse| JudgeUse { questions: state.kept.of_model(&used.model), ..used.clone() };
        state.used.iter().map(with_texts).collect()
    }
}

impl Judge for MeteredJudge {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let question = self.open.run();
        let kept = self.state.lock().kept.asked(request);
        let answer = catch_panic(self.judge.ask(request))
            .await
            .unwrap_or_else(|panic| Err(JudgeError::failed(format!("the judge panicked: {panic}"))));
        drop(question);
        let mut state = self.state.lock();
        state.count(&request.model, &answer);
        if let Some(kept) = kept {
            state.kept.answered(kept, request.sample, &answer);
        }
        if let Err(error) = &answer
            && matches!(error.kind, JudgeErrorKind::NoJudge | JudgeErrorKind::NotRecorded)
        {
            state.missed.get_or_insert_with(|| error.clone());
        }
        answer
    }

    fn is_offline(&self) -> bool {
        self.judge.is_offline()
    }

    fn time_limit(&self) -> Option<Duration> {
        None
    }
}

impl State {
    fn count(&mut self, model: &str, answer: &Result<JudgeReply, JudgeError>) {
        let place = self.used.iter().position(|used| used.model == model).unwrap_or_else(|| {
            self.used.push(JudgeUse { model: model.to_owned(), replayed: Some(0), ..JudgeUse::default() });
            self.used.len() - 1
        });
        let Some(used) = self.used.get_mut(place) else { return };
        used.asked += 1;
        match answer {
            Ok(reply) => {
                used.replayed = used.replayed.map(|replayed| replayed + usize::from(reply.replayed));
                reply.usage.iter().for_each(|usage| add(&mut used.usage, usage));
            }
            Err(_) => used.failed += 1,
        }
    }
}

/// Adds the counts of an answer to a sum. A count that no answer states stays `None`.
fn add(sum: &mut UsageMetadata, usage: &UsageMetadata) {
    let add = |sum: &mut Option<i64>, count: Option<i64>| {
        if let Some(count) = count {
            *sum = Some(sum.unwrap_or_default().saturating_add(count));
        }
    };
    add(&mut sum.prompt_token_count, usage.prompt_token_count);
    add(&mut sum.candidates_token_count, usage.candidates_token_count);
    add(&mut sum.total_token_count, usage.total_token_count);
    add(&mut sum.cached_content_token_count, usage.cached_content_token_count);
    add(&mut sum.thoughts_token_count, usage.thoughts_token_count);
    add(&mut sum.tool_use_prompt_token_count, usage.tool_use_prompt_token_count);
}

const MAX_PROMPT_CHARS: usize = 8_000;
const MAX_ANSWER_CHARS: usize = 2_000;
/// The maximum number of characters kept of all prompts and answers together. Without it, a metric that asks
/// about each sentence of a long conversation would fill the journal.
const MAX_CHARS_OF_ALL: usize = 48_000;

/// The prompts and answers of one metric in one run. A question is kept when it is asked, so that the order does not
/// depend on which answer is the first.
#[derive(Debug)]
pub(super) struct Kept {
    questions: Vec<Question>,
    chars_left: usize,
}

#[derive(Debug)]
struct Question {
    model: String,
    /// The hash of the whole text. All samples of a question have it.
    hash: u64,
    kept: JudgeQuestion,
    samples: Vec<u32>,
}

impl Default for Kept {
    fn default() -> Self {
        Self { questions: Vec::new(), chars_left: MAX_CHARS_OF_ALL }
    }
}

impl Kept {
    /// Keeps a question and returns its index. `None` if the limit is reached.
    pub(super) fn asked(&mut self, request: &JudgeRequest) -> Option<usize> {
        let mut hasher = DefaultHasher::new();
        (&request.model, &request.template, &request.prompt).hash(&mut hasher);
        let hash = hasher.finish();
        let known = self.questions.iter().position(|question| question.hash == hash);
        if known.is_some() {
            return known;
        }
        let prompt = self.cut(&request.prompt, MAX_PROMPT_CHARS)?;
        let kept = JudgeQuestion { template: request.template.clone(), prompt, answers: Vec::new() };
        self.questions.push(Question { model: request.model.clone(), hash, kept, samples: Vec::new() });
        Some(self.questions.len() - 1)
    }

    pub(super) fn answered(&mut self, place: usize, sample: u32, answer: &Result<JudgeReply, JudgeError>) {
        let text = match answer {
            Ok(reply) => self.cut(&reply.text, MAX_ANSWER_CHARS),
            Err(error) => self.cut(&format!("no answer: {}", error.headline()), MAX_ANSWER_CHARS),
        };
        if let (Some(question), Some(text)) = (self.questions.get_mut(place), text) {
            let before = question.samples.partition_point(|other| *other <= sample);
            question.samples.insert(before, sample);
            question.kept.answers.insert(before, text);
        }
    }

    pub(super) fn of_model(&self, model: &str) -> Vec<JudgeQuestion> {
        let questions = self.questions.iter().filter(|question| question.model == model);
        questions.map(|question| question.kept.clone()).collect()
    }

    fn cut(&mut self, text: &str, longest: usize) -> Option<String> {
        let longest = longest.min(self.chars_left);
        if longest == 0 {
            return None;
        }
        self.chars_left -= text.chars().take(longest).count();
        // Masked before it is truncated: half a key would not be recognised when the journal is written.
        match masked_beginning(text, longest) {
            (shown, 0) => Some(shown),
            (shown, more) => Some(format!("{shown}\n(… {more} more characters are not recorded)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::ScriptedJudge;
    use crate::judge_outcome::JudgeQuestion;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn what_is_not_recorded_is_remembered_and_a_failure_is_not() {
        let error = |kind| Err(JudgeError::new(kind, "no"));
        let script = [
            error(JudgeErrorKind::Failed),
            error(JudgeErrorKind::NotRecorded),
            error(JudgeErrorKind::NoJudge),
            Ok(JudgeReply::new("yes")),
        ];
        let metered = MeteredJudge::new(ScriptedJudge::results(script).boxed());
        let judge = metered.judge();
        let mut missed = Vec::new();
        for _ in 0..4 {
            let _ = run(judge.ask(&JudgeRequest::new("m", "?")));
            missed.push(metered.missed().map(|error| error.kind()));
        }
        let first = Some(JudgeErrorKind::NotRecorded);
        assert_eq!(missed, [None, first, first, first]);
    }

    #[test]
    fn questions_and_tokens_are_counted_by_model() {
        let usage = |prompt| UsageMetadata::default().with_prompt_token_count(prompt);
        let reply = |prompt| Ok(JudgeReply { usage: Some(usage(prompt)), ..JudgeReply::new("yes") });
        let replayed = Ok(JudgeReply { replayed: true, ..JudgeReply::new("no") });
        let failed = Err(JudgeError::new(JudgeErrorKind::Timeout, "late"));
        let metered =
            MeteredJudge::new(ScriptedJudge::results([reply(3), failed, reply(4), replayed]).boxed());
        for model in ["a", "a", "a", "b"] {
            let _ = run(metered.judge().ask(&JudgeRequest::new(model, "?")));
        }
        let a = JudgeUse {
            model: "a".to_owned(),
            asked: 3,
            failed: 1,
            replayed: Some(0),
            usage: usage(7),
            questions: Vec::new(),
        };
        let b = JudgeUse { model: "b".to_owned(), asked: 1, replayed: Some(1), ..JudgeUse::default() };
        let mut used = metered.used();
        let questions: Vec<_> = used.iter_mut().map(|used| std::mem::take(&mut used.questions)).collect();
        assert_eq!(used, [a, b]);
        let answers = |of: &[JudgeQuestion]| of.iter().map(|it| it.answers.clone()).collect::<Vec<_>>();
        assert_eq!(answers(&questions[0]), [["yes", "no answer: late", "yes"]]);
        assert_eq!(answers(&questions[1]), [["no"]]);
    }

    #[test]
    fn a_panic_of_the_judge_is_its_error() {
        struct Broken;
        impl Judge for Broken {
            async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
                panic!("out of paper")
            }
        }
        let metered = MeteredJudge::new(Broken.boxed());
        let error = run(metered.judge().ask(&JudgeRequest::new("m", "?"))).unwrap_err();
        assert_eq!(error.to_string(), "the judge panicked: out of paper");
        assert!(!metered.waited().still, "the question is closed");
    }
}

#[cfg(test)]
mod kept_tests {
    use super::*;
    use crate::judge::JudgeErrorKind;

    fn request(prompt: &str, sample: u32) -> JudgeRequest {
        JudgeRequest::new("m", prompt).with_template("right/1").with_sample(sample)
    }

    #[test]
    fn the_samples_of_a_question_stand_together_in_their_order() {
        let mut kept = Kept::default();
        let places: Vec<_> = [("a", 0), ("b", 0), ("a", 1)]
            .map(|(prompt, sample)| kept.asked(&request(prompt, sample)))
            .into();
        assert_eq!(places, [Some(0), Some(1), Some(0)]);
        kept.answered(0, 1, &Err(JudgeError::new(JudgeErrorKind::Timeout, "late")));
        kept.answered(0, 0, &Ok(JudgeReply::new("yes")));
        let questions = kept.of_model("m");
        assert_eq!(questions.len(), 2);
        assert_eq!((questions[0].template.as_deref(), questions[0].prompt.as_str()), (Some("right/1"), "a"));
        assert_eq!(questions[0].answers, ["yes", "no answer: late"]);
        assert!(kept.of_model("other").is_empty());
    }

    #[test]
    fn what_is_kept_has_a_limit() {
        let mut kept = Kept::default();
        for number in 0..100_000 {
            let place = kept.asked(&request(&format!("{number} {}", "ä".repeat(MAX_PROMPT_CHARS)), 0));
            if let Some(place) = place {
                kept.answered(place, 0, &Ok(JudgeReply::new("x".repeat(MAX_ANSWER_CHARS + 1))));
            }
            if kept.chars_left == 0 {
                break;
            }
        }
        let questions = kept.of_model("m");
        let length: usize = questions
            .iter()
            .map(|it| it.prompt.chars().count() + it.answers.iter().map(String::len).sum::<usize>())
            .sum();
        assert!((MAX_CHARS_OF_ALL..MAX_CHARS_OF_ALL + 2_000).contains(&length), "{length}");
        assert!(questions[0].prompt.ends_with("\n(… 2 more characters are not recorded)"));
        assert_eq!(kept.asked(&request("one more", 0)), None, "it is counted, and not kept");
    }

    #[test]
    fn a_key_at_the_cut_is_masked() {
        let mut kept = Kept::default();
        let key = format!("sk-ant-{}", "abcde01234".repeat(6));
        kept.asked(&request(
            &format!("{}{key} {}", "x ".repeat(MAX_PROMPT_CHARS / 2 - 6), "y".repeat(99)),
            0,
        ));
        assert!(!kept.of_model("m")[0].prompt.contains("abcde"));
    }
}
