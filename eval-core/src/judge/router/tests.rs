use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::judge::{MeteredJudge, ScriptedJudge};

/// A judge that costs money: it counts how often it was asked, and says the number.
#[derive(Clone, Default)]
struct Paid(Arc<AtomicUsize>);

impl Judge for Paid {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let asked = self.0.fetch_add(1, Ordering::SeqCst) + 1;
        Ok(JudgeReply::new(format!("{}: answer {asked}", request.model)))
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn file(test: &str) -> PathBuf {
    let path =
        std::env::temp_dir().join(format!("eval-core-router-{}-{test}.judge.json", std::process::id()));
    drop(std::fs::remove_file(&path));
    path
}

fn settings(mode: Option<JudgeMode>) -> Settings {
    Settings { mode, ..Settings::default() }
}

fn ask(judges: &JudgeRouter, prompt: &str) -> Result<String, JudgeError> {
    run(judges.of_case("a case").ask(&JudgeRequest::new("m", prompt))).map(|reply| reply.text)
}

#[test]
fn an_offline_judge_is_asked_whatever_the_environment_says() {
    for mode in [None, Some(JudgeMode::Replay), Some(JudgeMode::Record), Some(JudgeMode::Live)] {
        let path = file("offline");
        let named = JudgeSource::Judge(ScriptedJudge::new(["yes"]).boxed());
        let judges = JudgeRouter::new(settings(mode), named, Some(RecordingStore::on_disk(&path)));
        assert_eq!(ask(&judges, "?").unwrap(), "yes");
        assert!(!path.exists(), "{mode:?}");
    }
}

#[test]
fn without_a_recording_a_paid_judge_is_asked_only_on_demand() {
    let paid = Paid::default();
    let judges = |mode, store: Option<&str>| {
        JudgeRouter::new(
            settings(mode),
            JudgeSource::Judge(paid.clone().boxed()),
            store.map(|name| RecordingStore::on_disk(&file(name)).recorded_by("cargo test one".to_owned())),
        )
    };
    for mode in [None, Some(JudgeMode::Replay)] {
        let error = ask(&judges(mode, Some("absent")), "?").unwrap_err();
        assert_eq!(error.kind(), JudgeErrorKind::NoJudge);
        let text = error.to_string();
        for part in [
            "EVALSET_JUDGE=live",
            "EVALSET_MISSING_JUDGE=skip",
            "record it  EVALSET_JUDGE=record cargo test one",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let error = ask(&judges(mode, None), "?").unwrap_err();
        assert!(error.to_string().contains("`RecordedJudge::open(path, judge)`"), "{error}");
    }
    assert_eq!(paid.0.load(Ordering::SeqCst), 0);
    assert_eq!(ask(&judges(Some(JudgeMode::Live), None), "?").unwrap(), "m: answer 1");
    let error = ask(&judges(Some(JudgeMode::Record), None), "?").unwrap_err();
    assert_eq!(error.kind(), JudgeErrorKind::Failed, "a place to record to was asked for: {error}");
}

#[test]
fn what_is_recorded_is_replayed_and_not_asked_again() {
    let (paid, path) = (Paid::default(), file("replayed"));
    let judges = |mode| {
        let store = RecordingStore::on_disk(&path);
        JudgeRouter::new(settings(mode), JudgeSource::Judge(paid.clone().boxed()), Some(store))
    };
    let record = Some(JudgeMode::Record);
    for _ in 0..2 {
        assert_eq!(ask(&judges(record), "one").unwrap(), "m: answer 1");
    }
    assert_eq!(ask(&judges(record), "two").unwrap(), "m: answer 2");
    let replaying = judges(None);
    assert_eq!(ask(&replaying, "one").unwrap(), "m: answer 1");
    let unused = replaying.unused("a case").unwrap();
    assert!(unused.contains("1 answer to a prompt without a name, `m` that"), "{unused}");
    assert_eq!(replaying.unused("another case"), None);
    assert_eq!(ask(&replaying, "two").unwrap(), "m: answer 2");
    assert_eq!(replaying.unused("a case"), None);
    assert_eq!(paid.0.load(Ordering::SeqCst), 2);
    assert_eq!(ask(&judges(Some(JudgeMode::Live)), "one").unwrap(), "m: answer 3");
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn cases_that_ask_one_question_at_the_same_time_ask_it_once_and_are_all_named() {
    let (paid, path) = (Paid::default(), file("at_once"));
    let store = RecordingStore::on_disk(&path);
    let named = JudgeSource::Judge(paid.clone().boxed());
    let judges = JudgeRouter::new(settings(Some(JudgeMode::Record)), named, Some(store));
    let ask = |case: usize| {
        let judge = judges.of_case(&format!("case {case}"));
        Box::pin(async move { judge.ask(&JudgeRequest::new("m", "?")).await.unwrap().text })
    };
    let answers = crate::guard::all(8, (0..8).map(ask)).await;
    assert_eq!(answers, ["m: answer 1"; 8]);
    drop(judges);
    let recording =
        eval_format::recording::Recording::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(recording.questions()[0].cases.len(), 8);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn the_model_of_the_environment_is_asked_and_recorded() {
    let path = file("model");
    let with = Settings { model: Some("other".to_owned()), ..settings(Some(JudgeMode::Record)) };
    let judges = JudgeRouter::new(
        with,
        JudgeSource::Judge(Paid::default().boxed()),
        Some(RecordingStore::on_disk(&path)),
    );
    assert_eq!(ask(&judges, "?").unwrap(), "other: answer 1");
    let judges = JudgeRouter::new(settings(None), JudgeSource::Nobody, Some(RecordingStore::on_disk(&path)));
    let error = ask(&judges, "?").unwrap_err().to_string();
    assert!(error.contains("- model: other\n  + model: m"), "{error}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_miss_is_compared_with_what_its_own_case_asked() {
    let path = file("miss");
    let mut recording = eval_format::recording::Recording::default();
    for (case, prompt) in
        [("other", "fence 1\nnew words\nfence 1"), ("a case", "fence 1\nold words\nfence 1")]
    {
        recording
            .add(eval_format::recording::RecordedQuestion::new("m", prompt).case(case).reply(0, "yes", None));
    }
    std::fs::write(&path, recording.to_json()).unwrap();
    let judges = JudgeRouter::new(settings(None), JudgeSource::Nobody, Some(RecordingStore::on_disk(&path)));
    let error = ask(&judges, "fence 2\nnew words\nfence 2").unwrap_err().to_string();
    assert!(error.contains("\n  - old words\n"), "{error}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_function_is_called_once_and_its_error_counts_only_where_it_is_asked() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    fn broken() -> Making {
        Box::pin(async {
            CALLS.fetch_add(1, Ordering::SeqCst);
            Err("no key".into())
        })
    }
    let judges = JudgeRouter::new(settings(Some(JudgeMode::Live)), JudgeSource::Function(broken), None);
    for _ in 0..2 {
        let error = ask(&judges, "?").unwrap_err();
        assert_eq!(error.to_string(), "the function of `judge = ..` made no judge: no key");
        assert_eq!(error.kind(), JudgeErrorKind::Failed, "a judge that breaks is not one that is missing");
    }
    assert_eq!(CALLS.load(Ordering::SeqCst), 1);
    let nameless = not_made(&std::env::VarError::NotPresent).to_string();
    assert!(
        nameless.contains("made no judge: environment variable not found (its name: `std::env::var(NAME)")
    );
    let path = file("function");
    let recording = eval_format::recording::RecordedQuestion::new("m", "?").reply(0, "yes", None);
    let mut file = eval_format::recording::Recording::default();
    file.add(recording);
    std::fs::write(&path, file.to_json()).unwrap();
    let judges =
        JudgeRouter::new(settings(None), JudgeSource::Function(broken), Some(RecordingStore::on_disk(&path)));
    assert_eq!(ask(&judges, "?").unwrap(), "yes");
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn questions_at_the_same_time_make_one_judge() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    fn slow() -> Making {
        Box::pin(async {
            CALLS.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            Ok(ScriptedJudge::new(["yes"; 3]).boxed())
        })
    }
    let judges = JudgeRouter::new(settings(None), JudgeSource::Function(slow), None);
    let ask = || async { judges.of_case("a case").ask(&JudgeRequest::new("m", "?")).await };
    let (one, two, three) = tokio::join!(ask(), ask(), ask());
    assert!([one, two, three].into_iter().all(|answer| answer.unwrap().text == "yes"));
    assert_eq!(CALLS.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_given_up_leaves_the_making_to_the_next() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    fn hangs_at_first() -> Making {
        Box::pin(async {
            if CALLS.fetch_add(1, Ordering::SeqCst) == 0 {
                std::future::pending::<()>().await;
            }
            Ok(ScriptedJudge::new(["yes"]).boxed())
        })
    }
    let judges = JudgeRouter::new(settings(None), JudgeSource::Function(hangs_at_first), None);
    let judge = judges.of_case("a case");
    let request = JudgeRequest::new("m", "?");
    let given_up = tokio::time::timeout(Duration::from_secs(1), judge.ask(&request));
    let waits = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        judge.ask(&request).await
    };
    let (given_up, answer) = tokio::join!(given_up, waits);
    assert!(given_up.is_err());
    assert_eq!((answer.unwrap().text.as_str(), CALLS.load(Ordering::SeqCst)), ("yes", 2));
}

#[tokio::test]
async fn a_function_that_panics_is_called_once_and_its_panic_is_an_error() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    fn panics() -> Making {
        Box::pin(async {
            CALLS.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            panic!("out of paper")
        })
    }
    let judges = JudgeRouter::new(settings(Some(JudgeMode::Live)), JudgeSource::Function(panics), None);
    let ask = || async { judges.of_case("a case").ask(&JudgeRequest::new("m", "?")).await };
    let (one, two) = tokio::join!(ask(), ask());
    for error in [one.unwrap_err(), two.unwrap_err(), ask().await.unwrap_err()] {
        let expected = "the function of `judge = ..` made no judge: panicked: out of paper";
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(CALLS.load(Ordering::SeqCst), 1);
}

#[test]
fn only_a_judge_that_is_missing_may_be_skipped() {
    let skipping = Settings { skip_missing: true, ..Settings::default() };
    for (settings, kind, skips) in [
        (skipping.clone(), JudgeErrorKind::NoJudge, true),
        (skipping.clone(), JudgeErrorKind::NotRecorded, false),
        (skipping, JudgeErrorKind::Failed, false),
        (Settings::default(), JudgeErrorKind::NoJudge, false),
    ] {
        let judges = JudgeRouter::new(settings, JudgeSource::Nobody, None);
        assert_eq!(judges.skips(&JudgeError::new(kind, "")), skips, "{kind:?}");
    }
    let metered = MeteredJudge::new(JudgeRouter::default().of_case("c"));
    assert!(run(metered.judge().ask(&JudgeRequest::new("m", "?"))).is_err());
    assert_eq!(metered.missed().map(|error| error.kind()), Some(JudgeErrorKind::NoJudge));
}

/// Hangs, and says so itself after its own time limit, as models over HTTP do. It counts how often it was asked.
#[derive(Clone)]
struct Hangs {
    asked: Arc<AtomicUsize>,
    own_limit: bool,
}

impl Judge for Hangs {
    async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.own_limit {
            tokio::time::sleep(Duration::from_mins(2)).await;
            return Err(JudgeError::new(JudgeErrorKind::Timeout, "too late"));
        }
        std::future::pending().await
    }

    fn time_limit(&self) -> Option<Duration> {
        (!self.own_limit).then_some(Duration::from_secs(90))
    }
}

#[tokio::test(start_paused = true)]
async fn a_judge_that_hangs_is_asked_once() {
    for (own_limit, after) in [(false, 90), (true, 120)] {
        let hangs = Hangs { asked: Arc::default(), own_limit };
        let source = JudgeSource::Judge(hangs.clone().boxed());
        let judge = JudgeRouter::new(settings(Some(JudgeMode::Live)), source, None).of_case("a case");
        let begun = tokio::time::Instant::now();
        let criterion = eval_format::Criterion::new(1.0);
        let judging = crate::judge::JudgeClient::new(judge, &criterion);
        for question in ["one?", "another?"] {
            let error = judging.vote("t/1", question, |_| Ok(Some(true))).await.unwrap_err();
            assert_eq!(error.kind(), JudgeErrorKind::Timeout);
        }
        assert_eq!((hangs.asked.load(Ordering::SeqCst), begun.elapsed().as_secs()), (1, after));
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_judge_has_one_budget_for_all_samples_of_a_question() {
    struct Slow;
    impl Judge for Slow {
        async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
            tokio::time::sleep(Duration::from_secs(80)).await;
            // Unreadable, so that it is asked again.
            Ok(JudgeReply::new("?"))
        }
    }
    for (budget, after) in [(None, 300), (Some(Duration::from_secs(200)), 200)] {
        let with = Settings { budget, ..settings(Some(JudgeMode::Live)) };
        let judge = JudgeRouter::new(with, JudgeSource::Judge(Slow.boxed()), None).of_case("a case");
        let begun = tokio::time::Instant::now();
        let judging = crate::judge::JudgeClient::new(judge, &eval_format::Criterion::new(1.0));
        let vote = judging.vote("t/1", "?", |_| Err("it is no verdict".to_owned())).await;
        assert!(vote.is_err());
        assert_eq!(begun.elapsed().as_secs(), after);
    }
}
