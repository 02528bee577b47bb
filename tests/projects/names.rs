//! Names of tests, and the attributes that move to them.

use crate::project::{Draft, Project, echo_set};

/// Eval ids and the names of their tests.
const IDS: &[(&str, &str)] = &[
    ("plain", "plain"),
    ("Sunny in Paris", "Sunny_in_Paris"),
    ("refund/declined: \"no\"\n", "refund_declined_no"),
    ("天気_払い戻し", "天気_払い戻し"),
    ("cafe\u{301}", "caf\u{e9}"),
    ("mañana 🎉", "mañana"),
    ("type", "type_"),
    ("gen", "gen_"),
    ("Self", "Self_"),
    ("is_current", "is_current_"),
    ("2nd try", "case_2nd_try"),
    ("_private_", "private"),
    ("x²", "x"),
    ("a-b", "a_b_e27efb9a"),
    ("a b", "a_b_e2bca18b"),
    ("🎉", "case_8a09eb11"),
    ("", "case_4fd0bfc1"),
];

fn project() -> Project {
    let long = "an id as long as a sentence that a generator of test cases has made up by itself ".repeat(2);
    let ids = IDS.iter().map(|(id, _)| *id).chain([long.as_str()]);
    let ids: Vec<_> = ids.map(|id| (id, "Hello")).collect();
    Draft::new("names")
        .file("evals/ids.evalset.json", echo_set(&ids))
        .file("evals/weather.evalset.json", echo_set(&[("sunny", "Sunny."), ("rainy", "Rainy.")]))
        .shared()
}

#[test]
fn the_list_has_a_name_for_each_id() {
    let run = project().cargo(&["test", "--", "--list", "ids::"]).passes();
    let listed = run.listed();
    for (id, name) in IDS {
        let name = format!("ids::{name}");
        assert!(listed.contains(&name.as_str()), "`{id}` should be `{name}`:\n{run}");
    }
    assert_eq!(listed.len(), IDS.len() + 1, "\n{run}");
}

#[test]
fn a_long_id_ends_in_a_hash() {
    let run = project().cargo(&["test", "--", "--list", "ids::an_id_"]).passes();
    let &[name] = &run.listed()[..] else { panic!("one id is long:\n{run}") };
    let name = name.strip_prefix("ids::").expect("it is in the module of its function");
    assert!(name.chars().count() <= 80, "{name}");
    let (_, hash) = name.rsplit_once('_').expect("a name has parts");
    assert!(hash.len() == 8 && hash.bytes().all(|digit| digit.is_ascii_hexdigit()), "{name}");
}

#[test]
fn every_name_can_be_run_alone() {
    let project = project();
    project.cargo(&["test", "ids::"]).passes().says("18 passed; 0 failed");
    for name in ["ids::天気_払い戻し", "ids::type_", "ids::a_b_e27efb9a"] {
        project.cargo(&["test", name, "--", "--exact"]).passes().ran(&[(name, "ok")]);
    }
}

#[test]
fn a_part_of_a_name_filters() {
    project().cargo(&["test", "ids::Sunny"]).passes().ran(&[("ids::Sunny_in_Paris", "ok")]);
}

#[test]
fn ignore_moves_to_every_case_with_its_reason() {
    let ignored = "ignored, calls a paid API";
    let project = project();
    project.cargo(&["test", "paid::"]).passes().ran(&[("paid::rainy", ignored), ("paid::sunny", ignored)]);
    project
        .cargo(&["test", "paid::", "--", "--ignored"])
        .passes()
        .ran(&[("paid::rainy", "ok"), ("paid::sunny", "ok")]);
}

#[cfg(unix)]
#[test]
fn an_ignored_test_that_failed_is_run_again_by_what_it_prints() {
    let project = project();
    let run = project.cargo(&["test", "costly::", "--", "--ignored"]).fails();
    let printed = run.failure("costly::sunny");
    let again = printed.lines().find_map(|line| line.strip_prefix("run again     "));
    let again = again.unwrap_or_else(|| panic!("no command:\n{printed}"));
    project.shell(again).fails().ran(&[("costly::sunny", "FAILED")]);
}

#[test]
fn should_panic_moves_to_every_case() {
    project().cargo(&["test", "broken", "--no-fail-fast"]).fails().ran(&[
        ("broken::rainy", "ok"),
        ("broken::sunny", "ok"),
        ("broken_so::rainy", "ok"),
        ("broken_so::sunny", "ok"),
        ("broken_otherwise::rainy", "FAILED"),
        ("broken_otherwise::sunny", "FAILED"),
    ]);
}
