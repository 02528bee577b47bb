//! Requests to a server.

use std::error::Error as _;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use eval_core::format::{AppDetails, Value};
use eval_support::http::{Clients, error_body};
use reqwest::{Client, Method, Response, StatusCode, Url};

use super::error::{AdkServerError, cut};
use crate::secret_headers::Headers;
use crate::shared_group::SharedGroup;
use crate::wire;
use eval_core::group::Launch;
use eval_core::stderr;
use eval_core::stderr::Tail;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);

const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// The most bytes of an answer. A session has all its events.
const MAX_ANSWER_BYTES: usize = 256 << 20;

/// The longest wait for a server that broke a connection to end.
const EXIT_WAIT: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Program {
    pub(super) launch: Launch,
    pub(super) group: SharedGroup,
    pub(super) wrote: Tail,
}

impl Program {
    /// The end of a program that broke a connection, and its last output; `None` if it runs on.
    async fn gone(&self) -> Option<String> {
        let status = self.group.ended_within(EXIT_WAIT).await?;
        let wrote = stderr::quoted("it wrote last", &self.wrote.final_output().await);
        Some(format!("; the server `{}` has ended: {status}{wrote}", self.launch))
    }

    pub(super) fn has_ended(&self) -> bool {
        self.group.ended().is_some()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Http {
    pub(super) base: Url,
    pub(super) headers: Headers,
    program: Option<Arc<Program>>,
}

/// The answer of a server to the question whether it is ready.
#[derive(Clone, Copy, Debug)]
pub(super) enum Probe {
    Ready,
    /// The route that was asked last, and a status that is no success.
    Answered {
        path: &'static str,
        status: StatusCode,
    },
    Silent,
}

static CLIENTS: Clients = Clients::new();

impl Http {
    pub(super) fn new(
        url: &str,
        headers: Headers,
        program: Option<Arc<Program>>,
    ) -> Result<Self, AdkServerError> {
        let unfit = |why: &str| format!("`{}` is no address of a server: {why}", cut(url));
        let base = Url::parse(url).map_err(|error| AdkServerError::Request {
            message: unfit(&error.to_string()),
            source: Some(Arc::new(error)),
        })?;
        let unfit = |why| Err(AdkServerError::request(unfit(why)));
        match base.scheme() {
            "https" if !cfg!(feature = "https") => {
                return unfit("https needs the feature `https` of eval-agents");
            }
            "http" | "https" if base.has_host() => {}
            _ => return unfit("it has to begin with http:// or https://"),
        }
        Ok(Self { base, headers, program })
    }

    /// Whether the command of the server has an argument.
    pub(super) fn has_argument(&self, name: &str) -> bool {
        self.program.as_ref().is_some_and(|program| program.launch.args.iter().any(|arg| arg == name))
    }

    pub(super) async fn answers_soon(&self) -> bool {
        matches!(self.probe().await, Probe::Ready)
    }

    /// Asks whether the server is ready to serve.
    pub(super) async fn probe(&self) -> Probe {
        let probe = async {
            let mut last = Probe::Silent;
            for path in ["list-apps", "health"] {
                let Ok(response) = self.send(Method::GET, &[path], None, None).await else { return last };
                let status = response.status();
                if status.is_success() {
                    return Probe::Ready;
                }
                last = Probe::Answered { path, status };
                // Some servers have only the other route.
                if !has_no_route(status) {
                    break;
                }
            }
            last
        };
        tokio::time::timeout(PROBE_TIMEOUT, probe).await.unwrap_or(Probe::Silent)
    }

    pub(super) async fn apps(&self) -> Result<Option<Vec<String>>, AdkServerError> {
        let what = "GET /list-apps";
        let response = self.send(Method::GET, &["list-apps"], None, Some(REQUEST_TIMEOUT)).await?;
        if has_no_route(response.status()) {
            return Ok(None);
        }
        let answer = self.json(what, response).await?;
        let names = answer
            .as_array()
            .map(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect());
        Ok(names.flatten())
    }

    pub(super) async fn details(&self, app: &str) -> Result<AppDetails, AdkServerError> {
        let what = "GET of the app's info";
        let response =
            self.send(Method::GET, &["apps", app, "app-info"], None, Some(REQUEST_TIMEOUT)).await?;
        // A server may have the route and no information on some kinds of apps.
        if has_no_route(response.status()) || response.status() == StatusCode::BAD_REQUEST {
            return Ok(AppDetails::default());
        }
        let answer = self.json(what, response).await?;
        let read = wire::Reader::new(answer, "app info").and_then(wire::details);
        read.map_err(|why| AdkServerError::Answer(format!("{what}: {why}")))
    }

    pub(super) async fn ask(
        &self,
        what: &str,
        method: Method,
        path: &[&str],
        body: Option<&Value>,
    ) -> Result<Value, AdkServerError> {
        let response = self.send(method, path, body, None).await?;
        self.json(what, response).await
    }

    pub(super) async fn send(
        &self,
        method: Method,
        path: &[&str],
        body: Option<&Value>,
        limit: Option<Duration>,
    ) -> Result<Response, AdkServerError> {
        // Another program may listen on the port of a server that has ended.
        if let Some(program) = self.program.as_ref().filter(|program| program.has_ended()) {
            let message = format!("no connection to {}", self.server());
            let gone = program.gone().await.unwrap_or_default();
            return Err(AdkServerError::Unreachable { message, source: None }.with(&gone));
        }
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        let headers = self.headers.all().map_err(AdkServerError::request)?.clone();
        let mut request = self.client()?.request(method, url).headers(headers);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        if let Some(limit) = limit {
            request = request.timeout(limit);
        }
        match request.send().await {
            Ok(response) => Ok(response),
            Err(error) => Err(self.explain(error).await),
        }
    }

    async fn json(&self, what: &str, mut response: Response) -> Result<Value, AdkServerError> {
        if !response.status().is_success() {
            return Err(self.refused(what, response).await);
        }
        let mut body = Vec::new();
        while let Some(piece) = self.piece(&mut response).await? {
            if body.len() + piece.len() > MAX_ANSWER_BYTES {
                let limit = MAX_ANSWER_BYTES >> 20;
                return Err(AdkServerError::Answer(format!("{what} answered with more than {limit} MiB")));
            }
            body.extend_from_slice(&piece);
        }
        let text = String::from_utf8_lossy(&body);
        Value::parse(&text).map_err(|error| {
            let text = self.headers.mask(&text);
            AdkServerError::Answer(format!(
                "{what} answered with something that is not JSON ({error}): {}",
                cut(&text)
            ))
        })
    }

    pub(super) async fn refused(&self, what: &str, mut response: Response) -> AdkServerError {
        let status = response.status();
        let body = self.headers.mask(&error_body(&mut response).await);
        let told = if status.is_redirection() {
            let to = response.headers().get("location").and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
            format!("a redirect to {to}, which is not followed")
        } else {
            body
        };
        let error = AdkServerError::status(what, status, &told);
        // Python's server writes the reason of a failure to its log alone.
        match &self.program {
            Some(_) if status.is_server_error() => error.with(&self.wrote_last().await),
            None if status.is_server_error() && says_no_reason(status, &told) => {
                error.with(&format!("; the log of the server at {} has the reason", self.server()))
            }
            _ => error,
        }
    }

    pub(super) async fn piece(
        &self,
        response: &mut Response,
    ) -> Result<Option<impl Deref<Target = [u8]> + use<>>, AdkServerError> {
        match response.chunk().await {
            Ok(piece) => Ok(piece),
            Err(error) => Err(self.explain(error).await),
        }
    }

    /// The error of a request whose answer is missing or incomplete.
    async fn explain(&self, error: reqwest::Error) -> AdkServerError {
        let is_connect = error.is_connect();
        let is_timeout = error.is_timeout();
        let error = error.without_url();
        let causes = self.headers.mask(&causes(&error));
        let source: Option<Arc<dyn std::error::Error + Send + Sync>> = Some(Arc::new(error));
        let error = if is_connect {
            let message = format!("no connection to {}: {causes}", self.server());
            AdkServerError::Unreachable { message, source }
        } else if is_timeout {
            AdkServerError::Broken { message: format!("{} did not answer in time", self.server()), source }
        } else {
            AdkServerError::Broken { message: format!("{} broke off: {causes}", self.server()), source }
        };
        let Some(program) = &self.program else { return error };
        match program.gone().await {
            Some(gone) => error.with(&gone),
            None => error,
        }
    }

    fn server(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        match self.base.port_or_known_default() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    pub(super) async fn wrote_last(&self) -> String {
        match &self.program {
            Some(program) => {
                stderr::quoted("the server wrote last", &self.headers.mask(&program.wrote.settled().await))
            }
            None => String::new(),
        }
    }

    fn client(&self) -> Result<&'static Client, AdkServerError> {
        let user_agent = concat!("eval-agents/", env!("CARGO_PKG_VERSION"));
        CLIENTS.client(&self.base, user_agent).map_err(|error| AdkServerError::Request {
            message: causes(&error),
            source: Some(Arc::new(error)),
        })
    }
}

/// Whether the body of an error has the words of its status alone.
fn says_no_reason(status: StatusCode, body: &str) -> bool {
    let body = body.trim();
    body.is_empty() || status.canonical_reason() == Some(body)
}

pub(super) fn has_no_route(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED)
}

/// An error with its causes. The error must not contain the address, which may hold a password.
fn causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    eval_support::untrusted::name(&text).into_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[tokio::test]
    async fn other_cases_have_their_time_while_the_end_of_a_server_is_awaited() {
        let launch = Launch::new(Command::new("sleep").arg("600"));
        let group = SharedGroup::new(launch.start(Stdio::null()).unwrap());
        let server = Program { launch, group, wrote: Tail::default() };
        // The clock is paused, and jumps to the next of the awaited times.
        tokio::time::pause();
        tokio::select! {
            gone = server.gone() => panic!("the other case lost its time: {gone:?}"),
            () = tokio::time::sleep(EXIT_WAIT / 2) => {}
        }
        assert_eq!(server.gone().await, None, "it runs on");
    }
}
