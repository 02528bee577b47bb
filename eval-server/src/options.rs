//! Options of a server.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use eval_core::metric::BoxMetric;
use eval_support::setters;

use crate::drafts::DraftStore;
use crate::limits::Limits;

/// Options of a server.
///
/// ```
/// use eval_server::ServerOptions;
///
/// let options = ServerOptions::new().records("target/evalset").allow_host("evals.example.com");
/// ```
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    pub(crate) drafts: Option<Arc<dyn DraftStore>>,
    pub(crate) hosts: Vec<String>,
    pub(crate) limits: Limits,
    pub(crate) links: Vec<(&'static str, &'static str)>,
    pub(crate) metrics: Vec<(String, BoxMetric)>,
    pub(crate) otlp_port: Option<u16>,
    pub(crate) pages: Option<Router>,
    pub(crate) records: Option<PathBuf>,
    pub(crate) token: Option<String>,
}

impl ServerOptions {
    /// A server with a random token and without recorded runs, which answers to names of this machine.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Also answers requests with this name in `Host`, such as the name of a proxy, without a port. They need
        /// the token.
        allow_host(host: impl Into<String>) { hosts.push(host.into().to_ascii_lowercase()) }

        /// Saves drafts of cases that are made of live sessions. Without it, none can be saved.
        drafts(drafts: impl DraftStore + 'static) { drafts = Some(Arc::new(drafts)) }

        /// Sets limits of the cost of requests.
        limits(limits: Limits) { limits = limits }

        /// The pages that the page of live sessions links to, by name and path. Without them it links to itself
        /// and to `/`.
        ///
        /// ```
        /// use eval_server::ServerOptions;
        ///
        /// let options = ServerOptions::new().links([("Runs", "/"), ("Sessions", "/sessions")]);
        /// ```
        links(links: impl IntoIterator<Item = (&'static str, &'static str)>) { links = links.into_iter().collect() }

        /// A metric that requests may name; it replaces a built-in metric of its name. Requests that name it need the token.
        /// Programs as metrics are given here alone: a request never says what runs.
        ///
        /// ```
        /// use std::process::Command;
        ///
        /// use eval_core::metric::{BoxMetric, CommandMetric};
        /// use eval_server::ServerOptions;
        ///
        /// let brevity = CommandMetric::new(Command::new("metrics/brevity"));
        /// let options = ServerOptions::new().metric("brevity", BoxMetric::new(brevity));
        /// ```
        metric(name: impl Into<String>, metric: BoxMetric) { metrics.push((name.into(), metric)) }

        /// Receives traces over OTLP on this port, beside the other routes; 0 takes any free port. Agents send
        /// them to port 4318 by default.
        otlp_port(port: u16) { otlp_port = Some(port) }

        /// Further routes: pages for people, `/` among them. They are outside of `/api/` and need the token.
        ///
        /// A browser shows the token once, in the URL that the server printed. A cookie replaces it from then on.
        /// The cookie is enough for requests that change nothing. Others need the header `x-evalset` too, which
        /// no form of another site can send.
        ///
        /// ```
        /// use eval_server::ServerOptions;
        /// use eval_server::axum::{Router, routing::get};
        ///
        /// let options = ServerOptions::new().pages(Router::new().route("/", get(|| async { "runs" })));
        /// ```
        pages(pages: Router) { pages = Some(pages) }

        /// The folder of recorded runs, such as `target/evalset`.
        records(folder: impl Into<PathBuf>) { records = Some(folder.into()) }

        /// The token, for clients that are set up before the server starts. The default is a new random token.
        token(token: impl Into<String>) { token = Some(token.into()) }
    }
}
