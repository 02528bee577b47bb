//! Metrics that ask a judge.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use eval_format::Criterion;

use super::{case, run};
use crate::EvalRunner;
use crate::agent::{BoxError, Replay};
use crate::judge::{Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};
use crate::judge_outcome::asks_for_a_recording;
use crate::metric::{Metric, MetricInput, Score, Scores};
use crate::report::CaseReport;
use crate::verdict::{Role, Verdict};

/// A judge that takes its time, and does not answer everything.
struct Slow;

impl Judge for Slow {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        tokio::time::sleep(Duration::from_millis(400)).await;
        match request.prompt.as_str() {
            "unrecorded" if request.sample > 0 => {
                Err(JudgeError::new(JudgeErrorKind::NotRecorded, "not recorded: sample 1"))
            }
            "refused" => Err(JudgeError::new(JudgeErrorKind::Refused, "I would rather not")),
            _ => Ok(JudgeReply::new("yes")),
        }
    }

    fn is_offline(&self) -> bool {
        true
    }
}

/// Asks the prompt of the criterion several times; afterwards it may hang.
struct Ask;

impl Metric for Ask {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let prompt = input.criterion.get("prompt").and_then(|prompt| prompt.as_str()).unwrap_or("?");
        let vote = input.judging().vote("ask/1", prompt, |reply| Ok(Some(reply == "yes"))).await?;
        if prompt == "hang" {
            std::future::pending::<()>().await;
        }
        Ok([Score::from(vote.passed)].into_iter().collect())
    }
}

fn report(prompt: &str) -> CaseReport {
    let criterion = Criterion::new(1.0).with("prompt", prompt);
    let runner = EvalRunner::new().metric("ask", Ask).criterion("ask", criterion);
    let runner = runner.judge(Slow).timeout(Duration::from_millis(200));
    run(runner.run_case(&case("c", &[("hi", "hi")]), || Replay::new([["hi"]]))).unwrap()
}

#[test]
fn waiting_for_a_judge_does_not_use_up_the_time_of_a_metric() {
    assert_eq!(report("fine").verdict, Verdict::Passed);
    assert_eq!(
        report("hang").verdict,
        Verdict::error(Role::Metric, "ask: timed out after 200ms (`timeout` sets the limit)")
    );
}

#[test]
fn trouble_of_the_judge_is_the_judges_and_no_vote_is_taken_over_what_is_recorded_by_chance() {
    for (prompt, message) in
        [("unrecorded", "ask: not recorded: sample 1"), ("refused", "ask: I would rather not")]
    {
        assert_eq!(report(prompt).verdict, Verdict::error(Role::Judge, message));
    }
}

#[test]
fn what_is_not_recorded_is_told_in_lines_with_the_turn_that_it_is_about() {
    struct Recorded;
    impl Judge for Recorded {
        async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
            if request.prompt.contains("bye") {
                let message = "not recorded: `x` has no answer to this question\n  - ciao\n  + bye";
                return Err(JudgeError::new(JudgeErrorKind::NotRecorded, message));
            }
            Ok(JudgeReply::new("{\"is_the_agent_response_valid\": \"valid\"}"))
        }

        fn is_offline(&self) -> bool {
            true
        }
    }
    let report = |turns: &[(&str, &str)]| {
        let runner = EvalRunner::new().criterion("final_response_match_v2", Criterion::new(1.0));
        let agent = || Replay::new(turns.iter().map(|(_, answer)| [*answer]));
        run(runner.judge(Recorded).run_case(&case("c", turns), agent)).unwrap()
    };
    for (turns, turn) in [(&[("hi", "hi"), ("go", "bye")][..], "turn 2: "), (&[("go", "bye")], "")] {
        let report = report(turns);
        let headline =
            format!("final_response_match_v2: {turn}not recorded: `x` has no answer to this question");
        assert!(asks_for_a_recording(&report.verdict));
        let text = report.to_string();
        assert!(text.starts_with(&format!("Error: c: {headline}\n")), "{text}");
        assert_eq!(text.matches("\n  |   - ciao\n  |   + bye").count(), 1, "{text}");
        assert_eq!(
            report.runs[0].metrics[0].judge[0].questions.last().unwrap().answers[0].lines().count(),
            1
        );
    }
    assert!(!asks_for_a_recording(&Verdict::error(Role::Metric, "not recorded: x")));
    assert!(!asks_for_a_recording(&Verdict::error(Role::Judge, "503")));
}

#[test]
fn a_judge_that_hangs_is_an_error_of_the_judge() {
    #[derive(Default)]
    struct Hangs(AtomicUsize);
    impl Judge for Hangs {
        async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
            self.0.fetch_add(1, Ordering::SeqCst);
            std::future::pending().await
        }

        fn is_offline(&self) -> bool {
            true
        }

        fn time_limit(&self) -> Option<Duration> {
            Some(Duration::from_millis(20))
        }
    }
    let judge = Arc::new(Hangs::default());
    let criterion = || Criterion::new(0.5).with_num_samples(5);
    let runner = EvalRunner::new().criterion("safety_v1", criterion());
    let runner = runner.criterion("multi_turn_task_success_v1", criterion()).judge(judge.clone());
    let report = run(runner.run_case(&case("c", &[("hi", "hi")]), || Replay::new([["hi"]]))).unwrap();
    let said = "safety_v1: the judge gave no answer within 20ms; `EVALSET_JUDGE_TIMEOUT` says how many seconds it may take";
    assert_eq!(report.verdict, Verdict::error(Role::Judge, said));
    assert_eq!(judge.0.load(Ordering::SeqCst), 1, "it is not waited for once more");
}

/// Whether the agent says anything.
struct Talks;
impl Metric for Talks {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        Ok(input.actual.iter().map(|_| Score::from(true)).collect())
    }
}

#[test]
fn criteria_of_the_program_leave_the_simulated_user_of_the_folder_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = eval_format::ConversationScenario::new("Hi", "Book a room.");
    let set = eval_format::EvalSet::new("s").case(eval_format::EvalCase::new("c").scenario(scenario));
    std::fs::write(folder.path().join("s.evalset.json"), set.to_json()).unwrap();
    let config = r#"{"criteria": {"safety_v1": 0.5}, "user_simulator_config": {"model": "of-the-folder"}}"#;
    std::fs::write(folder.path().join("test_config.json"), config).unwrap();
    let models = Arc::new(std::sync::Mutex::new(Vec::new()));
    let asked = models.clone();
    let judge = crate::judge::judge_fn(move |request| {
        asked.lock().unwrap().push(request.model);
        async { "</finished>" }
    });
    let runner = EvalRunner::new().criterion("talks", Criterion::new(1.0)).metric("talks", Talks);
    let runner = runner.judge(judge.offline());
    let report = run(runner.run_dir(folder.path(), || Replay::new([["Hello!"]]), 1)).unwrap();
    assert!(report.all_passed(), "{report}");
    assert_eq!(*models.lock().unwrap(), ["of-the-folder"]);
}
