use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use eval_format::__private::line_of;
use eval_format::recording::{RecordedQuestion, Recording};
use eval_support::lock::FolderLock;

use super::RecordedJudge;
use super::file::lines_path;
use crate::judge::{
    Judge, JudgeError, JudgeErrorKind, JudgeMode, JudgePrompt, JudgeReply, JudgeRequest, ScriptedJudge,
};

/// A folder of its own, gone when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let root =
            std::env::temp_dir().join(format!("eval-core-recorded_judge-{}-{test}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        Self(root)
    }

    fn file(&self) -> PathBuf {
        self.0.join("x.judge.json")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn nobody() -> ScriptedJudge {
    ScriptedJudge::new([""; 0])
}

fn request(prompt: &str) -> JudgeRequest {
    JudgeRequest::new("m", prompt).with_template("polite/2")
}

fn replay(folder: &Folder, request: &JudgeRequest) -> Result<String, JudgeError> {
    let recorded_judge = RecordedJudge::with_mode(folder.file(), nobody(), JudgeMode::Replay).unwrap();
    run(recorded_judge.ask(request)).map(|reply| reply.text)
}

#[test]
fn samples_are_recorded_each_and_errors_are_not() {
    let folder = Folder::new("samples");
    let script = [
        Ok(JudgeReply::new("zero")),
        Err(JudgeError::new(JudgeErrorKind::Failed, "503")),
        Ok(JudgeReply::new("one")),
    ];
    let recorded_judge =
        RecordedJudge::with_mode(folder.file(), ScriptedJudge::results(script), JudgeMode::Record).unwrap();
    let sample = |sample| JudgeRequest { sample, ..request("?") };
    for (at, expected) in [(0, Ok("zero")), (1, Err("503")), (1, Ok("one")), (0, Ok("zero"))] {
        let answer = run(recorded_judge.ask(&sample(at)));
        let answer = answer.map(|reply| reply.text).map_err(|error| error.to_string());
        assert_eq!(answer.as_deref().map_err(String::as_str), expected);
    }
    assert_eq!(replay(&folder, &sample(1)).unwrap(), "one");
    let error = replay(&folder, &sample(2)).unwrap_err();
    assert_eq!(error.kind(), JudgeErrorKind::NotRecorded);
    assert!(
        error.to_string().contains("has 2 samples of this question of `polite`, and not sample 3"),
        "{error}"
    );
}

#[test]
fn answers_of_a_recording_are_told_from_those_of_the_judge() {
    let folder = Folder::new("replayed");
    let replayed = |mode| {
        let recorded_judge =
            RecordedJudge::with_mode(folder.file(), ScriptedJudge::new(["yes"]), mode).unwrap();
        run(recorded_judge.ask(&request("?"))).unwrap().replayed
    };
    let modes = [JudgeMode::Record, JudgeMode::Record, JudgeMode::Replay, JudgeMode::Live];
    assert_eq!(modes.map(replayed), [false, true, true, false]);
}

#[test]
fn a_miss_shows_the_nearest_question_and_how_to_record() {
    let folder = Folder::new("miss");
    let mut recording = Recording::default();
    let recorded = |template: &str, prompt: &str| {
        let mut question = RecordedQuestion::new("m", prompt).reply(0, "yes", None);
        question.template = Some(template.to_owned());
        question
    };
    recording.add(recorded("other/1", "Is it right?\nIt is sunny.\nYes or no?"));
    recording.add(recorded("polite/2", "Is it polite?\nIt rains.\nYes or no?"));
    recording.add(recorded("polite/2", "Is it polite?\nIt is sunny.\nYes or no?"));
    recording.add(recorded("old/1", "Old words"));
    fs::write(folder.file(), recording.to_json()).unwrap();
    let error = replay(&folder, &request("Is it polite?\nIt is snowy,\nand cold.\nYes or no?")).unwrap_err();
    let shown = folder.file().display().to_string();
    let expected = format!(
        "not recorded: `{shown}` has no answer to this question of `polite`\n\
         the nearest recorded question of `polite` differs (- recorded, + asked):\n  prompt, from line 2\n  - It is sunny.\n  \
         + It is snowy,\n  + and cold.\nrecord it  EVALSET_JUDGE=record and the same command again"
    );
    assert_eq!(error.to_string(), expected);

    let renamed = request("New words").with_template("old/2");
    let error = replay(&folder, &renamed).unwrap_err().to_string();
    let expected =
        "not recorded: the prompt of `old` changed in this version (recorded /1, now /2): record again";
    assert_eq!(error.lines().next(), Some(expected));

    let warmer = JudgeRequest { temperature: Some(0.5), ..request("Is it polite?\nIt rains.\nYes or no?") };
    let error = replay(&folder, &warmer).unwrap_err().to_string();
    assert!(error.contains("\n  - temperature: none\n  + temperature: 0.5\nrecord it"), "{error}");
}

#[test]
fn prompts_are_compared_by_their_words_and_not_by_the_marks_around_data() {
    let folder = Folder::new("marks");
    let template = "{{about data}}\n{{answer}}\nPolite?";
    let prompt = |answer: &str| JudgePrompt::new(template).data("answer", answer).render();
    let asked = JudgeRequest::new("m", prompt("It rains.")).with_template("polite/2");
    let says = |recorded: &str| {
        let mut recording = Recording::default();
        let mut question = RecordedQuestion::new("m", recorded).reply(0, "yes", None);
        question.template = Some("polite/2".to_owned());
        recording.add(question);
        fs::write(folder.file(), recording.to_json()).unwrap();
        replay(&folder, &asked).unwrap_err().to_string()
    };
    // As an earlier version marked data.
    let mark = asked.prompt.split_once("<<<data-").unwrap().1.split_once(':').unwrap().0.to_owned();
    let error = says(&asked.prompt.replace(&mark, "1"));
    assert_eq!(
        error,
        "not recorded: the marks around data in the prompt of `polite` changed in this version: record again\n\
         record it  EVALSET_JUDGE=record and the same command again"
    );
    let error = says(&prompt("It is sunny."));
    assert!(error.contains("  prompt, from line 3\n  - It is sunny.\n  + It rains.\nrecord it"), "{error}");
}

#[test]
fn long_differences_are_cut() {
    let folder = Folder::new("long");
    let mut recording = Recording::default();
    recording.add(RecordedQuestion::new("m", "x\n".repeat(5_000)).reply(0, "yes", None));
    fs::write(folder.file(), recording.to_json()).unwrap();
    let error =
        replay(&folder, &request(&format!("{}\n", "y".repeat(10_000)).repeat(3))).unwrap_err().to_string();
    assert!(error.lines().count() < 20 && error.len() < 3_000, "{error}");
    assert!(error.contains("- ... and 4994 more lines"), "{error}");
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_and_stays_as_it_is() {
    let folder = Folder::new("torn");
    for text in ["", "{\"judge_recording\": 1, \"questions\": [", "<<<<<<< HEAD\n{}\n=======\n"] {
        fs::write(folder.file(), text).unwrap();
        for mode in [JudgeMode::Record, JudgeMode::Replay] {
            let error =
                RecordedJudge::with_mode(folder.file(), ScriptedJudge::new(["yes"]), mode).unwrap_err();
            assert!(error.to_string().contains("x.judge.json"), "{error}");
        }
        // It may also break during recording.
        fs::remove_file(folder.file()).unwrap();
        let recorded_judge =
            RecordedJudge::with_mode(folder.file(), ScriptedJudge::new(["yes"]), JudgeMode::Record).unwrap();
        fs::write(folder.file(), text).unwrap();
        let error = run(recorded_judge.ask(&request("?"))).unwrap_err();
        assert!(error.to_string().starts_with("cannot record: "), "{error}");
        assert_eq!(fs::read_to_string(folder.file()).unwrap(), text);
    }
}

#[test]
fn many_that_record_at_once_lose_nothing_and_leave_nothing_behind() {
    let folder = Folder::new("at_once");
    let (threads, questions) = (8, 12);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let file = folder.file();
            scope.spawn(move || {
                let answers = ScriptedJudge::new((0..questions).map(|at| format!("{thread} {at}")));
                let recorded_judge = RecordedJudge::with_mode(file, answers, JudgeMode::Record).unwrap();
                for at in 0..questions {
                    run(recorded_judge.ask(&request(&format!("{thread} {at}")))).unwrap();
                }
            });
        }
    });
    let recording = Recording::parse(&fs::read_to_string(folder.file()).unwrap()).unwrap();
    assert_eq!(recording.questions().len(), threads * questions);
    for question in recording.questions() {
        assert_eq!(question.replies[0].text, question.prompt);
    }
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "no drafts, no locks");
}

#[cfg(unix)]
#[test]
fn a_recording_behind_a_link_is_the_same_recording() {
    let folder = Folder::new("linked");
    let other = folder.0.join("other");
    fs::create_dir(&other).unwrap();
    let link = other.join("x.judge.json");
    std::os::unix::fs::symlink(folder.file(), &link).unwrap();
    for (path, prompt) in [(folder.file(), "one"), (link.clone(), "two"), (folder.file(), "three")] {
        let judge = RecordedJudge::with_mode(path, Arc::new(ScriptedJudge::new([prompt])), JudgeMode::Record)
            .unwrap();
        run(judge.ask(&request(prompt))).unwrap();
    }
    let recording = Recording::parse(&fs::read_to_string(folder.file()).unwrap()).unwrap();
    assert_eq!(recording.questions().len(), 3);
    assert!(link.symlink_metadata().unwrap().is_symlink(), "the link is not replaced by a file");
    assert_eq!(fs::read_dir(other).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_recording_that_is_read_only_is_named_before_an_answer_is_paid() {
    let folder = Folder::new("read-only");
    fs::write(folder.file(), Recording::default().to_json()).unwrap();
    let mut permissions = fs::metadata(folder.file()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(folder.file(), permissions).unwrap();
    let judge = Arc::new(ScriptedJudge::new(["yes"]));
    let recorded_judge = RecordedJudge::with_mode(folder.file(), judge.clone(), JudgeMode::Record).unwrap();
    let error = run(recorded_judge.ask(&request("?"))).unwrap_err().to_string();
    assert!(error.ends_with("x.judge.json`: the file is read-only"), "{error}");
    assert!(judge.requests().is_empty());
}

#[test]
fn a_place_that_takes_no_file_is_named() {
    let folder = Folder::new("unwritable");
    let file = folder.0.join("nowhere").join("x.judge.json");
    let judge = Arc::new(ScriptedJudge::new(["yes"]));
    let recorded_judge = RecordedJudge::with_mode(&file, judge.clone(), JudgeMode::Record).unwrap();
    let error = run(recorded_judge.ask(&request("?"))).unwrap_err().to_string();
    assert!(judge.requests().is_empty(), "an answer that cannot be kept is not paid for");
    let expected = format!("cannot record: cannot write `{}`: ", file.display());
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn a_recording_is_read_once() {
    let folder = Folder::new("once");
    let mut recording = Recording::default();
    recording.add(RecordedQuestion::new("m", "?").reply(0, "yes", None));
    fs::write(folder.file(), recording.to_json()).unwrap();
    let recorded_judge = RecordedJudge::with_mode(folder.file(), nobody(), JudgeMode::Replay).unwrap();
    fs::remove_file(folder.file()).unwrap();
    fs::write(folder.file(), "no longer a recording").unwrap();
    for _ in 0..3 {
        assert_eq!(run(recorded_judge.ask(&request("?"))).unwrap().text, "yes");
    }
    assert_eq!(recorded_judge.unused(), [""; 0]);
}

/// A judge that takes its time, and counts how often it was asked.
#[derive(Clone, Default)]
struct Slow(Arc<AtomicUsize>);

impl Judge for Slow {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(20)).await;
        Ok(JudgeReply::new(&*request.prompt))
    }
}

#[test]
fn waiting_for_another_process_that_records_holds_up_no_other_task() {
    let folder = Folder::new("frozen");
    let recorded_judge = RecordedJudge::with_mode(folder.file(), Slow::default(), JudgeMode::Record).unwrap();
    let held = FolderLock::beside(&folder.file()).unwrap();
    run(async {
        let question = request("?");
        let mut asked = std::pin::pin!(recorded_judge.ask(&question));
        let mut ticks = tokio::time::interval(Duration::from_millis(5));
        for _ in 0..20 {
            tokio::select! {
                _ = &mut asked => panic!("it waits for the lock"),
                _ = ticks.tick() => {}
            }
        }
        drop(held);
        assert_eq!(asked.await.unwrap().text, "?");
    });
}

#[test]
fn a_question_that_many_ask_at_the_same_time_is_asked_once() {
    let folder = Folder::new("one_flight");
    let slow = Slow::default();
    let open = || RecordedJudge::with_mode(folder.file(), slow.clone(), JudgeMode::Record).unwrap();
    // Each of them as a test of its own.
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let recorded_judge = open();
            std::thread::spawn(move || run(recorded_judge.ask(&request("?"))).unwrap())
        })
        .collect();
    let replies: Vec<JudgeReply> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(replies.iter().all(|reply| reply.text == "?"));
    assert_eq!(
        (slow.0.load(Ordering::SeqCst), replies.iter().filter(|reply| !reply.replayed).count()),
        (1, 1)
    );
}

#[test]
fn answers_are_added_and_the_recording_is_written_now_and_then() {
    let folder = Folder::new("added");
    let answers = 300;
    let judge = ScriptedJudge::new((0..answers).rev().map(|at| at.to_string()));
    let recorded_judge = RecordedJudge::with_mode(folder.file(), judge, JudgeMode::Record).unwrap();
    let (mut versions, mut before) = (0, None);
    for at in (0..answers).rev() {
        run(recorded_judge.ask(&request(&format!("{at}")))).unwrap();
        let now = fs::read_to_string(folder.file()).unwrap();
        versions += usize::from(before.as_ref() != Some(&now));
        before = Some(now);
    }
    assert!(versions < answers / 4, "it was written {versions} times for {answers} answers");
    let others = RecordedJudge::with_mode(folder.file(), nobody(), JudgeMode::Replay).unwrap();
    assert_eq!(
        run(others.ask(&request("0"))).unwrap().text,
        "0",
        "a line beside the recording belongs to it"
    );
    drop((recorded_judge, others));
    let text = fs::read_to_string(folder.file()).unwrap();
    let recording = Recording::parse(&text).unwrap();
    assert_eq!((recording.questions().len(), recording.to_json()), (answers, text), "it is sorted");
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "no lines are left");
}

#[test]
fn what_a_killed_process_left_is_replayed_and_taken_over_by_the_next_that_records() {
    let folder = Folder::new("killed");
    let line = line_of(&RecordedQuestion::new("m", "?").reply(0, "yes", None));
    fs::write(lines_path(&folder.file()), format!("{line}{}", &line[..line.len() / 2])).unwrap();
    assert_eq!(replay(&folder, &request("?")).unwrap(), "yes");
    assert!(!folder.file().exists(), "one that replays writes nothing");
    let recorded_judge = RecordedJudge::with_mode(folder.file(), nobody(), JudgeMode::Record).unwrap();
    assert_eq!(run(recorded_judge.ask(&request("?"))).unwrap().text, "yes", "nobody is asked again");
    drop(recorded_judge);
    let recording = Recording::parse(&fs::read_to_string(folder.file()).unwrap()).unwrap();
    assert_eq!(recording.questions().len(), 1);
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
}
