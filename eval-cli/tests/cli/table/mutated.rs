//! Journals that were changed at random.

use eval_support::test_support::Dice;

use super::*;

/// One change: bytes that are others, or missing, or lines that are elsewhere, missing or there twice.
fn mutate(whole: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let mut lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let (at, other) = (dice.roll(lines.len()), dice.roll(lines.len()));
    match dice.roll(7) {
        0 => bytes.truncate(dice.roll(whole.len())),
        1 => {
            for _ in 0..=dice.roll(4) {
                let at = dice.roll(bytes.len());
                bytes[at] = u8::try_from(dice.roll(256)).expect("a byte");
            }
        }
        2 => {
            let start = dice.roll(bytes.len());
            let end = (start + 1 + dice.roll(40)).min(bytes.len());
            bytes.drain(start..end);
        }
        3 => {
            lines.remove(at);
            return lines.concat();
        }
        4 => {
            lines.insert(other, lines[at]);
            return lines.concat();
        }
        5 => {
            lines.swap(at, other);
            return lines.concat();
        }
        _ => {
            // A forgery by a person who wants it green.
            let text = String::from_utf8_lossy(whole);
            let [from, to] =
                [["failed", "passed"], ["\"score\":0.0", "\"score\":1.0"], ["\"n\":3", "\"n\":4"]]
                    [dice.roll(3)];
            return text.replacen(from, to, 1 + dice.roll(9)).into_bytes();
        }
    }
    bytes
}

/// `MUTATIONS` says how many changes are made.
#[test]
fn no_change_of_a_journal_makes_a_run_pass() {
    let count = std::env::var("MUTATIONS").map_or(100, |count| count.parse().expect("a number"));
    let path = format!("{RUN}/app-evals-4711-0.jsonl");
    thread::scope(|scope| {
        for (name, ends) in [("passed", PASS), ("failed", [PASS[0], (ALL[1], End::Fail), PASS[2]])] {
            let path = &path;
            scope.spawn(move || {
                let folder = project(&format!("mutated-{name}"));
                run_of(&folder, &ends, &json!({}));
                let whole = fs::read(folder.path(path)).expect("the journal");
                let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
                for number in 0..count {
                    let mutated = mutate(&whole, &mut dice);
                    folder.write(path, &mutated);
                    let report = ran(&folder, &["report", "r1"]);
                    let said = format!("{name} {number}: {report:?}\n{}", String::from_utf8_lossy(&mutated));
                    assert!(matches!(report.code, Some(0..=2)) && !report.err.contains("panicked"), "{said}");
                    assert!(report.code != Some(0) || name == "passed" && mutated == whole, "{said}");
                }
            });
        }
    });
}
