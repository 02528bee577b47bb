//! The receiver of OTLP over HTTP, on a port of its own: `POST /v1/traces`, `/v1/logs` and `/v1/metrics`.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::post;

use crate::access::{Access, Needs};
use crate::app::{App, Thread};
use crate::otlp::{self, Encoding, Rejected, Sent, Signal, Unreadable};
use crate::refusal::Refusal;
use crate::sessions::Full;

/// The factor by which an unpacked export may exceed a body: spans are alike, and compress well.
const UNPACKED_FACTOR: usize = 4;

#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) access: Access,
    pub(crate) app: Arc<App>,
}

pub(crate) fn routes(receiver: Receiver) -> Router {
    let receiver = Arc::new(receiver);
    let of = |signal: Signal| {
        post(move |State(receiver): State<Arc<Receiver>>, request: Request| async move {
            receive(&receiver, signal, request).await
        })
    };
    Router::new()
        .route("/v1/traces", of(Signal::Traces))
        .route("/v1/logs", of(Signal::Logs))
        .route("/v1/metrics", of(Signal::Metrics))
        .fallback(|request: Request| async move {
            let why = "exports go to `/v1/traces`, `/v1/logs` or `/v1/metrics`; set `OTEL_EXPORTER_OTLP_ENDPOINT` to the address alone";
            otlp::refused(encoding(&request), StatusCode::NOT_FOUND, why)
        })
        .method_not_allowed_fallback(|request: Request| async move {
            otlp::refused(encoding(&request), StatusCode::METHOD_NOT_ALLOWED, "exports are sent with `POST`")
        })
        .with_state(receiver)
}

/// The encoding of the answer: JSON if the request has no encoding of OTLP.
fn encoding(request: &Request) -> Encoding {
    Encoding::from_headers(request.headers()).unwrap_or(Encoding::Json)
}

async fn receive(receiver: &Receiver, signal: Signal, request: Request) -> Response {
    let encoding = encoding(&request);
    let app = &receiver.app;
    let allowed = receiver
        .access
        .caller(request.method(), request.uri(), request.headers())
        .and_then(|caller| Access::check(caller, Needs::Computing));
    // A caller without access changes nothing, not even the list of refusals.
    if let Err(refusal) = allowed {
        return otlp::refused(encoding, refusal.status, &refusal.text());
    }
    match store(app, signal, request).await {
        Ok(rejected) => otlp::stored(signal, encoding, rejected.as_ref()),
        Err((refusal, sent)) => {
            let why = refusal.text();
            if signal != Signal::Metrics {
                app.sessions.refuse(&why, sent.as_ref());
            }
            otlp::refused(encoding, refusal.status, &why)
        }
    }
}

/// Stores an export. The error includes the export if it had arrived whole.
async fn store(
    app: &Arc<App>,
    signal: Signal,
    request: Request,
) -> Result<Option<Rejected>, (Refusal, Option<Sent>)> {
    let Some(encoding) = Encoding::from_headers(request.headers()) else {
        let why = "an export is `application/x-protobuf` or `application/json`";
        return Err((Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why), None));
    };
    let mut received = app.receive(request).await.map_err(|refusal| (refusal, None))?;
    let sent = Sent { signal, bytes: received.bytes.clone() };
    received.left = received.left.saturating_mul(UNPACKED_FACTOR);
    let own = Arc::clone(app);
    let added = app.compute_with(received, Thread::BySize, move |received| {
        let export =
            otlp::read(signal, encoding, &received.bytes).map_err(|Unreadable(why)| Refusal::bad(why))?;
        own.sessions
            .add(export)
            .map_err(|Full| Refusal::busy("there is no room for more sessions; send it again later"))
    });
    match added.await {
        Ok(rejected) => {
            // An export that was stored only in part does not count as arrived.
            if rejected.is_none() {
                app.sessions.arrived(&sent);
            }
            Ok(rejected)
        }
        Err(refusal) => Err((refusal, Some(sent))),
    }
}
