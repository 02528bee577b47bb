//! What a cluster assistant did in production, to be played back: `Replay` needs no model and no cluster.

use eval_core::{Content, Event, FunctionCall, FunctionResponse, Part, Replay, json};

/// The recorded conversation.
pub(crate) fn recording() -> Replay {
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
