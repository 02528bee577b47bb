//! Reviews on a terminal that end early, meet another writer, or meet a case that cannot be written: nothing is lost, and nothing is
//! written that was not shown.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::json;

use crate::folder::{AGENT, Folder, Ran, plain};
use crate::review::{SET, file, ran};
use crate::review_typed::{CASE, PART, YES, driver, folder, six, typed, typed_with};

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

/// The set of the example after each of the changes that a review accepts one by one, the first one before any.
fn states() -> Vec<String> {
    let mut states = vec![six()];
    for (before, after) in [
        ("It is sunny in Paris.", "Paris has clear skies today, 23 November 2026."),
        ("2026-11-22", "2026-11-23"),
        (r#"{"name": "book""#, r#"{"name": "check_calendar", "args": {"id": 7}}, {"name": "book""#),
        ("Hello!", "Good morning to you."),
        ("I cannot do that.", "The refund of A-17 is on its way."),
    ] {
        let next = states[states.len() - 1].replace(before, after);
        states.push(next);
    }
    states
}

/// The keys of a review that accepts each of them, with the number of the change that a key writes.
const ACCEPTING: [(&str, &str, usize); 7] = [
    (CASE, "a", 0),
    (YES, "y", 1),
    (CASE, "a", 1),
    (YES, "y", 2),
    (CASE, "a", 3),
    (PART, "a", 4),
    (PART, "a", 5),
];

/// The keys that lead to each prompt, with the number of keys behind it until the case is asked for again.
fn prompts() -> [(&'static str, Vec<(&'static str, &'static str)>); 7] {
    let skip = [(CASE, "s")];
    let to_draft = [&skip[..], &skip, &skip, &[(PART, "s"), (PART, "s")], &skip].concat();
    [
        ("a case", vec![(CASE, "")]),
        ("a second question", vec![(CASE, "a"), (YES, "")]),
        ("a number", vec![(CASE, "s"), (CASE, "m"), ("number > ", "")]),
        ("a rule", vec![(CASE, "s"), (CASE, "m"), ("number > ", "1"), (YES, "")]),
        ("a part", [&skip[..], &skip, &skip, &[(PART, "")]].concat()),
        ("the rest of a set", vec![(CASE, "A"), ("type `yes` > ", "")]),
        ("a draft", [&to_draft[..], &[(CASE, "r"), (YES, "")]].concat()),
    ]
}

#[test]
fn ctrl_c_and_the_end_of_the_input_accept_nothing_at_any_prompt() {
    let folder = folder("ends-prompts");
    for (what, mut steps) in prompts() {
        for end in [CTRL_C, CTRL_D] {
            steps.last_mut().expect("a prompt").1 = end;
            // A question that is not answered with yes is one about the case again.
            let more = if matches!(what, "a second question" | "a rule" | "a draft")
                || (what, end) == ("the rest of a set", CTRL_D)
            {
                vec![(CASE, end)]
            } else {
                Vec::new()
            };
            let ran = typed(&folder, &[], &[steps.as_slice(), &more].concat());
            assert_eq!(folder.read(SET), six(), "{what}: {}", ran.out);
            // A line is read in the terminal's own mode, in which Ctrl-C is a signal.
            let code = if (what, end) == ("the rest of a set", CTRL_C) { 254 } else { 0 };
            assert_eq!(ran.code, Some(code), "{what} {end:?}: {}", ran.out);
        }
    }
}

#[test]
fn enter_escape_a_paste_and_a_hangup_accept_nothing_at_any_prompt() {
    let folder = folder("ends-keys");
    let pastes = |what: &str| match what {
        // A line that is pasted is a line that was typed, but for `yes`.
        "the rest of a set" => ["\r", "\u{1b}\n", "aaaa\n"],
        "a number" => ["\r", "\u{1b}", "1111"],
        "a case" | "a part" => ["\r", "\u{1b}", "aaaa"],
        _ => ["\r", "\u{1b}", "yyyy"],
    };
    thread::scope(|scope| {
        for (what, steps) in prompts() {
            let folder = &folder;
            scope.spawn(move || {
                let again = if what == "a part" { PART } else { CASE };
                let (last, to_prompt) = steps.split_last().expect("a prompt");
                // The same way to the prompt leads from the case that is asked for again.
                let from_case: Vec<_> = to_prompt
                    .iter()
                    .copied()
                    .filter(|(wanted, key)| (*wanted, *key) != (CASE, "s") && *wanted != PART)
                    .collect();
                let mut keys = to_prompt.to_vec();
                for (at, paste) in pastes(what).into_iter().enumerate() {
                    if at > 0 {
                        keys.extend(&from_case);
                    }
                    keys.push((last.0, paste));
                }
                let ran = typed(folder, &[], &[keys.as_slice(), &[(again, "q")]].concat());
                assert_eq!((ran.code, folder.read(SET)), (Some(0), six()), "{what}: {}", ran.out);
                let ran = typed(folder, &[], &[to_prompt, &[(last.0, "hangup")]].concat());
                assert_eq!(folder.read(SET), six(), "{what}: {}", ran.out);
            });
        }
    });
}

#[test]
fn of_two_reviews_at_once_the_second_shows_the_case_anew() {
    let folder = folder("ends-two");
    let accepts = [json!([CASE, "a"]), json!(["written", ""])];
    let other = driver(&folder, &["desk:new_call"], &accepts);
    let steps = [
        json!([CASE, "a", { "run": other }]),
        json!(["the case `new_call` was changed meanwhile", ""]),
        json!(["not offered: the case was edited since it ran", ""]),
        json!([CASE, "q"]),
    ];
    let ran = typed_with(&folder, &["desk:new_call"], &steps, |_| {});
    let expected = six()
        .replace(r#"{"name": "book""#, r#"{"name": "check_calendar", "args": {"id": 7}}, {"name": "book""#);
    assert_eq!((ran.code, folder.read(SET)), (Some(0), expected), "{}", ran.out);
    assert!(
        ran.out.contains("| ") && ran.out.contains("1 case accepted"),
        "the other review wrote it: {}",
        ran.out
    );
}

#[test]
fn two_reviews_that_write_at_once_keep_both_changes() {
    let folder = folder("ends-both");
    let states = states();
    thread::scope(|scope| {
        let review = |case: &'static str, steps: &'static [(&str, &str)]| {
            let folder = &folder;
            scope.spawn(move || typed(folder, &[case], steps))
        };
        let one = review("desk:argument", &[(CASE, "a"), (YES, "y"), ("written", "")]);
        let other = review("desk:new_call", &[(CASE, "a"), ("written", "")]);
        for ran in [one, other].map(|it| it.join().expect("it ends")) {
            assert_eq!(ran.code, Some(0), "{}", ran.out);
        }
    });
    let expected =
        states[3].replace("Paris has clear skies today, 23 November 2026.", "It is sunny in Paris.");
    assert_eq!(folder.read(SET), expected);
}

/// An editor in Python: each call runs the next of these statements on the `text` of the file at `path`. A statement that fails ends
/// the editor with an error.
fn editor(folder: &Folder, statements: &[&str]) -> String {
    let all = json!(statements).to_string();
    let program = format!(
        "import json, os, sys\npath = sys.argv[-1]\ntext = open(path).read()\ncalls = json.loads({all:?})\n\
         count = 'edits'\nmade = os.path.getsize(count) if os.path.exists(count) else 0\nopen(count, 'a').write('x')\n\
         names = dict(text=text, path=path)\nexec(calls[made], names)\nopen(path, 'w').write(names['text'])\n"
    );
    folder.write("ed.py", program);
    let _ = std::fs::remove_file(folder.path("edits"));
    format!("python3 '{}'", folder.path("ed.py").display())
}

#[test]
fn what_the_user_wrote_in_the_editor_is_there_again_after_a_mistake() {
    let folder = folder("ends-edit");
    let review = |statements: &[&str], steps: &[serde_json::Value]| -> Ran {
        folder.write(SET, six());
        let editor = editor(&folder, statements);
        typed_with(&folder, &["desk:answer"], steps, |command| {
            command.env("EDITOR", editor).env_remove("VISUAL").env("TMPDIR", folder.path(""));
        })
    };
    let clear = six().replace("sunny", "clear");
    // A mistake in the JSON.
    let ran = review(
        &[
            "text = text.replace('sunny', 'clear').rstrip()[:-1]",
            "assert 'clear' in text; text = text.rstrip() + '}'",
        ],
        &[
            json!([CASE, "e"]),
            json!(["error: ", ""]),
            json!(["what you wrote is kept in `", ""]),
            json!([CASE, "e"]),
            json!([YES, "y"]),
            json!(["written", ""]),
            json!([CASE, "q"]),
        ],
    );
    assert_eq!((ran.code, folder.read(SET)), (Some(0), clear.clone()), "{}", ran.out);
    let kept = || folder.names().into_iter().filter(|name| name.ends_with("-case.json")).count();
    assert_eq!(kept(), 0, "what was written is kept no longer: {:?}", folder.names());
    // Something else changes the case while the editor is open.
    let change = format!(
        "whole = open('{SET}').read(); open('{SET}', 'w').write(whole.replace('sunny', 'rainy')); text = text.replace('sunny', 'clear')"
    );
    let ran = review(
        &[&change, "assert 'clear' in text"],
        &[
            json!([CASE, "e"]),
            json!(["was changed meanwhile", ""]),
            json!(["what you wrote is kept in `", ""]),
            json!([CASE, "e"]),
            json!(["rainy", ""]),
            json!([YES, "y"]),
            json!(["written", ""]),
            json!([CASE, "q"]),
        ],
    );
    assert_eq!((ran.code, folder.read(SET)), (Some(0), clear.clone()), "{}", ran.out);
    // A question that is not answered with yes.
    let ran = review(
        &["text = text.replace('sunny', 'clear')", "assert 'clear' in text"],
        &[
            json!([CASE, "e"]),
            json!([YES, "\r"]),
            json!([CASE, "e"]),
            json!([YES, "y"]),
            json!(["written", ""]),
            json!([CASE, "q"]),
        ],
    );
    assert_eq!((ran.code, folder.read(SET)), (Some(0), clear), "{}", ran.out);
    // A text that was never written is there after the review.
    let ran = review(
        &["text = text.replace('sunny', 'clear').rstrip()[:-1]"],
        &[json!([CASE, "e"]), json!(["error: ", ""]), json!([CASE, "q"])],
    );
    assert_eq!((ran.code, folder.read(SET), kept()), (Some(0), six(), 1), "{}", ran.out);
}

#[test]
fn a_set_that_cannot_be_read_at_a_moment_ends_no_review() {
    let folder = folder("ends-unreadable");
    folder.write("whole.json", six()).write("half.json", &six()[..100]);
    let cases = ["desk:argument,new_call"];
    let copy = |from: &str| json!([folder.path(from), folder.path(SET)]);
    for (key, says) in
        [("e", "has 1 error"), ("m", "has 1 error"), ("u", "nothing is written yet"), ("a", "has 1 error")]
    {
        folder.write(SET, six());
        let mut steps = vec![json!([CASE, key, copy("half.json")])];
        steps.extend((key == "a").then(|| json!([YES, "y"])));
        steps.extend([
            json!([says, ""]),
            json!([CASE, "s", copy("whole.json")]),
            json!(["2 of 2", ""]),
            json!([CASE, "q"]),
        ]);
        let ran = typed_with(&folder, &cases, &steps, |command| {
            command.env("EDITOR", "true");
        });
        assert_eq!(ran.code, Some(0), "{key}: {}", ran.out);
    }
}

/// A set in an old form of ADK, whose only case calls another tool than it expects.
const OLD: &str = r#"[
  {"query": "Book Anna a table", "reference": "Booked.",
   "expected_tool_use": [{"tool_name": "find", "tool_input": {"who": "Anna"}}]}
]
"#;

#[test]
fn a_case_in_an_old_form_is_told_and_asked_for_and_not_offered() {
    let folder = Folder::new("ends-old");
    folder.write("agent.py", file("agent.py")).write("old.test.json", OLD);
    let ran = folder.run(&["run", "old.test.json", "--agent-cmd", AGENT, "--runs", "2"]);
    assert_eq!(ran.code, Some(1), "{}", ran.shown());
    let list = folder.run(&["review", "--list"]);
    assert_eq!(list.code, Some(0), "{}", list.shown());
    assert!(list.out.contains("not offered: `old.test.json` is in an old form of ADK"), "{}", list.shown());
    let steps = [(CASE, "m"), ("no rule fits", ""), (CASE, "t"), (CASE, "a"), (CASE, "q")];
    let ran = typed(&folder, &[], &steps);
    assert_eq!((ran.code, folder.read("old.test.json").as_str()), (Some(0), OLD), "{}", ran.out);
}

#[test]
fn bytes_that_are_no_text_any_more_are_not_put_back() {
    let folder = folder("ends-bytes");
    let broken: Vec<u8> = [six().as_bytes(), b"\xff\xfe"].concat();
    folder.write("broken", &broken);
    let copy = json!([folder.path("broken"), folder.path(SET)]);
    // The key `u` comes at the prompt of the next case.
    let steps = [
        json!([CASE, "a"]),
        json!([YES, "y"]),
        json!(["written", ""]),
        json!([CASE, "u", copy]),
        json!(["was changed since, and is not put back", ""]),
        json!([CASE, "q"]),
    ];
    let ran = typed_with(&folder, &["desk:argument,new_call"], &steps, |_| {});
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert_eq!(std::fs::read(folder.path(SET)).expect("the set"), broken);
}

/// Kills a review at a moment after one of its keys. Returns the number of changes that are in the set.
fn kill_one(number: usize, states: &[String]) -> usize {
    let folder = ran(&format!("ends-kill-{number}"), &file(SET));
    folder.write(SET, six());
    let keys = number % ACCEPTING.len();
    // A key is read for 20 ms, as it may begin a paste. Then the write takes some more.
    let after = f64::from(u32::try_from(number * 2_654_435_761 % 600).unwrap_or_default()) / 10_000.0;
    let mut steps: Vec<_> = ACCEPTING[..keys].iter().map(|(wanted, key, _)| json!([wanted, key])).collect();
    let (wanted, key, change) = ACCEPTING[keys];
    steps.push(json!([wanted, key, { "kill": after }]));
    let mut command = plain("python3".as_ref());
    command.args(&driver(&folder, &[], &steps)[1..]).env("TERM", "xterm").current_dir(folder.path(""));
    let killed: Ran = command.output().expect("Python runs").into();
    assert!(!killed.out.contains("never shown: "), "kill {number}: {}", killed.out);
    let set = folder.read(SET);
    let at = states.iter().position(|state| *state == set);
    let before = ACCEPTING[..keys].iter().map(|(.., change)| *change).max().unwrap_or_default();
    assert!(
        at.is_some_and(|at| (before..=change.max(before)).contains(&at)),
        "kill {number}: {at:?} of {change}: {set}"
    );
    let list = folder.run(&["review", "--list"]);
    assert_eq!(list.code, Some(0), "kill {number}: {}", list.shown());
    at.unwrap_or_default() - before
}

/// `KILLS` says how often, 6 times otherwise.
#[test]
fn kills_in_a_review_leave_the_old_set_or_the_new_one() {
    let kills: usize = std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(6);
    let (states, written) = (states(), AtomicUsize::new(0));
    let numbers: Vec<usize> = (0..kills).collect();
    // Each waits for most of its time.
    for some in numbers.chunks(4) {
        thread::scope(|scope| {
            for number in some {
                scope.spawn(|| written.fetch_add(kill_one(*number, &states), Ordering::Relaxed));
            }
        });
    }
    let written = written.into_inner();
    eprintln!("{kills} kills: {written} after the write, {} before", kills - written);
    assert!(
        kills < 40 || written > 0 && written < kills,
        "all kills were on one side of the write: {written} of {kills}"
    );
}
