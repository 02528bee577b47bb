//! The agent of `run` and `record`: an object of Python, another program, or an app behind an ADK server.

mod python;

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::process::Command;
use std::time::Duration;

use clap::ArgGroup;
use eval_agents::{AdkServer, AdkServerError, Process};
use eval_core::models::ModelMode;
use eval_core::{Agent, BoxAgent, EvalRunner};
use eval_format::matrix::Variant;
use eval_format::options::{ToolSource, parse_timeout};
use eval_support::secrets::{assigned, without_assigned};
use eval_support::untrusted::one_line;
use eval_support::variables::VARIANT;

use crate::features::lacking;
use crate::output::{CommandError, hide};

/// The group of arguments that name the agent. Exactly one of them is required.
pub(crate) fn exactly_one() -> ArgGroup {
    ArgGroup::new("which_agent")
        .args(["agent", "agent_cmd", "adk_cmd", "agent_url"])
        .required(true)
        .multiple(false)
}

/// The same group, without the requirement.
#[cfg(feature = "serve")]
pub(crate) fn at_most_one() -> ArgGroup {
    exactly_one().required(false)
}

/// The group of arguments that name a program, for options that only programs take.
const PROGRAM: &str = "program_of_agent";

fn program() -> ArgGroup {
    ArgGroup::new(PROGRAM).args(["agent", "agent_cmd"]).multiple(true)
}

/// The arguments that say what answers.
#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(group = program())]
pub(crate) struct AgentArgs {
    /// An object of Python: a function, a class with `turn`, or an agent of a framework that the package `evalset` knows. Its module
    /// is imported from the current folder or the installed packages. `python -m evalset` runs it, as a program.
    #[arg(long, value_name = "MODULE:OBJECT", help_heading = "Agent (exactly one)")]
    agent: Option<String>,

    /// A program that speaks the protocol of JSON lines (docs/protocol.md), with its arguments. Each case has its own. No shell
    /// runs it: pipes and variables need `sh -c '..'`.
    #[arg(long, value_name = "COMMAND", help_heading = "Agent (exactly one)")]
    agent_cmd: Option<String>,

    /// The command that starts an ADK server, which should keep no state. A free port takes the place of `{port}`, else `--port`
    /// is appended.
    #[arg(long, value_name = "COMMAND", requires = "app", help_heading = "Agent (exactly one)")]
    adk_cmd: Option<String>,

    /// An app of an ADK server that runs already: its address, with the path that its routes begin with.
    #[arg(long, value_name = "URL", requires = "app", help_heading = "Agent (exactly one)")]
    agent_url: Option<String>,

    /// The app of the server. For a program, the app name of cases that name none.
    #[arg(long, value_name = "NAME", help_heading = "Agent (exactly one)")]
    app: Option<String>,

    /// A header of each request to the server, such as `Authorization=Bearer ..`. Its value is shown nowhere.
    #[arg(
        long = "header",
        value_name = "NAME=VALUE",
        conflicts_with_all = ["agent", "agent_cmd"],
        help_heading = "Agent (exactly one)"
    )]
    headers: Vec<Header>,

    /// How long a server may take until it answers, or a program until it says `hello`: `500ms`, `30s`, `2m`. It is a minute, or
    /// 30 seconds, otherwise.
    #[arg(long, value_name = "TIME", value_parser = parse_timeout, help_heading = "Agent (exactly one)")]
    ready_within: Option<Duration>,

    /// How long a program may take to end after its conversation. It is 5 seconds otherwise.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = parse_timeout,
        requires = PROGRAM,
        help_heading = "Agent (exactly one)"
    )]
    end_within: Option<Duration>,

    /// Lets this number of conversations go through one program at a time. Otherwise each has a program of its own.
    #[arg(long, value_name = "N", requires = PROGRAM, help_heading = "Agent (exactly one)")]
    program_concurrency: Option<NonZeroUsize>,
}

/// A header as it is given. `Debug` shows its name alone.
#[derive(Clone)]
struct Header(String);

impl From<String> for Header {
    fn from(text: String) -> Self {
        // The value is masked, since clap may quote arguments in its error messages.
        hide(text.split_once('=').map_or(text.as_str(), |(_, value)| value));
        Self(text)
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.split_once('=').map_or("..", |(name, _)| name))
    }
}

/// An agent of any kind. Each conversation has a copy.
#[derive(Debug)]
pub(crate) enum AnyAgent {
    Server(Box<AdkServer>),
    Program(Box<Process>),
}

/// The one argument that names the agent.
enum Named<'a> {
    Object(&'a str),
    Command(&'a str),
    AdkCommand(&'a str),
    Url(&'a str),
}

impl AgentArgs {
    /// The argument that names the agent. clap allows one, and requires it unless the agent may be missing.
    fn named(&self) -> Option<Named<'_>> {
        let object = self.agent.as_deref().map(Named::Object);
        let command = self.agent_cmd.as_deref().map(Named::Command);
        let server = self.adk_cmd.as_deref().map(Named::AdkCommand);
        object.or(command).or(server).or(self.agent_url.as_deref().map(Named::Url))
    }

    /// The agent that the arguments name.
    pub(crate) fn choose(&self) -> Result<AnyAgent, CommandError> {
        self.choose_variant(&Variant::default())
    }

    /// A variant of the agent that the arguments name.
    pub(crate) fn choose_variant(&self, variant: &Variant) -> Result<AnyAgent, CommandError> {
        let commands = [&self.agent_cmd, &self.adk_cmd].into_iter().flatten();
        commands.flat_map(|command| assigned(command)).for_each(hide);
        let app = variant.fill(self.app.as_deref().unwrap_or_default());
        let program = |command| Ok(AnyAgent::Program(Box::new(self.program(command))));
        let server = match self.named() {
            Some(Named::Object(object)) => {
                return program(told(python::command(&variant.fill(object))?, variant));
            }
            Some(Named::Command(command)) => return program(words("--agent-cmd", command, variant)?),
            Some(Named::AdkCommand(command)) => AdkServer::spawn(words("--adk-cmd", command, variant)?, app),
            Some(Named::Url(url)) if url.starts_with("https://") && !cfg!(feature = "https") => {
                return Err(lacking("an `https` address", "https"));
            }
            Some(Named::Url(url)) => AdkServer::at(variant.fill(url), app),
            None => {
                return Err(CommandError::new(
                    "no agent is named",
                    "name one with `--agent`, `--agent-cmd`, `--adk-cmd` or `--agent-url`",
                ));
            }
        };
        let server = self.ready_within.into_iter().fold(server, AdkServer::ready_within);
        let with_header = |server: AdkServer, Header(header): &Header| match header.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(server.header(name, &variant.fill(value))),
            _ => Err(CommandError::new(
                "a `--header` has no name and value",
                "write `--header NAME=VALUE`, such as `--header \"Authorization=Bearer $TOKEN\"`",
            )),
        };
        self.headers.iter().try_fold(server, with_header).map(|server| AnyAgent::Server(Box::new(server)))
    }

    fn program(&self, command: Command) -> Process {
        let program = self.ready_within.into_iter().fold(Process::new(command), Process::ready_within);
        let program = self.end_within.into_iter().fold(program, Process::end_within);
        let most = self.program_concurrency.map(NonZeroUsize::get);
        most.into_iter().fold(program, Process::concurrency)
    }

    /// The name of the agent in drafts: the app, else the program.
    pub(crate) fn name(&self) -> String {
        let named = || self.agent.as_ref().or(self.agent_cmd.as_ref());
        let program = || named().map(|named| format!("`{}`", without_assigned(named)));
        let app = self.app.as_ref().map(|app| format!("the app `{app}`"));
        app.or_else(program).unwrap_or_default()
    }

    pub(crate) fn app(&self) -> Option<&str> {
        self.app.as_deref()
    }

    /// Sets the app name for cases that name none, and the variant.
    pub(crate) fn set(&self, runner: EvalRunner, variant: &Variant) -> EvalRunner {
        let runner = match &self.app {
            Some(app) => runner.app_name(variant.fill(app)),
            None => runner,
        };
        variant.0.iter().fold(runner, |runner, (axis, value)| runner.variant(axis, value))
    }

    /// The axes that nothing can depend on: a server that runs already gets no variable, and its address, its app and its
    /// headers do not name them.
    pub(crate) fn without_effect<'v>(&self, variant: &'v Variant) -> Option<&'v str> {
        let Some(Named::Url(url)) = self.named() else { return None };
        let headers = self.headers.iter().map(|Header(header)| header.as_str());
        let texts: Vec<&str> = [url].into_iter().chain(self.app.as_deref()).chain(headers).collect();
        let axes = variant.0.iter().map(|(axis, _)| axis.as_str());
        axes.into_iter().find(|axis| !texts.iter().any(|text| text.contains(&format!("{{{axis}}}"))))
    }

    /// The first name in braces of the arguments that no axis has, with its argument. `{port}` is the port of an ADK server.
    pub(crate) fn unknown_axis<'a>(&'a self, variant: &Variant) -> Option<(&'static str, &'a str)> {
        let of_server = Variant([variant.0.clone(), vec![("port".to_owned(), String::new())]].concat());
        let (option, text, variant) = match self.named()? {
            Named::Object(text) => ("--agent", text, variant),
            Named::Command(text) => ("--agent-cmd", text, variant),
            Named::AdkCommand(text) => ("--adk-cmd", text, &of_server),
            Named::Url(text) => ("--agent-url", text, variant),
        };
        let of_agent = variant.unknown_in(text).map(|name| (option, name));
        let of_app = || Some(("--app", variant.unknown_in(self.app.as_deref()?)?));
        // The value of a header may be a secret with any signs in it.
        of_agent.or_else(of_app)
    }

    /// The arguments for a process of `cargo evalset run`, with the values of headers. `None` if no agent is
    /// named.
    #[cfg(feature = "serve")]
    pub(crate) fn given(&self) -> Option<Vec<String>> {
        self.named()?;
        let headers = self.headers.iter().map(|Header(text)| ["--header".to_owned(), text.clone()]);
        Some(self.options().chain(headers).flatten().collect())
    }

    /// The arguments for a command that is printed. Values of headers are left out, and secrets that commands assign.
    pub(crate) fn words(&self) -> Vec<String> {
        let is_command = |name: &str| ["--agent-cmd", "--adk-cmd"].contains(&name);
        let shown = |[name, value]: [String; 2]| {
            let value = if is_command(&name) { without_assigned(&value).into_owned() } else { value };
            [name, value]
        };
        let headers = self.headers.iter().map(|header| ["--header".to_owned(), format!("{header:?}=..")]);
        self.options().map(shown).chain(headers).flatten().collect()
    }

    /// The options with their values, without headers.
    fn options(&self) -> impl Iterator<Item = [String; 2]> {
        let all = [
            ("--agent", self.agent.clone()),
            ("--agent-cmd", self.agent_cmd.clone()),
            ("--adk-cmd", self.adk_cmd.clone()),
            ("--agent-url", self.agent_url.clone()),
            ("--app", self.app.clone()),
            ("--ready-within", self.ready_within.map(in_ms)),
            ("--end-within", self.end_within.map(in_ms)),
            ("--program-concurrency", self.program_concurrency.map(|most| most.to_string())),
        ];
        all.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?]))
    }
}

/// A duration in the form in which options take it.
pub(crate) fn in_ms(time: Duration) -> String {
    format!("{}ms", time.as_millis())
}

/// Splits a command line into the program and its arguments, as a shell would. No shell runs it.
fn words(option: &str, line: &str, variant: &Variant) -> Result<Command, CommandError> {
    if let Some(of_shell) = shell_syntax(line) {
        return Err(CommandError::new(
            format!(
                "`{option}` is run by no shell, so {of_shell} would be an argument: `{}`",
                one_line(line)
            ),
            format!(
                "let a shell run it: `{option} \"sh -c '..'\"`; what is meant as an argument goes in single quotes"
            ),
        ));
    }
    let words = shlex::split(line).filter(|words| !words.is_empty());
    let words = words.map(|words| words.iter().map(|word| variant.fill(word)).collect::<Vec<_>>());
    let Some([program, args @ ..]) = words.as_deref() else {
        return Err(CommandError::new(
            format!("`{option}` is no command: it is empty, or a quote in it has no end"),
            format!("write the program and its arguments as in a shell: `{option} 'python3 agent.py'`"),
        ));
    };
    let mut command = Command::new(program);
    command.args(args);
    Ok(told(command, variant))
}

/// The part of a command line that only a shell understands, as a name with its article.
fn shell_syntax(line: &str) -> Option<String> {
    let assigned = line.split_whitespace().next().and_then(|word| word.split_once('='));
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    if let Some((name, _)) = assigned.filter(|(name, _)| is_name(name)) {
        return Some(format!("the variable `{name}`"));
    }
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => drop(chars.next()),
            ('\'' | '"', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            ('|' | '&' | ';' | '<' | '>', None) => return Some(format!("`{c}`")),
            ('`', None | Some('"')) => return Some("a command in backticks".to_owned()),
            ('$', None | Some('"'))
                if chars.peek().is_some_and(|next| next.is_ascii_alphabetic() || "_{(".contains(*next)) =>
            {
                return Some("`$`".to_owned());
            }
            _ => {}
        }
    }
    None
}

/// The command with its variant in a variable, if there is one.
fn told(mut command: Command, variant: &Variant) -> Command {
    if !variant.0.is_empty() {
        let values: BTreeMap<&str, &str> =
            variant.0.iter().map(|(axis, value)| (axis.as_str(), value.as_str())).collect();
        command.env(VARIANT, serde_json::json!(values).to_string());
    }
    command
}

impl AnyAgent {
    /// Waits for a server, so that a missing server fails the run once, and not each case. Programs start
    /// with their cases. With `may_come_later`, a server at a URL may start while this waits.
    pub(crate) async fn ready(&self, may_come_later: bool) -> Result<(), CommandError> {
        let Self::Server(server) = self else { return Ok(()) };
        let mut ready = server.ready().await;
        if may_come_later && matches!(ready, Err(AdkServerError::Unreachable { .. })) {
            server.as_ref().clone().wait_until_reachable().await;
            ready = server.ready().await;
        }
        ready.map_err(|error| {
            let help = "check the address or the command, and the name of the app (`--app`)";
            CommandError::new(error.to_string(), help)
        })
    }

    /// The same agent, whose server is started with these tools.
    pub(crate) fn with_tools(self, tools: ToolSource) -> Self {
        match self {
            Self::Server(server) => Self::Server(Box::new(server.tools(tools))),
            program @ Self::Program(_) => program,
        }
    }

    /// The same agent, whose server is started with its calls of models answered in this mode.
    pub(crate) fn with_models(self, mode: Option<ModelMode>) -> Self {
        match self {
            Self::Server(server) => Self::Server(Box::new(server.models(mode))),
            program @ Self::Program(_) => program,
        }
    }

    /// Ends what conversations shared, after the last one. Fails if a program does not end as it should.
    pub(crate) async fn end(&self) -> Result<(), CommandError> {
        let Self::Program(program) = self else { return Ok(()) };
        program.end_shared().await.map_err(|error| {
            let help = "a program ends when its input ends, with the status 0 and without another message: docs/protocol.md";
            CommandError::new(format!("after the last conversation: {error}"), help)
        })
    }

    /// The agent of a conversation.
    pub(crate) fn boxed(&self) -> BoxAgent {
        match self {
            Self::Server(server) => server.as_ref().clone().boxed(),
            Self::Program(program) => program.as_ref().clone().boxed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_a_shell_understands_is_refused_and_quoted_arguments_are_taken() {
        for (line, what) in [
            ("python3 a.py | tee x", "`|`"),
            ("python3 a.py 2>&1", "`>`"),
            ("cd a && python3 a.py", "`&`"),
            ("python3 a.py; true", "`;`"),
            ("FOO=1 python3 a.py", "the variable `FOO`"),
            ("python3 $HOME/a.py", "`$`"),
            ("python3 \"${HOME}/a.py\"", "`$`"),
            ("python3 `which a.py`", "a command in backticks"),
        ] {
            let error = words("--agent-cmd", line, &Variant::default()).expect_err(line);
            assert!(
                error.message.contains(&format!("run by no shell, so {what} would be an argument")),
                "{error}"
            );
            assert!(error.help.contains("`--agent-cmd \"sh -c '..'\"`"), "{error}");
        }
        for line in [
            "sh -c 'FOO=1 python3 a.py | tee x'",
            "python3 a.py --model=x --price '$5' \"a|b\" c\\;d",
            "python3 a.py --port {port} --cost 5$",
        ] {
            assert!(words("--agent-cmd", line, &Variant::default()).is_ok(), "{line}");
        }
    }
}
