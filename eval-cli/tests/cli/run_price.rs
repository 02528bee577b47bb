//! `run --price`: what the agent costs.

use serde_json::Value;

use crate::run::{folder, run};

#[test]
fn prices_show_what_the_agent_costs_and_nonsense_is_refused_before_anything_runs() {
    let folder = folder("run-price");
    // Each of the two answers takes 11 tokens in and 7 out.
    let sets = ["mixed:sunny", "fine"];
    let cost = "cost          0.000096 for 22 tokens in and 14 out\n";
    let ran = run(&folder, &[&sets[..], &["--price", "1.20/5"]].concat());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains(cost) && !ran.err.contains("cost"), "{}{}", ran.out, ran.err);
    // Documents for programs are unchanged.
    let ran = run(&folder, &[&sets[..], &["--price", "1.20/5", "--format", "json"]].concat());
    assert!(
        serde_json::from_str::<Value>(&ran.out).is_ok() && ran.err.contains(cost),
        "{}{}",
        ran.out,
        ran.err
    );
    let ran = run(&folder, &[&sets[..], &["--price", "gemini-2.5-flash=1/2"]].concat());
    assert!(
        ran.out.contains("cost          0.00 for 0 tokens in and 0 out; 36 tokens have no price\n"),
        "{}",
        ran.out
    );
    assert!(!run(&folder, &sets).out.contains("cost"));
    let ran = run(&folder, &["mixed:lost", "--price", "1/2", "--price", "m=0.5/1"]);
    assert!(ran.out.contains("run again     cargo evalset run "), "{}", ran.out);
    assert!(ran.out.contains("--price 1/2 --price m=0.5/1"), "{}", ran.out);
    for (price, says) in [
        ("cheap", "`cheap` is no price"),
        ("1", "`1` is no price"),
        ("1/-2", "`1/-2` is no price"),
        ("m=1/inf", "`m=1/inf` is no price"),
        ("=1/2", "`=1/2` is no price"),
        ("3/4", "there are two prices for all models"),
    ] {
        let ran = run(&folder, &["fine", "--price", "1/2", "--price", price]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{price}: {}", ran.err);
        assert!(
            ran.err.contains(says) && ran.err.contains("a million tokens in and out, `0.30/2.50`"),
            "{}",
            ran.err
        );
    }
}
