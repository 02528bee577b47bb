use eval_core::agent_fn;

fn main() {
    let _ = agent_fn(|text, _| async move { text.len() });
}
