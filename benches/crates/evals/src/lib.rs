//! The agent of the measurements; `cases.py` makes its sets.

use std::sync::LazyLock;

use eval_core::{Agent, BoxError, Turn, json};

static WORDS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("../words.txt").split_whitespace().collect());

/// Looks an order up and answers with words that depend on its number alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shop;

impl Agent for Shop {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let text = turn.text();
        let order: usize = text.trim_end_matches('?').rsplit(' ').next().unwrap_or_default().parse()?;
        let found = async { Ok::<_, BoxError>(json!({ "found": true })) };
        turn.recorder().tool("lookup_order", json!({ "order_id": order }), found).await?;
        turn.recorder().text(answer(order));
        Ok(())
    }
}

fn answer(order: usize) -> String {
    let word = |at: usize| WORDS[(order * 7 + at * at * 3 + at) % WORDS.len()];
    format!("Order {order}: {}.", (0..24).map(word).collect::<Vec<_>>().join(" "))
}
