//! Baselines that two branches changed, merged by git.

use std::process::Command;

use super::Desk;

impl Desk {
    /// Runs all cases so often, and blesses one of them.
    fn bless_one(&self, case: &str, runs: usize) {
        let case = format!("evals/desk.evalset.json:{case}");
        for ran in [self.run(runs), self.bless(&[&case])] {
            assert_eq!(ran.code, Some(0), "{}", ran.shown());
        }
        self.commit();
    }

    /// Whether git merges a branch without a conflict.
    fn merges(&self, branch: &str) -> bool {
        let mut git = Command::new("git");
        git.args(["-c", "user.email=a@example.com", "-c", "user.name=a", "merge", "-q", "--no-edit", branch]);
        git.current_dir(self.0.path("")).output().expect("git").status.success()
    }

    /// The numbers of runs of the cases in the baseline, in order.
    fn blessed_runs(&self) -> Vec<u64> {
        let text = self.0.read("evalset-baseline.jsonl");
        let lines = text.lines().skip(1).filter(|line| !line.is_empty());
        let runs =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["runs"].as_u64();
        lines.map(|line| runs(line).expect("a number")).collect()
    }
}

#[test]
fn neighbours_merge_and_the_same_case_on_both_branches_is_a_conflict_with_its_line() {
    let desk = Desk::new("bless-merge", 3);
    desk.commit();
    desk.run(4);
    assert_eq!(desk.bless(&[]).code, Some(0));
    desk.commit();
    desk.git(&["checkout", "-q", "-b", "other"]);
    desk.bless_one("c01", 1);
    desk.git(&["checkout", "-q", "-"]);
    // Runs of both branches are of the commit where they part.
    desk.bless_one("c00", 1);
    assert!(desk.merges("other"), "neighbours are changed on two branches");
    assert_eq!(desk.blessed_runs(), [2, 1, 4]);
    desk.run(1);
    assert_eq!(desk.gate(&[])["verdict"], "PASS");

    desk.git(&["checkout", "-q", "-b", "another"]);
    desk.bless_one("c01", 1);
    desk.git(&["checkout", "-q", "-"]);
    desk.bless_one("c01", 2);
    assert!(!desk.merges("another"), "one case is changed on two branches");
    let text = desk.0.read("evalset-baseline.jsonl");
    let line = 1 + text.lines().position(|line| line.starts_with("<<<<<<<")).expect("git left its mark");
    desk.run(1);
    for args in [&["gate"][..], &["diff", "evalset-baseline.jsonl", "evalset-baseline.jsonl"], &["bless"]] {
        let ran = desk.0.run(args);
        let says = format!("evalset-baseline.jsonl:{line}: a merge left its mark `<<<<<<<` here");
        assert!(ran.code == Some(2) && ran.err.contains(&says), "{}", ran.shown());
        assert!(
            ran.err.contains("run the case and bless it: `cargo evalset bless SET:CASE`"),
            "{}",
            ran.shown()
        );
    }
}

/// Commands that read a baseline, each of which has to refuse one that could hide a case.
fn refused(desk: &Desk, says: &[&str]) {
    for args in [&["gate"][..], &["diff", "evalset-baseline.jsonl", "evalset-baseline.jsonl"], &["bless"]] {
        let ran = desk.0.run(args);
        assert_eq!(ran.code, Some(2), "{}", ran.shown());
        for part in says {
            assert!(ran.err.contains(part), "{part} is not in\n{}", ran.shown());
        }
    }
}

/// The line of the file in which a case is for the last time.
fn last_line(text: &str, case: &str) -> usize {
    let is_of_case = |line: &str| line.contains(&format!(r#""case": "{case}""#));
    text.lines().count() - text.lines().rev().position(is_of_case).expect("its line")
}

#[test]
fn git_merges_what_two_branches_bless_unless_it_is_the_same_place() {
    let desk = Desk::new("bless-merge-table", 9);
    let bless = |cases: &[&str]| {
        let cases: Vec<String> = cases.iter().map(|case| format!("evals/desk.evalset.json:{case}")).collect();
        let ran = desk.bless(&cases.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
        desk.commit();
    };
    desk.commit();
    desk.run(1);
    bless(&["c01", "c02", "c03", "c05", "c06"]);
    desk.git(&["tag", "base"]);
    desk.run(1);
    let known = ["c01", "c02", "c03", "c05", "c06"];
    for (what, one, other, merges) in [
        ("far apart", &["c01"][..], &["c06"][..], true),
        ("neighbours", &["c02"], &["c03"], true),
        ("a new case each, at different places", &["c00"], &["c04"], true),
        ("a new case each, at the end", &["c07"], &["c08"], false),
        ("all cases on both branches", &known, &known, false),
    ] {
        desk.git(&["reset", "-q", "--hard", "base"]);
        desk.git(&["checkout", "-q", "-B", "other"]);
        bless(other);
        desk.git(&["checkout", "-q", "-"]);
        if one == other {
            // Otherwise both would write the same lines.
            desk.run(1);
        }
        bless(one);
        assert_eq!(desk.merges("other"), merges, "{what}");
        if merges {
            let expected = known.len() + one.iter().chain(other).filter(|case| !known.contains(case)).count();
            assert_eq!(desk.blessed_runs().len(), expected, "{what}");
            assert_eq!(
                desk.0.run(&["diff", "evalset-baseline.jsonl", "evalset-baseline.jsonl"]).code,
                Some(0)
            );
        } else {
            // `bless` reads the baseline once there is something to bless.
            desk.run(1);
            refused(&desk, &["a merge left its mark `<<<<<<<` here", "`cargo evalset bless SET:CASE`"]);
            desk.git(&["merge", "--abort"]);
        }
    }
    // A driver that takes both leaves two lines without a word.
    desk.0.write(".git/info/attributes", "evalset-baseline.jsonl merge=union\n");
    assert!(desk.merges("other"), "the driver takes both sides");
    desk.run(1);
    let says = "evals/desk.evalset.json:c01 has a second line";
    refused(&desk, &[says, "`cargo evalset bless evals/desk.evalset.json:c01`"]);
}

#[test]
fn a_second_line_and_a_line_at_another_place_are_errors_with_their_line() {
    let desk = super::blessed("bless-lines", 3, 1);
    let text = desk.0.read("evalset-baseline.jsonl");
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(r#""case""#)).collect();
    let [first, second, third] = lines[..] else { panic!("{text}") };
    for (changed, case, says) in [
        (text.replace(second, &format!("{second}\n\n{second}")), "c01", "c01 has a second line"),
        (text.replace(first, "-").replace(third, first).replacen('-', third, 1), "c01", "c01 is behind "),
    ] {
        let says = format!("evals/desk.evalset.json:{says}");
        let place = format!("evalset-baseline.jsonl:{}: ", last_line(&changed, case));
        desk.0.write("evalset-baseline.jsonl", &changed);
        let again = format!("`cargo evalset bless evals/desk.evalset.json:{case}`");
        refused(&desk, &[&says, &place, &again]);
        assert_eq!(desk.0.read("evalset-baseline.jsonl"), changed, "nothing is written");
    }
}
