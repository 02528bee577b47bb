//! `cargo evalset serve`: checks and scores over HTTP, and the pages in the browser.

mod drafts;
#[cfg(feature = "store")]
mod stored;

use std::fs;
use std::future::{Future as _, poll_fn};
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::task::Poll;

use eval_core::metric::{BoxMetric, commands_of};
use eval_server::{BindError, Server, ServerOptions, TokenError, stop_signal};
use eval_support::untrusted::one_line;

use crate::agent::{self, AgentArgs};
#[cfg(not(feature = "store"))]
use crate::features::StoreArgs;
use crate::files::read_config;
use crate::output::{Answer, CommandError, Outcome};
use crate::recorded::root;
use crate::serve::{PAGES, Start, site};
use drafts::SetFolder;
#[cfg(feature = "store")]
use stored::StoreArgs;

/// Shows runs while they run, drafts and files in the browser, and checks eval sets and scores traces over HTTP.
///
/// It ends at Ctrl-C, and on Unix at SIGTERM. The URL that it prints has a token: any holder of it may read the records. A token
/// from a file is not printed.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, group = agent::at_most_one())]
pub(crate) struct Args {
    /// The port; 0 is any that is free.
    #[arg(long, default_value_t = 8001)]
    port: u16,

    /// The address to listen on. On others than loopback, everything but the health needs the token.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,

    /// Answers to this name too, such as a proxy's. May be given several times.
    #[arg(long = "allow-host", value_name = "NAME")]
    hosts: Vec<String>,

    /// A file with the token, of 16 or more letters and digits. Without it, the token is a new one each time.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// The agent of the runs that can be started in the browser.
    #[command(flatten)]
    agent: AgentArgs,

    /// A config whose programs of `custom_metrics` requests with the token may name as metrics. No request says what runs.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The prices of a million tokens in and out, for all models or for one: the pages of runs show what the agent cost. Can
    /// be repeated. Without it, the prices that each run was given count.
    #[arg(long = "price", value_name = "[MODEL=]IN/OUT")]
    prices: Vec<String>,

    #[command(flatten)]
    stored: StoreArgs,

    /// The port on which agents send traces over OTLP; 0 is any that is free. [default: 4318, or none if it is taken]
    #[arg(long, value_name = "PORT")]
    otlp_port: Option<u16>,

    /// Receives no traces.
    #[arg(long, conflicts_with = "otlp_port")]
    no_otlp: bool,
}

const OTLP_PORT: u16 = 4318;

const AFTER_HELP: &str = "\
Examples:
  cargo evalset serve
  cargo evalset serve --agent my_agents.weather:agent       # the browser can start runs
  curl -X POST http://localhost:8001/api/validate/eval-set -F \"eval_set_file=@weather.evalset.json\"";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let start = start(&args.agent)?;
    #[cfg(feature = "store")]
    args.stored.check(start.is_some())?;
    #[cfg(feature = "store")]
    let records = args.stored.records()?.unwrap_or_else(root);
    #[cfg(not(feature = "store"))]
    let records = args.stored.check().map(|()| root())?;
    let (pages, site) = site(records.clone(), super::report::prices(&args.prices)?, start);
    let mut options = ServerOptions::new().records(records).pages(pages).links(PAGES);
    for host in &args.hosts {
        options = options.allow_host(host);
    }
    if let Some(path) = &args.config {
        for (name, metric) in programs(path)? {
            options = options.metric(name, metric);
        }
    }
    if let Some(path) = &args.token_file {
        let token = fs::read_to_string(path).map_err(|error| {
            let message = format!("cannot read the token in `{}`: {error}", path.display());
            CommandError::new(message, "write a token into the file, or leave `--token-file` out")
        })?;
        options = options.token(token.trim());
    }
    let folder = SetFolder::current().map_err(|error| {
        let help = "start it in a folder that exists";
        CommandError::new(format!("cannot read the folder of the service: {error}"), help)
    })?;
    options = options.drafts(folder);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| {
        let help = "raise this user's limit of open files";
        CommandError::new(format!("cannot start the runtime of the service: {error}"), help)
    })?;
    let address = SocketAddr::new(args.host, args.port);
    let ended = runtime.block_on(async {
        let server = bind(args, address, options).await.map_err(|error| cannot_start(&error))?;
        // The first poll installs the handlers, before the address is printed: a caller may end the service
        // at once.
        let mut asked_to_end = Box::pin(stop_signal());
        if poll_fn(|context| Poll::Ready(asked_to_end.as_mut().poll(context))).await.is_ready() {
            return Ok(());
        }
        // A closed standard output does not stop the service.
        let url = match &args.token_file {
            // The token is not printed: readers of a service's log may not be allowed to read the file.
            Some(path) => format!("{}/ with the token in `{}`", server.origin(), path.display()),
            None => server.url(),
        };
        drop(writeln!(io::stdout(), "serving on {url}"));
        if let Some(address) = server.otlp_address() {
            drop(writeln!(io::stdout(), "receiving traces on http://{address}"));
        }
        let stop = async {
            asked_to_end.await;
            site.end();
        };
        server.run(stop).await;
        Ok(())
    });
    // Work for requests whose clients are gone is not awaited.
    runtime.shutdown_background();
    ended.map(|()| Answer::new(Outcome::Passed, String::new()))
}

/// The metrics that programs of a config compute. Fails without any: the other criteria of a config count for no request.
fn programs(path: &Path) -> Result<Vec<(String, BoxMetric)>, CommandError> {
    let programs = commands_of(&read_config(path, &[])?);
    if programs.is_empty() {
        let shown = one_line(&path.display().to_string());
        return Err(CommandError::new(
            format!(
                "`{shown}` names no program that computes a metric, so that it changes nothing for the service"
            ),
            "give a metric of its `criteria` a `command` in `custom_metrics`, or leave `--config` out",
        ));
    }
    Ok(programs)
}

/// The run that the browser can start. Wrong arguments of the agent are an error now, and not at its start.
fn start(agent: &AgentArgs) -> Result<Option<Start>, CommandError> {
    let Some(args) = agent.given() else { return Ok(None) };
    agent.choose()?;
    Ok(Some(Start { agent: agent.name(), args }))
}

/// Binds the ports. If the default port for traces is taken, as by a collector, the service runs without.
async fn bind(args: &Args, address: SocketAddr, options: ServerOptions) -> Result<Server, BindError> {
    if args.no_otlp {
        return Server::bind(address, options).await;
    }
    let port = args.otlp_port.unwrap_or(OTLP_PORT);
    match Server::bind(address, options.clone().otlp_port(port)).await {
        Err(error @ BindError::Receiver { .. }) if args.otlp_port.is_none() => {
            drop(writeln!(io::stderr(), "warning: {error}; name another port with `--otlp-port`"));
            Server::bind(address, options).await
        }
        bound => bound,
    }
}

fn cannot_start(error: &BindError) -> CommandError {
    let help = match error {
        BindError::Address { .. } => "name another port with `--port`, or end what listens there",
        BindError::Receiver { .. } => {
            "name another port with `--otlp-port`, or leave traces out with `--no-otlp`"
        }
        BindError::Token(TokenError::Random { .. }) => {
            "without random numbers no token is secret; give the process access to the system's"
        }
        _ => "a token has 16 or more letters, digits, `-`, `.`, `_` and `~`",
    };
    CommandError::new(error.to_string(), help)
}
