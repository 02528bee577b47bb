//! Scores pairs of texts by ROUGE-1: `rouge PAIRS ROUNDS`.

use std::hint::black_box;

use eval_core::bench::rouge_1;
use rougers::{RougeScorer, RougeType};
use rust_metrics::text::rouge::RougeKey;
use rust_metrics::{Metric, RougeScore};

fn main() {
    let arguments = speed::arguments();
    let text = std::fs::read_to_string(&arguments[0]).expect("the file can be read");
    let pairs: Vec<(String, String)> = serde_json::from_str(&text).expect("pairs of texts");
    let scorer =
        RougeScorer::with_tokenizer(vec![RougeType::N(1)], rougers::Tokenizer::new(true)).expect("rouge1");

    let ours = || total(&pairs, rouge_1);
    let rougers = || {
        total(&pairs, |expected, actual| {
            scorer.score(expected, actual).get(RougeType::N(1)).map_or(0.0, |s| s.fmeasure)
        })
    };
    // It does not stem, which is most of the work.
    let rust_metrics = || {
        total(&pairs, |expected, actual| {
            let mut metric = RougeScore::new(vec![RougeKey::Rouge1]);
            let _ = metric.update((&[actual][..], &[expected][..]));
            metric.compute().map_or(0.0, |scores| scores[&RougeKey::Rouge1].fmeasure)
        })
    };
    let sum = ours();
    assert_eq!(sum, rougers(), "rougers gives the same scores");

    let rounds = arguments[1].parse().expect("a number of rounds");
    let mut result = speed::alternate(
        rounds,
        &mut [
            ("eval-core", &mut || _ = black_box(ours())),
            ("rougers", &mut || _ = black_box(rougers())),
            ("rust_metrics", &mut || _ = black_box(rust_metrics())),
        ],
    );
    result["total"] = sum.into();
    println!("{result}");
}

fn total(pairs: &[(String, String)], score: impl Fn(&str, &str) -> f64) -> f64 {
    black_box(pairs).iter().map(|(expected, actual)| score(expected, actual)).sum()
}
