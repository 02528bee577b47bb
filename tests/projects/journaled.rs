//! The journal of real test processes: shared, killed, retried, and where nothing can be written.

use std::fs;
use std::path::{Path, PathBuf};

use eval_core::Verdict;
use eval_core::report::Role;
use eval_report::journal::{self, Attempt, RecordedRun, RecordedTest};

use crate::project::{Draft, Project, TestBinary, echo_set, target};
use crate::run::Run;

fn project() -> Project {
    let first = [
        ("a_hello", "hello"),
        ("b_fatal", "die"),
        ("c_flaky", "flaky"),
        ("d_secret", "secret"),
        ("e_no_agent", "anybody?"),
        ("f_late", "good night"),
    ];
    Draft::new("journaled")
        .file("evals/first.evalset.json", echo_set(&first))
        .file("evals/second.evalset.json", echo_set(&[("only", "hi")]))
        .shared()
}

/// A folder for the journals of one test.
fn folder(name: &str) -> PathBuf {
    let folder = target().join("journals").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target folder is ours");
    folder
}

fn shown(folder: &Path) -> &str {
    folder.to_str().expect("the target folder has a plain name")
}

/// Runs cargo with a folder for the journals.
fn cargo(project: &Project, folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Run {
    let mut command = project.command();
    command.args(args).env("EVALSET_DIR", folder).envs(variables.iter().copied());
    Run::of(&mut command)
}

/// The only run of a folder.
#[track_caller]
fn only_run(folder: &Path) -> RecordedRun {
    let runs = journal::runs(folder).expect("it can be read");
    let [run] = runs.as_slice() else { panic!("not one run: {runs:?}") };
    RecordedRun::read(&run.path).expect("it can be read")
}

fn names(run: &RecordedRun) -> Vec<&str> {
    run.tests.iter().map(RecordedTest::name).collect()
}

#[track_caller]
fn test<'a>(run: &'a RecordedRun, name: &str) -> &'a RecordedTest {
    let test = run.tests.iter().find(|test| test.name() == name);
    test.unwrap_or_else(|| panic!("no {name} among {:?}", names(run)))
}

#[track_caller]
fn last<'a>(run: &'a RecordedRun, name: &str) -> &'a Attempt {
    test(run, name).last().expect("a test that is listed has begun")
}

fn verdict(attempt: &Attempt) -> Option<&Verdict> {
    attempt.decided.as_ref().map(|decided| &decided.verdict)
}

/// The binary of `tests/first.rs`, and variables that send its journal into a folder.
fn first() -> TestBinary {
    project().test_binary("tests/first.rs")
}

#[test]
fn the_binaries_of_one_cargo_test_share_a_run_and_the_next_one_begins_another() {
    let (project, folder) = (project(), folder("shared"));
    cargo(&project, &folder, &["test", "--no-fail-fast"], &[]).fails();
    let run = only_run(&folder);
    assert_eq!(
        names(&run),
        [
            "first::a_hello",
            "first::b_fatal",
            "first::c_flaky",
            "first::d_secret",
            "first::e_no_agent",
            "first::f_late",
            "second::only"
        ]
    );
    assert!(run.tests.iter().all(|test| test.package() == Some("journaled") && !test.is_unfinished()));
    assert_eq!((run.torn, run.unreadable.len()), (0, 0));

    let hello = last(&run, "first::a_hello");
    assert_eq!(verdict(hello), Some(&Verdict::Passed));
    assert_eq!(hello.started.file.as_deref(), Some("evals/first.evalset.json"));
    assert_eq!(hello.started.line, Some(4));
    assert_eq!((hello.head.binary.as_deref(), hello.head.version.as_deref()), (Some("first"), Some("0.0.0")));
    let scored = hello.evaluations[0].scored.as_ref().expect("it was scored");
    assert_eq!(scored.metrics[0].name, "tool_trajectory_avg_score");

    let broken = last(&run, "first::e_no_agent");
    let decided = broken.decided.as_ref().expect("it was decided");
    assert!(matches!(&decided.verdict, Verdict::Error { role: Role::Setup, .. }), "{decided:?}");
    assert!(
        decided
            .failure
            .as_deref()
            .unwrap_or_default()
            .starts_with("Error: first::e_no_agent: setup error: nobody is there"),
        "{decided:?}"
    );
    assert_eq!(
        broken.evaluations[0].ran.transcript.error.as_ref().map(|error| error.role),
        Some(Role::Setup)
    );
    assert_eq!(last(&run, "second::only").evaluations.len(), 2);

    let latest = journal::latest(&folder).expect("there is one");
    cargo(&project, &folder, &["test", "--test", "second"], &[]).passes();
    let runs = journal::runs(&folder).expect("it can be read");
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[1], latest, "the newest comes first");
    assert_eq!(journal::latest(&folder), Some(runs[0].clone()));
}

#[test]
fn a_failing_test_says_where_its_record_is() {
    let run =
        first().run(&["first::e_no_agent", "--exact"]).fails().says("whole record  cargo evalset report ");
    let output = run.output();
    let record = output.lines().find_map(|line| line.trim().strip_suffix(".jsonl"));
    let record = PathBuf::from(format!("{}.jsonl", record.unwrap_or_else(|| panic!("no file:\n{run}"))));
    assert!(
        record.starts_with(target().join("evalset")),
        "it lies in the target folder: {}",
        record.display()
    );
    let read = RecordedRun::read(record.parent().expect("it lies in a folder")).expect("it can be read");
    assert_eq!(names(&read), ["first::e_no_agent"]);
    let run = first().run_with(&[("EVALSET_JOURNAL", "off")], &["first::e_no_agent", "--exact"]).fails();
    run.says("whole record  EVALSET_PRINT=record ");
}

#[cfg(unix)]
#[test]
fn kill_9_loses_the_case_in_flight_and_nothing_else() {
    let folder = folder("killed");
    let variables = [("EVALSET_DIR", shown(&folder)), ("EVALSET_RUN_ID", "killed"), ("DIE", "1")];
    first().run_with(&variables, &["--test-threads=1"]).fails();
    let run = only_run(&folder);
    assert_eq!(run.ids, ["killed"]);
    assert_eq!(names(&run), ["first::a_hello", "first::b_fatal"]);
    assert_eq!(verdict(last(&run, "first::a_hello")), Some(&Verdict::Passed));
    assert!(test(&run, "first::b_fatal").is_unfinished());
    assert_eq!((run.torn, run.unreadable.len()), (0, 0));

    // The next process of the same run adds what is missing, in a file of its own.
    let rest = ["--test-threads=1", "--skip", "a_hello", "--skip", "e_no_agent"];
    first().run_with(&variables[..2], &rest).passes();
    let run = only_run(&folder);
    let fatal = test(&run, "first::b_fatal");
    assert_eq!(fatal.attempts.iter().map(|it| it.decided.is_some()).collect::<Vec<_>>(), [true, false]);
    assert!(fatal.is_unfinished(), "of two processes with one attempt the worse counts");
    assert_eq!(run.tests.len(), 5);
}

/// Each call records what it runs. That no further call was to come, only the end of the process tells.
#[cfg(unix)]
#[test]
fn hand_written_tests_whose_process_is_killed_between_two_calls_have_not_ended() {
    let binary = Draft::new("by_hand").shared().test_binary("tests/by_hand.rs");
    for (how, passes, cases, unended) in [
        ("runs", true, &["by_hand/first", "by_hand/last"][..], 0),
        ("panics", false, &["by_hand/first", "by_hand/last"], 0),
        ("exits", true, &["by_hand/first"], 0),
        ("killed", false, &["by_hand/first"], 1),
    ] {
        let folder = folder(&format!("by_hand_{how}"));
        let variables = [("EVALSET_DIR", shown(&folder)), ("BY_HAND", how)];
        let run = binary.run_with(&variables, &["--test-threads=1"]);
        let _ = if passes { run.passes() } else { run.fails() };
        let run = only_run(&folder);
        assert_eq!((names(&run), run.unended.len()), (cases.to_vec(), unended), "{how}");
        assert_eq!(run.processes.len(), 1, "the runners of a process share its journal");
        assert!(run.tests.iter().all(|test| !test.is_unfinished()), "{how}");
    }
}

/// Its code is 0, which the harness, cargo and nextest take for success.
#[cfg(unix)]
#[test]
fn an_agent_that_exits_the_process_fails_it_whatever_the_code() {
    for how in ["here", "local"] {
        let folder = folder(&format!("exited_{how}"));
        let variables = [("EVALSET_DIR", shown(&folder)), ("EXIT", how)];
        let says =
            "Error: first::b_fatal: harness error: `std::process::exit` was called while this test ran";
        first().run_with(&variables, &["--test-threads=1"]).fails().says(says);
        let run = only_run(&folder);
        assert_eq!(names(&run), ["first::a_hello", "first::b_fatal"]);
        assert!(test(&run, "first::b_fatal").is_unfinished());
    }
}

/// The harness does not see such an end. The record does: the test that was running has no verdict.
#[cfg(unix)]
#[test]
fn a_process_that_ends_on_another_thread_or_is_replaced_leaves_its_test_unfinished() {
    for how in ["blocking", "exec"] {
        let folder = folder(&format!("exited_{how}"));
        let variables = [("EVALSET_DIR", shown(&folder)), ("EXIT", how)];
        first().run_with(&variables, &["--test-threads=1"]).passes();
        let run = only_run(&folder);
        assert_eq!(names(&run), ["first::a_hello", "first::b_fatal"]);
        assert!(test(&run, "first::b_fatal").is_unfinished());
    }
}

#[test]
fn where_nothing_can_be_written_a_sentence_says_so_and_verdicts_stay() {
    let folder = folder("unwritable");
    let file = folder.join("file");
    fs::write(&file, "in the way").expect("the folder is ours");
    let inside = file.join("evalset");
    let skip = ["--test-threads=1", "--skip", "e_no_agent"];
    let run = first().run_with(&[("EVALSET_DIR", shown(&inside))], &skip).passes();
    assert_eq!(run.output().matches("no journal of this process: cannot write in").count(), 1, "{run}");
    let run = first().run_with(&[("EVALSET_DIR", shown(&inside))], &[]).fails();
    run.says("5 passed; 1 failed");
}

/// The system refuses to let a file grow beyond a size, in the middle of a record: what a full disk does.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_tears_one_line_and_changes_no_verdict() {
    let folder = folder("full");
    let command = first().command(&[], &[]);
    let program = command.get_program().to_str().expect("the target folder has a plain name").to_owned();
    let line = format!(
        "trap '' XFSZ; ulimit -f 4; EVALSET_DIR='{}' exec '{program}' --test-threads=1 --skip e_no_agent",
        shown(&folder)
    );
    let run = project().shell(&line).passes();
    assert_eq!(
        run.output().matches("the journal of this process ends early: cannot write `").count(),
        1,
        "{run}"
    );
    let run = only_run(&folder);
    assert_eq!((run.torn, run.unreadable.len()), (1, 0));
    assert!(!run.tests.is_empty());
}

#[test]
fn variables_are_obeyed_or_refused() {
    let folder = folder("variables");
    let hello = ["first::a_hello", "--exact"];
    let with = |name, value| first().run_with(&[("EVALSET_DIR", shown(&folder)), (name, value)], &hello);
    with("EVALSET_JOURNAL", "off").passes();
    assert_eq!(journal::runs(&folder).expect("it can be read"), []);
    for (name, value, message) in [
        ("EVALSET_JOURNAL", "no", "`EVALSET_JOURNAL` is `no`; it can be `on` (the default) or `off`"),
        ("EVALSET_KEEP", "none", "`EVALSET_KEEP` is `none`; it is the number of runs"),
        ("EVALSET_RUN_ID", "a/b", "`EVALSET_RUN_ID` is `a/b`; it names a folder"),
    ] {
        with(name, value).fails().says(message).says("harness error");
    }
    let run = first().run_with(&[("EVALSET_DIR", "here")], &hello).fails();
    run.says("`EVALSET_DIR` is `here`").says("name an absolute path");

    let ids: Vec<String> = (0..4)
        .map(|_| {
            with("EVALSET_KEEP", "2").passes();
            journal::latest(&folder).expect("it was just written").id
        })
        .collect();
    let left: Vec<String> =
        journal::runs(&folder).expect("it can be read").into_iter().map(|run| run.id).collect();
    assert!(ids.iter().all(|id| left.contains(id)), "tests remove no run: {left:?}");
}

#[test]
fn the_value_of_a_key_is_in_no_journal() {
    let folder = folder("secrets");
    let key = "correct-horse-battery";
    let names = ["DEMO_API_KEY", "DEMO_PAT", "DEMO_DB_PASS", "DEMO_SECRET_ACCESS_KEY", "DEMO_KEY_2"];
    let values: Vec<String> = names.iter().map(|name| format!("{key}-{name}")).collect();
    let url = format!("postgres://me:{key}@db.test/x");
    let mut variables = vec![("EVALSET_DIR", shown(&folder)), ("DEMO_Z_URL", url.as_str())];
    variables.extend(names.iter().copied().zip(values.iter().map(String::as_str)));
    for print in ["failures", "all", "record"] {
        let with: Vec<_> = variables.iter().copied().chain([("EVALSET_PRINT", print)]).collect();
        first()
            .run_with(&with, &["first::d_secret", "--exact"])
            .fails()
            .says("(the value of")
            .never_says(key);
        if print != "record" {
            fs::remove_dir_all(&folder).expect("only one run is looked at");
        }
    }
    let run = only_run(&folder);
    let attempt = last(&run, "first::d_secret");
    let said = attempt.evaluations[0].ran.transcript.turns[0].invocation.response_text();
    for name in names {
        assert!(said.contains(&format!("(the value of {name})")), "{said}");
    }
    assert!(said.contains("postgres://(a key)@db.test/x"), "{said}");
    let text = fs::read_to_string(&attempt.file).expect("it was just read");
    assert!(!text.contains(key), "{text}");
}

#[test]
fn the_processes_of_one_nextest_run_share_it_and_attempts_are_kept_apart() {
    let (project, folder) = (project(), folder("nextest"));
    if !project.has(&["nextest", "--version"]) {
        return;
    }
    let marker = folder.join("was-here");
    let args = ["nextest", "run", "--retries", "1", "-E", "not test(e_no_agent)"];
    cargo(&project, &folder, &args, &[("FAIL_UNLESS_EXISTS", shown(&marker))]).passes();
    let run = only_run(&folder);
    assert_eq!(run.tests.len(), 6);
    let flaky = test(&run, "first::c_flaky");
    let attempts: Vec<_> = flaky.attempts.iter().map(|it| (it.started.attempt, verdict(it))).collect();
    assert_eq!(attempts, [(1, Some(&Verdict::Failed)), (2, Some(&Verdict::Passed))]);
    let nextest = last(&run, "first::a_hello").head.env.get("NEXTEST_RUN_ID");
    assert_eq!(nextest, run.ids.first());
}
