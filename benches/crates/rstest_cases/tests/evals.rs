//! A table of cases with a body that checks them; `compile_cost.py` writes the table below this head.

use rstest::rstest;

struct Reply {
    text: String,
    calls: Vec<(&'static str, usize)>,
}

/// Answers with words that depend on the number of the order alone.
async fn shop(question: &str) -> Reply {
    let words: Vec<&str> = include_str!("words.txt").split_whitespace().collect();
    let order: usize = question.trim_end_matches('?').rsplit(' ').next().unwrap().parse().unwrap();
    let word = |at: usize| words[(order * 7 + at * at * 3 + at) % words.len()];
    let text = format!("Order {order}: {}.", (0..24).map(word).collect::<Vec<_>>().join(" "));
    Reply { text, calls: vec![("lookup_order", order)] }
}
