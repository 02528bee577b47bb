//! JUnit reports are valid by the schema that readers hold them to.

use serde_json::json;

use crate::folder::Folder;
use crate::journal::{Journal, error, failed, passed};

type Names = &'static [&'static str];
type Element = (&'static str, Names, Names, Names);

/// The elements of the schema `junit-10` of Jenkins' xUnit plugin: the attributes that each may have, those that it must
/// have, and the elements that it may hold.
const SCHEMA: [Element; 11] = [
    ("testsuites", &["name", "time", "tests", "failures", "errors"], &[], &["testsuite"]),
    (
        "testsuite",
        &[
            "name",
            "tests",
            "failures",
            "errors",
            "group",
            "time",
            "skipped",
            "timestamp",
            "hostname",
            "id",
            "package",
            "file",
            "log",
            "url",
        ],
        &["name", "tests", "failures", "errors"],
        &["testsuite", "properties", "testcase", "system-out", "system-err"],
    ),
    ("properties", &[], &[], &["property"]),
    ("property", &["name", "value"], &["name", "value"], &[]),
    (
        "testcase",
        &["name", "time", "classname", "group"],
        &["name"],
        &[
            "skipped",
            "error",
            "failure",
            "rerunFailure",
            "rerunError",
            "flakyFailure",
            "flakyError",
            "system-out",
            "system-err",
        ],
    ),
    ("failure", &["type", "message"], &[], &[]),
    ("error", &["type", "message"], &[], &[]),
    ("skipped", &["type", "message"], &[], &[]),
    ("rerunFailure", &["message", "type"], &["type"], &["stackTrace", "system-out", "system-err"]),
    ("flakyFailure", &["message", "type"], &["type"], &["stackTrace", "system-out", "system-err"]),
    ("system-out", &[], &[], &[]),
];

/// The faults of a document.
fn faults(document: &str) -> Vec<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut faults = Vec::new();
    for tag in document.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
        if tag.starts_with('?') {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                faults.push(format!("`{name}` ends and did not begin"));
            }
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        let Some((_, may, must, _)) = SCHEMA.iter().find(|(known, ..)| *known == name) else {
            faults.push(format!("there is no element `{name}`"));
            continue;
        };
        // A quotation mark in a value is written as an entity.
        let names = tag.match_indices("=\"").filter_map(|(at, _)| tag[..at].rsplit(' ').next());
        let attributes: Vec<&str> = names.collect();
        faults.extend(
            attributes
                .iter()
                .filter(|it| !may.contains(it))
                .map(|it| format!("`{name}` has no attribute `{it}`")),
        );
        faults.extend(
            must.iter().filter(|it| !attributes.contains(it)).map(|it| format!("`{name}` lacks `{it}`")),
        );
        let parent = open.last().and_then(|parent| SCHEMA.iter().find(|(known, ..)| known == parent));
        if parent.is_some_and(|(_, _, _, holds)| !holds.contains(&name)) {
            faults.push(format!("`{name}` stands in `{}`", open.last().unwrap_or(&"")));
        }
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    faults.extend(open.iter().map(|name| format!("`{name}` does not end")));
    faults
}

#[test]
fn a_junit_report_is_valid_by_the_schema_and_has_its_times() {
    let folder = Folder::new("junit-schema");
    let mut journal = Journal::new(&folder, "r1");
    journal.set_head(&json!({ "built": "2026-11-22T02:31:00.500Z" }));
    let printed = "Error: a::x: <b> & \"more\"\n  line two\u{1b}[2J";
    for (name, verdict, attempts) in [
        ("a::passed", passed(), 1),
        ("a::late", passed(), 2),
        ("a::failed", failed(), 2),
        ("a::broken", error("agent", "503"), 1),
        ("b::skipped", json!({ "is": "skipped", "reason": "no judge" }), 1),
    ] {
        for attempt in 1..=attempts {
            let test = journal.attempted(name, 1, attempt);
            journal.ran(test, 1, 0.5);
            let verdict = if attempt < attempts { failed() } else { verdict.clone() };
            let text = if verdict == passed() { "" } else { printed };
            journal.decided(test, &verdict, Some(0.5), text);
        }
    }
    let unfinished = journal.started("b::unfinished", 1);
    journal.ran(unfinished, 1, 1.0);
    journal.write();
    folder.run(&["report", "--junit", "r.xml"]);
    let report = folder.read("r.xml");
    assert_eq!(faults(&report), Vec::<String>::new(), "{report}");
    for part in [
        "timestamp=\"2026-11-22T02:31:08",
        "<property name=\"began\" value=\"2026-11-22T02:31:07.250Z\"/>",
        "<property name=\"built\" value=\"2026-11-22T02:31:00.500Z\"/>",
        "<property name=\"run\" value=\"r1\"/>",
        "<flakyFailure message=",
        "<rerunFailure message=",
        "<skipped message=",
        "response_match_score.threshold=0.8\n",
    ] {
        assert!(report.contains(part), "{part}\n{report}");
    }
    let broken = report
        .replacen("<testsuites ", "<testsuites skipped=\"1\" ", 1)
        .replace("</properties>", "</properties><x/>");
    assert_eq!(faults(&broken)[0], "`testsuites` has no attribute `skipped`");
    assert_eq!(faults(&broken)[1], "there is no element `x`");
}
