//! Runs eval sets against agents.

#[cfg_attr(not(test), expect(dead_code, reason = "the metrics that call it come next"))]
mod score;
