//! A server program that this process starts.

use std::net::TcpListener;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::StatusCode;
use tokio::sync::OnceCell;

use super::error::AdkServerError;
use super::golden_tools::ToolRouter;
use super::http::{Http, Probe, Program};
use super::listener::{Listener, listener};
use crate::models::redirected;
use crate::secret_headers::Headers;
use crate::shared_group::SharedGroup;
use eval_core::group::Launch;
use eval_core::models::{ModelMode, Router as ModelRouter};
use eval_core::stderr::{Tail, quoted};

const PORT_PLACEHOLDER: &str = "{port}";

const PORT_ATTEMPTS: usize = 3;

const GOLDEN_NEEDS: &str = "; golden tools start it with `--extra_plugins`, which google-adk in Python knows";

const POLL_PAUSE: Duration = Duration::from_millis(50);

/// The wait before an answer is accepted on a port whose owner the system does not tell. Meanwhile the server
/// may end, or listen.
const UNKNOWN_OWNER_TIMEOUT: Duration =
    if cfg!(target_os = "linux") { Duration::from_secs(5) } else { Duration::ZERO };

/// The answerers of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Answered {
    /// Whether its tools ask for golden answers.
    pub(super) golden: bool,
    /// The mode of its calls of models; `None` if it asks its models itself.
    pub(super) models: Option<ModelMode>,
}

pub(super) struct Spawned {
    launch: Launch,
    answered: Answered,
    /// A failed start is kept too, and not retried.
    running: OnceCell<Result<Running, AdkServerError>>,
}

/// A server that answers.
#[derive(Clone)]
pub(super) struct Running {
    port: u16,
    pub(super) program: Arc<Program>,
    /// Address of the golden tools.
    pub(super) router: Option<Arc<ToolRouter>>,
    /// Address of recorded model calls.
    pub(super) models: Option<ModelRouter>,
    /// The variables that its command keeps from being redirected.
    pub(super) note: Option<String>,
}

impl Running {
    pub(super) fn url(&self, prefix: &str) -> String {
        url(self.port, prefix)
    }
}

impl Spawned {
    pub(super) fn new(launch: Launch, answered: Answered) -> Self {
        Self { launch, answered, running: OnceCell::new() }
    }

    /// The server. The first caller starts it; the others wait.
    pub(super) async fn running(&self, prefix: &str, limit: Duration) -> Result<Running, AdkServerError> {
        self.running.get_or_init(|| self.start(prefix, limit)).await.clone()
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self.running.get(), Some(Ok(running)) if running.program.has_ended())
    }

    async fn start(&self, prefix: &str, limit: Duration) -> Result<Running, AdkServerError> {
        let deadline = Instant::now() + limit;
        let mut attempt = 1;
        loop {
            match self.attempt(prefix, limit, deadline).await {
                Err(failure) if failure.is_port_taken && attempt < PORT_ATTEMPTS => attempt += 1,
                ended => return ended.map_err(|failure| failure.error),
            }
        }
    }

    async fn attempt(&self, prefix: &str, limit: Duration, deadline: Instant) -> Result<Running, Failure> {
        // Another program may take the port before the server does.
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|free| free.local_addr());
        let port = free.map_err(|error| not_started("no free port for the server", error))?.port();
        let http = Http::new(&url(port, prefix), Headers::default(), None)?;
        let launch = with_port(&self.launch, port);
        let router = self.answered.golden.then(ToolRouter::open).transpose();
        let router =
            router.map_err(|error| not_started("the plugin of golden tools cannot be written", error))?;
        let launch = router.as_ref().map_or_else(|| launch.clone(), |router| router.plugin_for(&launch));
        let (launch, models, note) = self.redirected(&launch)?;
        let mut group = launch
            .start(Stdio::null())
            .map_err(|error| not_started(&format!("the server `{launch}` cannot be started"), error))?;
        let wrote = Tail::default();
        // Servers write to either output that they are ready, or why they are not.
        if let Some(output) = group.child.stdout.take() {
            wrote.follow(output);
        }
        if let Some(errors) = group.child.stderr.take() {
            wrote.follow(errors);
        }
        let group = SharedGroup::new(group);
        let running = |group, wrote| {
            let launch = self.launch.clone();
            let program = Arc::new(Program { launch, group, wrote });
            Running { port, program, router: router.clone(), models: models.clone(), note: note.clone() }
        };
        let mut answered_unknown = None;
        let mut refused = None;
        loop {
            let probe = http.probe().await;
            if let Probe::Answered { path, status } = probe {
                refused = Some((path, status));
            }
            // An answer on the port of a server that is gone comes from another program.
            if let Some(status) = group.ended() {
                group.kill().await;
                let text = wrote.final_output().await;
                let wrote = quoted("it wrote", &text);
                let golden = if self.answered.golden { GOLDEN_NEEDS } else { "" };
                let why = format!("the server `{launch}` ended before it answered: {status}{golden}{wrote}");
                let error = AdkServerError::NotReady(why);
                return Err(Failure { error, is_port_taken: says_port_taken(&text) });
            }
            if matches!(probe, Probe::Ready) {
                match listener(port, group.id()) {
                    Listener::Ours => return Ok(running(group, wrote)),
                    Listener::Foreign { pid, program } => {
                        group.kill().await;
                        let error = foreign(&launch, port, pid, &program);
                        return Err(Failure { error, is_port_taken: true });
                    }
                    Listener::Unknown => {
                        let since = *answered_unknown.get_or_insert_with(Instant::now);
                        if since.elapsed() >= UNKNOWN_OWNER_TIMEOUT {
                            return Ok(running(group, wrote));
                        }
                    }
                }
            }
            if Instant::now() >= deadline {
                group.kill().await;
                let wrote = quoted("it wrote last", &wrote.final_output().await);
                return Err(late(&launch, &http, limit, refused, &wrote).into());
            }
            tokio::time::sleep(POLL_PAUSE).await;
        }
    }
}

impl Spawned {
    /// The launch whose clients of models ask the gateway, where they are answered, and a note.
    fn redirected(
        &self,
        launch: &Launch,
    ) -> Result<(Launch, Option<ModelRouter>, Option<String>), AdkServerError> {
        let Some(mode) = self.answered.models else { return Ok((launch.clone(), None, None)) };
        let router = ModelRouter::open(mode).map_err(AdkServerError::NotReady)?;
        let variables = router.variables().map_err(AdkServerError::NotReady)?;
        let (launch, note) = redirected(launch, variables);
        Ok((launch, Some(router), note))
    }
}

/// The error of a server that was not ready in time. What it answered is told: it runs, and does not have what is asked.
fn late(
    launch: &Launch,
    http: &Http,
    limit: Duration,
    refused: Option<(&'static str, StatusCode)>,
    wrote: &str,
) -> AdkServerError {
    let base = &http.base;
    let limit = format!("within {limit:?} (`ready_within`, or `--ready-within`, sets the limit)");
    AdkServerError::NotReady(match refused {
        Some((path, status)) => format!(
            "the server `{launch}` was not ready {limit}: GET {}/{path} answered {status}{wrote}",
            base.as_str().trim_end_matches('/')
        ),
        None => format!("the server `{launch}` did not answer {base} {limit}{wrote}"),
    })
}

fn foreign(launch: &Launch, port: u16, pid: i32, program: &str) -> AdkServerError {
    AdkServerError::NotReady(format!(
        "port {port} of `{launch}` is answered by another program, `{program}` (process {pid}), which this test did not start; \
         a server that runs in a container or as a service of the system is started beforehand, and named by its address: \
         `AdkServer::at(\"http://localhost:{port}\", ..)`, `--agent-url http://localhost:{port}`"
    ))
}

struct Failure {
    error: AdkServerError,
    is_port_taken: bool,
}

impl From<AdkServerError> for Failure {
    fn from(error: AdkServerError) -> Self {
        Self { error, is_port_taken: false }
    }
}

fn not_started(what: &str, error: std::io::Error) -> AdkServerError {
    AdkServerError::Start { message: format!("{what}: {error}"), source: Arc::new(error) }
}

/// The address of a server, by name: it may listen on a single address of `localhost`.
fn url(port: u16, prefix: &str) -> String {
    format!("http://localhost:{port}/{}", prefix.trim_matches('/'))
}

fn with_port(launch: &Launch, port: u16) -> Launch {
    let mut is_placed = false;
    let mut launch = launch.clone();
    for arg in &mut launch.args {
        if let Some(text) = arg.to_str().filter(|text| text.contains(PORT_PLACEHOLDER)) {
            is_placed = true;
            *arg = text.replace(PORT_PLACEHOLDER, &port.to_string()).into();
        }
    }
    if !is_placed {
        launch.args.extend(["--port".into(), port.to_string().into()]);
    }
    launch
}

fn says_port_taken(text: &str) -> bool {
    let text = text.to_lowercase();
    ["address already in use", "eaddrinuse", "address in use"].iter().any(|words| text.contains(words))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_port_stands_where_the_arguments_say_or_at_their_end() {
        let shown = |args: &[&str]| with_port(&Launch::new(Command::new("adk").args(args)), 81).to_string();
        assert_eq!(shown(&["api_server", "agents"]), "adk api_server agents --port 81");
        assert_eq!(shown(&["web", "-port={port}", "api"]), "adk web -port=81 api");
    }
}
