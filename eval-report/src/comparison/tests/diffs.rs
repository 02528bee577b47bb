//! Two builds side by side: p-values, tokens, calls and scores, as text, as Markdown and as a page.

use super::*;

#[test]
fn the_p_values_of_a_diff_are_two_sided() {
    let p_of = |before: (usize, usize, usize), now: (usize, usize, usize)| {
        let diff = Diff::new(side([before]), side([now]));
        (diff.comparison.cases[0].category.words(), diff.comparison.cases[0].p, diff.comparison.p)
    };
    // Fisher's test is 1 / C(20, 10) on one side.
    let twice = 2.0 / 184_756.0;
    for (before, now, category) in
        [((10, 10, 0), (0, 10, 0), "regressed"), ((0, 10, 0), (10, 10, 0), "improved")]
    {
        let (found, p, over_cases) = p_of(before, now);
        assert_eq!(found, category);
        assert!(same(p, Some(twice)) && same(Some(over_cases), Some(twice)), "{p:?} {over_cases}");
    }
    assert_eq!(p_of((5, 10, 0), (5, 10, 0)), ("same", Some(1.0), 1.0));
    // A run without a verdict may have been anything, in either direction.
    let (_, certain, _) = p_of((10, 10, 0), (0, 10, 0));
    let (_, open, _) = p_of((10, 10, 0), (0, 10, 3));
    assert!(open > certain, "{open:?} {certain:?}");
    assert_eq!(p_of((10, 10, 0), (0, 10, 10)), ("error now", None, 1.0));
}

#[test]
fn a_case_that_expects_something_else_is_compared_in_tokens_and_calls_alone() {
    let with = |asks: &str, expects: &str, factor: i64, passed: usize| -> Baseline {
        let change = |line: &Line| Line {
            asks: asks.to_owned(),
            expects: expects.to_owned(),
            tokens: vec![Some(100 * factor); 10],
            calls: vec![2 * usize::try_from(factor).unwrap(); 10],
            ..line.clone()
        };
        side([(passed, 10, 0); 8]).lines().map(change).collect()
    };
    let before = with("a0", "e0", 1, 10);
    let ratios = |now: &Baseline| {
        let diff = Diff::new(before.clone(), now.clone());
        assert!(diff.scores.is_empty() && diff.comparison.cases.iter().all(|case| case.p.is_none()));
        assert_eq!(diff.comparison.counted(), BTreeMap::from([(Category::Incomparable, 8)]));
        [diff.comparison.tokens, diff.comparison.calls]
            .map(|usage| usage.map(|usage| (usage.cases, (usage.ratio * 1000.0).round())))
    };
    assert_eq!(ratios(&with("a0", "e1", 3, 0)), [Some((8, 3000.0)); 2]);
    assert_eq!(ratios(&with("a1", "e1", 3, 0)), [None; 2], "another question costs something else");
}

#[test]
fn scores_that_slide_are_in_a_diff_in_both_directions_and_are_no_verdict() {
    let scored = |score: f64| -> Baseline {
        let change = |line: &Line| {
            let mut line = line.clone();
            line.metrics.values_mut().for_each(|metric| metric.scores = vec![Some(score); 10]);
            line
        };
        side([(10, 10, 0); 8]).lines().map(change).collect()
    };
    for (one, other, shown) in [(0.9, 0.8, "0.900 -> 0.800"), (0.8, 0.9, "0.800 -> 0.900")] {
        let diff = Diff::new(scored(one), scored(other));
        // Twice 1 / 2^8.
        let line = format!("scores of `safety_v1`  {shown} in the mean of 8 cases (p = 0.0078, two-sided)");
        for text in [diff.to_string(), html(&diff).unwrap()] {
            assert!(text.contains(&line) || text.contains(&line.replace('>', "&#62;")), "{text}");
        }
        assert!(
            diff.to_markdown().contains("in the mean of 8 cases (p = 0.0078, two-sided)"),
            "{}",
            diff.to_markdown()
        );
        assert_eq!(diff.comparison.counted(), BTreeMap::from([(Category::Same, 8)]));
    }
    let same = Diff::new(scored(0.9), scored(0.9));
    assert!(!same.to_string().contains("scores of"), "{same}");
}

#[test]
fn the_words_of_others_are_text_on_the_page_and_in_annotations() {
    let mut hostile = line("</td><script>", 10, 10, 0);
    hostile.set = "a,b\n::error::.json".to_owned();
    let before: Baseline = [hostile.clone()].into_iter().collect();
    hostile.passed = 0;
    let now: Baseline = [hostile].into_iter().collect();
    let named = |name: &str, doubt: &str, cases| {
        let mut side = Side::of_baseline(name.to_owned(), cases);
        side.doubts.push(doubt.to_owned());
        side.notes.push("<u>".to_owned());
        side
    };
    let diff = Diff::new(named("<b>", "<i>", before), named("now", "<i>", now));
    let page = html(&diff).unwrap();
    assert!(
        page.contains("regressed") && page.contains("10/10") && page.contains("default-src &#39;none&#39;"),
        "{page}"
    );
    // The page has two scripts of its own. Its style and its scripts have no texts of others.
    let (head, body) = page.split_once("<body>").unwrap();
    let (title, (body, scripts)) =
        (head.split_once("<style>").unwrap().0, body.split_once("</main>").unwrap());
    assert_eq!(scripts.matches("<script>").count(), 2);
    let own = body.replace(" <b>10/10</b>", "").replace(" <b>0/10</b>", "").replace("<b>safety_v1</b>", "");
    for text in [title, &own] {
        assert!(["<script>", "</td><s", "<b>", "<i>", "<u>"].iter().all(|tag| !text.contains(tag)), "{text}");
    }
    let said = annotations(&diff.comparison);
    assert!(said.starts_with("::warning file=a%2Cb") && said.lines().count() == 1, "{said}");
}

#[test]
fn a_diff_names_commits_models_tokens_and_calls_in_each_form() {
    let with_usage = |passed: usize, factor: i64, commit: &str| -> Side {
        let lines = (0..8).map(|case| {
            let mut line = line(&format!("{case:03}"), passed, 10, 0);
            line.tokens = vec![Some(100 * factor + case); 10];
            line.calls = vec![2; 10];
            line.from.commit = Some(commit.to_owned());
            line.from.models = vec!["m_1".to_owned()];
            line
        });
        Side::of_baseline(format!("run {commit}"), lines.collect())
    };
    let diff = Diff::new(with_usage(10, 1, "1a2b3c4d5e"), with_usage(0, 3, "99aabbccdd"));
    let page = html(&diff).unwrap();
    let usage = [
        "tokens  2.",
        "of 8 cases (p = 0.0078, two-sided)",
        "tool calls  1.00 times as many in the median of 8 cases",
    ];
    let p = "p = below 0.000001 over the cases, two-sided";
    for text in [diff.to_string(), diff.to_markdown(), page] {
        let named = ["commit 1a2b3c4", "commit 99aabbc", "regressed", "10/10", "0/10", "0.000011"];
        for part in usage.iter().chain(&named).chain(&[p]) {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }
    let markdown = diff.to_markdown();
    assert!(
        markdown.starts_with("<!-- evalset-diff -->\n## run 1a2b3c4d5e -> run 99aabbccdd\n"),
        "{markdown}"
    );
    assert!(markdown.contains("; model m\\_1 |"), "{markdown}");
    let row =
        "| evals/desk.evalset.json:000 | 10/10 | 0/10 | 0.000011 | \\`safety\\_v1\\` passed 10/10 before";
    assert!(markdown.contains(row), "{markdown}");
}
