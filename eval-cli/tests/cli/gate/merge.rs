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
