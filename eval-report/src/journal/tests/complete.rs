//! Comparison of the tests that were to run with those that began, from the journal alone.

use std::path::Path;

use eval_core::journal::{Beside, Ended, Listed, Planned};

use super::*;

/// A process of the tests: its arguments, whether nextest started it, whether its file says what the binary holds, and the tests that
/// began. A test whose name ends in `!` was killed.
struct Process {
    args: &'static str,
    nextest: bool,
    lists: bool,
    began: &'static [&'static str],
}

const CARGO: Process = Process { args: "", nextest: false, lists: true, began: &[] };
const NEXTEST: Process = Process { args: "--exact x", nextest: true, lists: false, began: &[] };
/// The file that one process under nextest writes for all.
const LISTING: Process = Process { args: "--exact x", nextest: true, lists: true, began: &[] };

fn write(folder: &Path, number: usize, process: &Process) {
    let set = |ignored: bool, tests: &[&str]| json!({ "tests": tests, "ignored": ignored });
    let mut head = head("p");
    head.args = process.args.split_whitespace().map(str::to_owned).collect();
    // Neither the binary nor the folder is on this machine.
    head.program = Some("/gone/evals-0123456789abcdef".to_owned());
    if process.nextest {
        head.env.insert("NEXTEST_RUN_ID".to_owned(), "r".to_owned());
    }
    let mut lines = vec![line(&head)];
    if process.lists {
        let sets = [set(false, &["w::a", "w::b"]), set(false, &["t::c"]), set(true, &["live::d", "live::e"])];
        lines.push(line(&made::<Listed>(json!({ "sets": sets }))));
    }
    for (name, test) in process.began.iter().zip(1..) {
        lines.push(line(&started(test, name.trim_end_matches('!'))));
        lines.extend((!name.ends_with('!')).then(|| line(&decided(test))));
    }
    fs::write(folder.join(format!("{number}.jsonl")), journal(&lines)).unwrap();
}

#[test]
fn what_was_to_run_is_known_without_the_binary() {
    const ALL: &[&str] = &["w::a", "w::b", "t::c"];
    for (what, processes, missing, left_out, unlisted) in [
        ("complete", vec![Process { began: ALL, ..CARGO }], "", 0, false),
        ("killed before any set began", vec![CARGO], "t::c w::a w::b", 0, false),
        ("killed in the first set", vec![Process { began: &["w::a!"], ..CARGO }], "t::c w::b", 0, false),
        (
            "killed before the other set",
            vec![Process { began: &["w::a", "w::b"], ..CARGO }],
            "t::c",
            0,
            false,
        ),
        ("a filter", vec![Process { args: "w::", began: &["w::a", "w::b"], ..CARGO }], "", 1, false),
        ("a filter, killed", vec![Process { args: "w::", began: &["w::a"], ..CARGO }], "w::b", 1, false),
        (
            "a filter of another set, killed before it began",
            vec![Process { args: "w::a --exact", ..CARGO }],
            "w::a",
            2,
            false,
        ),
        (
            "ignored tests alone",
            vec![Process { args: "--ignored", began: &["live::d"], ..CARGO }],
            "live::e",
            3,
            false,
        ),
        (
            "ignored tests too",
            vec![Process { args: "--include-ignored", began: ALL, ..CARGO }],
            "live::d live::e",
            0,
            false,
        ),
        (
            "what one process left out, another one ran",
            vec![
                Process { args: "w::", began: &["w::a", "w::b"], ..CARGO },
                Process { args: "t::", began: &["t::c"], ..CARGO },
            ],
            "",
            0,
            false,
        ),
        ("no listing", vec![Process { lists: false, began: ALL, ..CARGO }], "", 0, true),
        ("killed before the listing", vec![Process { lists: false, ..CARGO }], "", 0, true),
        (
            "a listing without a test that began",
            vec![Process { began: &["w::a", "w::b", "t::c", "x::y"], ..CARGO }],
            "",
            0,
            true,
        ),
        ("nextest", vec![LISTING, Process { began: ALL, ..NEXTEST }], "", 0, false),
        ("nextest, killed", vec![LISTING, Process { began: &["w::a"], ..NEXTEST }], "t::c w::b", 0, false),
        ("nextest, killed before any test", vec![LISTING], "t::c w::a w::b", 0, false),
        (
            "nextest with ignored tests",
            vec![LISTING, Process { began: ALL, ..NEXTEST }, Process { began: &["live::d"], ..NEXTEST }],
            "live::e",
            0,
            false,
        ),
        ("nextest without a listing", vec![Process { began: ALL, ..NEXTEST }], "", 0, true),
        (
            "both partitions",
            vec![
                LISTING,
                Process { began: &["w::a"], ..NEXTEST },
                LISTING,
                Process { began: &["w::b"], ..NEXTEST },
                Process { began: &["t::c"], ..NEXTEST },
            ],
            "",
            0,
            false,
        ),
        (
            "one partition missing",
            vec![LISTING, Process { began: &["w::b", "t::c"], ..NEXTEST }],
            "w::a",
            0,
            false,
        ),
    ] {
        let temporary = TempDir::new().unwrap();
        for (number, process) in processes.iter().enumerate() {
            write(temporary.path(), number, process);
        }
        let run = RecordedRun::outline(&[temporary.path()]).unwrap();
        assert!(run.unreadable.is_empty(), "{what}: {:?}", run.unreadable);
        let found = Completeness::new(&run);
        let names: Vec<_> = found.never_began.values().flatten().map(String::as_str).collect();
        assert_eq!((names.join(" ").as_str(), found.left_out), (missing, left_out), "{what}");
        assert_eq!(!found.unlisted.is_empty(), unlisted, "{what}");
    }
}

#[test]
fn a_binary_that_was_to_run_and_left_no_journal_is_missed() {
    const NONE: (&str, &str) = ("", "");
    let nextest = ("NEXTEST_RUN_ID", "r");
    for (what, runner, args, env, missing) in [
        ("cargo was killed before it", "cargo test", "", NONE, "l::x"),
        ("it was named", "cargo test --test evals --test later", "--test-threads 1", NONE, "l::x"),
        ("another one was named", "cargo test --test evals", "", NONE, ""),
        ("none of its tests was asked for", "cargo test w::", "w::", NONE, ""),
        ("some were", "cargo test x", "x", NONE, "l::x"),
        ("ignored ones were", "cargo test -- --ignored", "--ignored", NONE, "l::y"),
        ("it ran", "cargo test", "ran", NONE, ""),
        ("what was asked for is not known", "", "", NONE, ""),
        ("it was run again", "cargo test", "", ("EVALSET_ATTEMPT", "2"), ""),
        ("nextest was killed before it", "cargo-nextest nextest run", "--exact w::a", nextest, "l::x"),
        ("a filter of nextest", "cargo-nextest nextest run -E test(x)", "--exact w::a", nextest, ""),
    ] {
        let temporary = TempDir::new().unwrap();
        let mut head = head("p");
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        (head.runner, head.args) = (words(runner), if args == "ran" { Vec::new() } else { words(args) });
        head.env.extend((env != NONE).then(|| (env.0.to_owned(), env.1.to_owned())));
        let sets = json!([{ "tests": ["l::x"], "ignored": false }, { "tests": ["l::y"], "ignored": true }]);
        let own = made::<Listed>(json!({ "sets": [{ "tests": ["w::a"] }] }));
        let other = made::<Beside>(json!({ "binary": "later", "sets": sets }));
        let of_a = [line(&started(1, "w::a")), line(&decided(1))];
        let lines = [vec![line(&head), line(&own), line(&other)], of_a.to_vec()].concat();
        fs::write(temporary.path().join("a.jsonl"), journal(&lines)).unwrap();
        if args == "ran" {
            head.binary = Some("later".to_owned());
            let own = made::<Listed>(json!({ "sets": [{ "tests": ["l::x"] }] }));
            let lines = [line(&head), line(&own), line(&started(1, "l::x")), line(&decided(1))];
            fs::write(temporary.path().join("b.jsonl"), journal(&lines)).unwrap();
        }
        let run = RecordedRun::read(temporary.path()).unwrap();
        assert!(run.unreadable.is_empty(), "{what}: {:?}", run.unreadable);
        let found = Completeness::new(&run);
        let names: Vec<_> = found
            .never_began
            .iter()
            .flat_map(|(of, names)| names.iter().map(move |name| (of, name)))
            .collect();
        let later = (Some("p".to_owned()), Some("later".to_owned()));
        let missing: Vec<_> = missing.split_whitespace().map(str::to_owned).collect();
        let expected: Vec<_> = missing.iter().map(|name| (&later, name)).collect();
        // Of its own binary it began what was to run, or was not asked.
        let of_later: Vec<_> = names.into_iter().filter(|(of, _)| of.1.as_deref() == Some("later")).collect();
        assert_eq!(of_later, expected, "{what}");
    }
}

fn planned(cases: &[&str]) -> Vec<u8> {
    line(&made::<Planned>(json!({ "cases": cases })))
}

#[test]
fn a_program_says_its_cases_and_lists_no_tests() {
    let temporary = TempDir::new().unwrap();
    let plan = planned(&["s/a", "s/b"]);
    let begun = with(started(1, "s/a"), |it| it.of_program = true);
    for (what, lines, missing, unlisted) in [
        ("killed before the first case", vec![plan.clone()], vec!["s/a", "s/b"], 0),
        ("killed in the first", vec![plan.clone(), line(&begun)], vec!["s/b"], 0),
        ("one case without a plan", vec![line(&begun), line(&decided(1))], vec![], 0),
        ("killed before the plan", vec![], vec![], 1),
    ] {
        let lines = [vec![line(&head("p"))], lines].concat();
        fs::write(temporary.path().join("a.jsonl"), journal(&lines)).unwrap();
        let found = Completeness::new(&RecordedRun::read(temporary.path()).unwrap());
        assert_eq!(
            (found.of_programs, found.unlisted.len()),
            (missing.iter().map(|it| (*it).to_owned()).collect(), unlisted),
            "{what}"
        );
    }
}

#[test]
fn cases_that_a_program_did_not_come_to_are_missed() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let plan = planned(&["s/a", "s/b", "s/b"]);
    let begun = |name| with(started(1, name), |it| it.of_program = true);
    let lines = [line(&head("p")), plan.clone(), line(&begun("s/a")), line(&decided(1)), plan.clone()];
    fs::write(folder.join("a.jsonl"), journal(&lines)).unwrap();
    fs::write(folder.join("b.jsonl"), journal(&[line(&head("p")), plan, line(&begun("s/b"))])).unwrap();
    let run = RecordedRun::read(folder).unwrap();
    let missing = ["s/b", "s/b", "s/a", "s/b", "s/b", "s/a", "s/b"];
    assert_eq!((run.tests.len(), run.never_began.as_slice()), (2, missing.map(str::to_owned).as_slice()));
    assert_eq!(RecordedRun::outline(&[folder]).unwrap().never_began, missing);
}

/// A process that was killed between two calls is known by its missing end. What replaces it is a later attempt that ended.
#[test]
fn a_process_without_an_end_is_replaced_by_a_later_attempt_that_ended() {
    let end = || line(&made::<Ended>(json!({ "at": "2026-11-22T02:31:39.000Z" })));
    let begun = with(started(1, "s/a"), |it| it.of_program = true);
    let process = |attempt: &str, args: &str| {
        let mut head = head("p");
        head.args = vec![args.to_owned()];
        head.env.insert("NEXTEST_ATTEMPT".to_owned(), attempt.to_owned());
        line(&head)
    };
    let ran = || vec![line(&begun), line(&decided(1))];
    let ended = |attempt, args| [vec![process(attempt, args)], ran(), vec![end()]].concat();
    let killed = |attempt, args| [vec![process(attempt, args)], ran()].concat();
    // The tests of the attribute have a journal of their own, in the same process.
    let of_attribute = vec![process("2", "x"), line(&made::<Listed>(json!({ "sets": [] })))];
    for (what, journals, unended) in [
        ("ended", vec![ended("1", "x")], 0),
        ("killed", vec![killed("1", "x")], 1),
        ("retried", vec![killed("1", "x"), ended("2", "x")], 0),
        ("killed twice", vec![killed("1", "x"), killed("2", "x")], 2),
        ("another test was retried", vec![killed("1", "x"), ended("2", "y")], 1),
        ("an earlier attempt ended", vec![ended("1", "x"), killed("2", "x")], 1),
        ("the same attempt ended elsewhere", vec![killed("1", "x"), ended("1", "x")], 1),
        ("killed again before its first call", vec![killed("1", "x"), of_attribute], 1),
    ] {
        let temporary = TempDir::new().unwrap();
        for (number, lines) in journals.iter().enumerate() {
            fs::write(temporary.path().join(format!("{number}.jsonl")), journal(lines)).unwrap();
        }
        let run = RecordedRun::read(temporary.path()).unwrap();
        assert_eq!(run.unended.len(), unended, "{what}");
    }
}
