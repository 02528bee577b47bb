//! Conversations of a cluster assistant in production, to be played back: `Replay` needs no model and no cluster.

use eval_core::agent::Event;
use eval_core::format::{Content, FunctionCall, FunctionResponse, Part};
use eval_core::{BoxError, Replay, json};

/// The recorded conversation of a case.
pub(crate) fn of(eval_id: &str) -> Result<Replay, BoxError> {
    match eval_id {
        "cluster_failing_pods" => Ok(failing_pods()),
        other => Err(format!("nothing was recorded for {other}").into()),
    }
}

fn failing_pods() -> Replay {
    let call = FunctionCall::new("k8s_get_pods", json!({ "namespace": "shop", "status": "failing" }));
    let pods = json!({ "pods": [{ "name": "cart-7d9", "restarts": 14, "reason": "OOMKilled" }] });
    Replay::new([vec![
        Event::new("cluster_agent", Content::new("model", vec![Part::call(call)])),
        Event::new(
            "cluster_agent",
            Content::new("user", vec![Part::response(FunctionResponse::new("k8s_get_pods", pods))]),
        ),
        Event::from(
            "One pod is failing in the namespace shop:\n\n1. cart-7d9 restarted 14 times (OOMKilled)",
        ),
    ]])
}
