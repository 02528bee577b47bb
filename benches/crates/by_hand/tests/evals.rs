//! One-line tests, as one would write them by hand; `compile_cost.py` writes them below this head.

async fn shop(order: usize) -> String {
    format!("Order {order} ships today.")
}

async fn check(id: &str) {
    let order: usize = id.trim_start_matches("order_").parse().unwrap();
    assert_eq!(shop(order).await, format!("Order {order} ships today."));
}
