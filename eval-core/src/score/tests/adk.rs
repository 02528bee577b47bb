//! Answers of google-adk and rouge-score: `tests/adk/compare.py` draws cases, asks and starts this;
//! some are kept in `tests/vectors/`.

use std::collections::BTreeMap;
use std::io::Write;

use eval_support::category::{Category, category};
use serde_json::value::RawValue;
use unicode_normalization::UnicodeNormalization;

use super::invocations::{Object, field, float, object, read};
use super::jobs::scores;
use super::turns;
use super::vectors::same;
use crate::score::rouge::{RougeText, rouge_1, rouge_2, rouge_l};
use crate::score::tokenize::tokens;
use crate::score::{mean, porter};

/// The file of cases and answers, a JSON object a line.
const VARIABLE: &str = "EVALSET_ADK_JOBS";

/// Differences shown.
const MAX_SHOWN_DIFFERENCES: usize = 10;

#[test]
fn random_cases_give_the_scores_of_adk() {
    let Some(path) = std::env::var_os(VARIABLE) else {
        // Past the test harness, which keeps to itself what passing tests print.
        writeln!(std::io::stderr().lock(), "comparison with google-adk: skipped, {VARIABLE} is not set")
            .unwrap();
        return;
    };
    compare(&std::fs::read_to_string(path).unwrap());
}

#[test]
fn stored_cases_give_the_scores_of_rouge_score() {
    // Written by `compare.py --kind rouge_ascii --cases 1000 --seed 1 --keep FILE`.
    let counts = compare(include_str!("../../../tests/vectors/rouge_score_vectors.jsonl"));
    assert_eq!(counts.get("rouge_ascii"), Some(&1000));
}

/// Compares each line's case with its answer; counts them by kind.
fn compare(cases: &str) -> BTreeMap<String, usize> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut differences = Vec::new();
    for line in cases.lines() {
        let case: Object<'_> = serde_json::from_str(line).unwrap();
        let kind: String = read(case["kind"]);
        if let Err(difference) = check(&kind, case["input"], case["answer"]) {
            differences.push(format!("{kind}: {}\n  {difference}", case["input"]));
        }
        *counts.entry(kind).or_default() += 1;
    }
    eprintln!("{counts:?}: {} differences", differences.len());
    assert!(!counts.is_empty());
    assert!(
        differences.is_empty(),
        "{}",
        differences[..differences.len().min(MAX_SHOWN_DIFFERENCES)].join("\n")
    );
    counts
}

fn check(kind: &str, input: &RawValue, answer: &RawValue) -> Result<(), String> {
    match kind {
        "characters" | "tokens" => {
            let tokens = tokens(&read::<String>(input));
            let ours: Vec<&str> = tokens.iter().map(|token| str::from_utf8(token).unwrap()).collect();
            agree(&ours, &read::<Vec<String>>(answer).iter().map(String::as_str).collect())
        }
        "unassigned" => {
            let [text, character] = read::<[String; 2]>(input);
            // A character that Unicode has assigned since, by one of the tables here: docs/differences.md.
            let is_known = |c: char| {
                category(c) != Category::Hidden || c.is_alphanumeric() || !c.to_string().nfkc().eq([c])
            };
            if character.chars().any(is_known) {
                return Ok(());
            }
            let tokens = tokens(&text);
            let ours: Vec<&str> = tokens.iter().map(|token| str::from_utf8(token).unwrap()).collect();
            agree(&ours, &read::<Vec<String>>(answer).iter().map(String::as_str).collect())
        }
        "turns" => turns::check(input, answer),
        "stems" => {
            let mut word = read::<String>(input).into_bytes();
            let len = porter::stem(&mut word);
            agree(&str::from_utf8(&word[..len]).unwrap(), &read::<String>(answer).as_str())
        }
        "rouge" => {
            let [expected, actual] = read::<[String; 2]>(input).map(|text| RougeText::new(&text));
            let score = rouge_1(&expected, &actual);
            agree_on(&[score.precision, score.recall, score.fmeasure].map(Some), &floats(answer))
        }
        "rouge_ascii" | "rouge_unicode" => {
            let [expected, actual] = read::<[String; 2]>(input);
            let (words, actual_words) = (tokens(&expected), tokens(&actual));
            let found = [
                rouge_1(&RougeText::new(&expected), &RougeText::new(&actual)),
                rouge_2(&words, &actual_words),
                rouge_l(&words, &actual_words).ok_or("the texts are too long")?,
            ];
            for (ours, theirs) in found.iter().zip(read::<[&RawValue; 3]>(answer)) {
                agree_on(&[ours.precision, ours.recall, ours.fmeasure].map(Some), &floats(theirs))?;
            }
            Ok(())
        }
        "means" => {
            let numbers: Vec<f64> = floats(input).into_iter().flatten().collect();
            agree_on(&[mean::naive(&numbers), mean::exact(&numbers)], &floats(answer))
        }
        "rounding" => agree_on(&[Some(mean::round_3(float(input)))], &[Some(float(answer))]),
        _ => check_metric(&object(input), &object(answer)),
    }
}

fn check_metric(job: &Object<'_>, answer: &Object<'_>) -> Result<(), String> {
    let found = scores(job);
    agree_on(&found.turns, &floats(answer["turns"]))?;
    agree_on(&[found.overall], &[field(answer, "overall").map(float)])?;
    let details: Vec<&RawValue> = read(answer["details"]);
    agree(&found.details.len(), &details.len())?;
    for (ours, theirs) in found.details.iter().zip(details) {
        let theirs = object(theirs);
        agree(&ours.len(), &theirs.len())?;
        for (name, ours) in ours {
            agree_on(&[*ours], &[field(&theirs, name).map(float)])?;
        }
    }
    Ok(())
}

fn floats(raw: &RawValue) -> Vec<Option<f64>> {
    read::<Vec<&RawValue>>(raw).into_iter().map(|raw| (raw.get() != "null").then(|| float(raw))).collect()
}

fn agree<T: PartialEq + std::fmt::Debug>(ours: &T, theirs: &T) -> Result<(), String> {
    if ours == theirs { Ok(()) } else { Err(format!("here {ours:?}\n  in ADK {theirs:?}")) }
}

/// To the last bit; one NaN is as good as another.
fn agree_on(ours: &[Option<f64>], theirs: &[Option<f64>]) -> Result<(), String> {
    let nan = |number: &Option<f64>| number.is_some_and(f64::is_nan);
    let equal = ours.len() == theirs.len()
        && ours.iter().zip(theirs).all(|(a, b)| same(*a, *b) || (nan(a) && nan(b)));
    if equal { Ok(()) } else { Err(format!("here {ours:?}\n  in ADK {theirs:?}")) }
}
