//! Information about the service.

use std::env;

use axum::extract::State;
use axum::response::Response;
use eval_core::judge::Provider;
use eval_format::metric::{METRICS, MetricInfo, Need};
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::{self, Envelope};
use crate::app::Shared;

/// The health of the service.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Health {
    /// `ok`.
    status: &'static str,
    /// The version of this service.
    version: &'static str,
}

/// Says that the service runs.
#[utoipa::path(get, path = "/api/health", responses((status = 200, body = Envelope<Health>)))]
pub(crate) async fn health() -> Response {
    answer::data(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// The configuration of the service.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Config {
    /// The models' keys that are set.
    api_keys: ApiKeys,
    /// The address that receives traces; null if there is none.
    otlp: Option<Otlp>,
}

/// The address that receives traces over OTLP.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Otlp {
    /// The port for OTLP over HTTP.
    http_port: u16,
    /// Always null: OTLP over gRPC is not received.
    #[schema(value_type = Option<u16>)]
    grpc_port: Option<()>,
}

/// The models' keys that are set. The keys are never shown.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApiKeys {
    google: bool,
    anthropic: bool,
    openai: bool,
}

/// Says how the service is set up.
#[utoipa::path(get, path = "/api/config", responses((status = 200, body = Envelope<Config>)))]
pub(crate) async fn config(State(app): State<Shared>) -> Response {
    let is_set = |name: &&str| env::var_os(name).is_some_and(|key| !key.is_empty());
    let has = |provider: Provider| provider.key_variables().iter().any(is_set);
    let api_keys = ApiKeys {
        google: has(Provider::Gemini),
        anthropic: has(Provider::Anthropic),
        openai: has(Provider::OpenAi),
    };
    let otlp = app.otlp.map(|address| Otlp { http_port: address.port(), grpc_port: None });
    answer::data(Config { api_keys, otlp })
}

/// A built-in metric.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the JSON has these fields")]
pub(crate) struct Metric {
    name: &'static str,
    /// The category: `trajectory`, `response`, `safety`, `multi-turn`, `quality` or `other`.
    category: &'static str,
    /// Whether it compares with what a case expects.
    requires_eval_set: bool,
    /// Whether it asks a judge.
    #[serde(rename = "requiresLLM")]
    requires_llm: bool,
    /// Always false: what ADK sends to Vertex AI is asked of a judge here.
    #[serde(rename = "requiresGCP")]
    requires_gcp: bool,
    /// Whether it needs rubrics.
    requires_rubrics: bool,
    description: &'static str,
    /// Always true: what is listed works.
    working: bool,
    /// The lowest score.
    min: f64,
    /// The highest score; null if there is none.
    max: Option<f64>,
    /// Whether it can fail a case.
    gates: bool,
}

impl From<&MetricInfo> for Metric {
    fn from(info: &MetricInfo) -> Self {
        Self {
            name: info.name,
            category: info.category.as_str(),
            requires_eval_set: info.needs.contains(&Need::Expectation),
            requires_llm: info.needs.contains(&Need::Judge),
            requires_gcp: false,
            requires_rubrics: info.rubric_type().is_some(),
            description: info.summary,
            working: true,
            min: info.min,
            max: info.max,
            gates: info.gates,
        }
    }
}

/// Lists the metrics.
#[utoipa::path(get, path = "/api/metrics", responses((status = 200, body = Envelope<Vec<Metric>>)))]
pub(crate) async fn metrics() -> Response {
    answer::data(METRICS.iter().map(Metric::from).collect::<Vec<_>>())
}
