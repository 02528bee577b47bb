//! Typed conversations, and the display of the agent's events while it answers.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use eval_agents::draft::{Draft, NewCases};
use eval_agents::record::{Chat, DraftRecorder, Watched};
use eval_core::agent::Event;
use eval_core::{Agent, BoxAgent};
use eval_format::{EvalCase, EvalSet, Part, Value};
use eval_report::command::pressed as ctrl_c_pressed;
use eval_support::message::truncated;
use eval_support::shell;
use eval_support::untrusted::one_line;
use tokio::sync::mpsc;

use crate::agent::AnyAgent;
use crate::drafts::Destination;
use crate::output::{BOLD, CommandError, ERROR, styled, tell};

/// A typed line: a message or a command.
#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    Say(&'a str),
    Case(&'a str),
    Undo,
    State,
    Quit,
    Help,
    Nothing,
}

const HELP: &str = "/case NAME  /undo  /state  /quit; a message that begins with a slash is typed with two\n";

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Self {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word {
            "" => Self::Nothing,
            "/case" if !rest.trim().is_empty() => Self::Case(rest.trim()),
            "/undo" => Self::Undo,
            "/state" => Self::State,
            "/quit" | "/exit" => Self::Quit,
            _ if line.starts_with("//") => Self::Say(&line[1..]),
            _ if line.starts_with('/') => Self::Help,
            _ => Self::Say(line),
        }
    }
}

pub(super) async fn run(
    recorder: DraftRecorder,
    agent: &AnyAgent,
    destination: &Destination,
    recorded: &mut Recorded,
) -> Result<(), CommandError> {
    let is_terminal = io::stdin().is_terminal();
    let mut lines = lines();
    let mut chat = Chat::new(recorder, || watched(agent));
    let mut name: Option<String> = None;
    if is_terminal {
        tell(HELP);
    }
    loop {
        if is_terminal {
            tell("> ");
        }
        let line = match lines.recv().await {
            Some(Typed::Line(Ok(line))) => line,
            Some(Typed::Line(Err(error))) => {
                save(&mut chat, name.as_deref(), destination, recorded).await?;
                let help = "type plain text, or name a file of prompts";
                return Err(CommandError::new(format!("cannot read what is typed: {error}"), help));
            }
            Some(Typed::End) | None => "/quit".to_owned(),
        };
        match Line::parse(&line) {
            Line::Nothing => {}
            Line::Help => tell(HELP),
            Line::Say(text) => {
                if let Err(error) = chat.say(text).await {
                    tell(&format!("{}\n/undo takes the turn back\n", one_line(&error.to_string())));
                }
            }
            Line::Undo => match chat.undo().await {
                Ok(turns) => tell(&format!("turns: {turns}\n")),
                Err(error) => tell(&format!("{}\n", one_line(&error.to_string()))),
            },
            Line::State => match chat.state().await {
                Ok(state) => tell(&format!("{}\n", one_line(&Value::from(state).to_string()))),
                Err(error) => tell(&format!("{}\n", one_line(&error.to_string()))),
            },
            Line::Case(id) => {
                if chat.turns() > 0 {
                    save(&mut chat, name.as_deref(), destination, recorded).await?;
                }
                name = Some(id.to_owned());
            }
            Line::Quit => return save(&mut chat, name.as_deref(), destination, recorded).await,
        }
    }
}

async fn save<A: Agent, F: Fn() -> A>(
    chat: &mut Chat<A, F>,
    name: Option<&str>,
    destination: &Destination,
    recorded: &mut Recorded,
) -> Result<(), CommandError> {
    let before = recorded.new.drafts.len();
    match chat.finish(name).await {
        Ok(None) => {}
        Ok(Some(draft)) => {
            recorded.add(destination, draft)?;
            match recorded.new.drafts.get(before) {
                Some(draft) => tell(&format!("saved `{}`\n", one_line(&draft.case.eval_id))),
                None => tell("the set has this conversation already\n"),
            }
        }
        Err(error) => {
            let what = name.map_or_else(|| "a conversation".to_owned(), |name| format!("`{name}`"));
            tell(&format!("{what} is not saved: {}\n", one_line(&error.to_string())));
            recorded.failures.push(format!("{what}: {error}"));
        }
    }
    Ok(())
}

enum Typed {
    Line(io::Result<String>),
    /// The end of the input, or Ctrl-C. It saves the conversation, as `/quit` does, since the conversation may have cost money.
    End,
}

/// The lines of standard input, and Ctrl-C. A thread waits for lines, so that the runtime can serve the
/// connections to an agent meanwhile.
fn lines() -> mpsc::Receiver<Typed> {
    let (send, receive) = mpsc::channel(1);
    let interrupted = send.clone();
    tokio::spawn(async move {
        ctrl_c_pressed("the conversation is saved once the agent has answered").await;
        // It fails if the last conversation has ended.
        drop(interrupted.send(Typed::End).await);
    });
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let is_last = line.is_err();
            if send.blocking_send(Typed::Line(line)).is_err() || is_last {
                return;
            }
        }
        drop(send.blocking_send(Typed::End));
    });
    receive
}

#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub(super) new: NewCases,
    pub(super) failures: Vec<String>,
}

impl Recorded {
    /// Writes a draft into the set, unless the set has the conversation already.
    pub(super) fn add(&mut self, destination: &Destination, draft: Draft) -> Result<(), CommandError> {
        let case = draft.marked();
        let written = destination.add(vec![draft]).map_err(|error| kept(destination, case, error))?;
        self.new.drafts.extend(written.new.drafts);
        self.new.equal += written.new.equal;
        Ok(())
    }
}

/// The error of writing a draft, after the draft was written elsewhere: its conversation may have cost money.
fn kept(destination: &Destination, case: EvalCase, error: CommandError) -> CommandError {
    let set = EvalSet::new("draft").case(case).to_json();
    let file = tempfile::Builder::new().prefix("evalset-draft-").suffix(".json").tempfile();
    let written = file.and_then(|mut file| {
        file.write_all(set.as_bytes())?;
        file.keep().map(|(_, path)| path).map_err(|failed| failed.error)
    });
    match written {
        Ok(path) => {
            let path = path.display().to_string();
            let [set, file] = [&destination.shown(), &path].map(|it| shell::word(it));
            let add = if destination.exists() {
                format!("add-case {set} {file}")
            } else {
                format!("import {file} -o {set}")
            };
            let message = format!("{}; the draft is in `{path}`", error.message);
            CommandError::new(message, format!("{}; then `cargo evalset {add}`", error.help))
        }
        Err(_) => {
            tell(&format!("the draft, which is written nowhere:\n{set}\n"));
            error
        }
    }
}

const MAX_RESULT_CHARS: usize = 300;

/// An agent whose events are shown as they come.
pub(super) fn watched(agent: &AnyAgent) -> Watched<BoxAgent, fn(&Event)> {
    Watched::new(agent.boxed(), |event| tell(&shown(event)))
}

fn shown(event: &Event) -> String {
    let mut text: String = event.parts().iter().filter_map(|part| part_shown(&event.author, part)).collect();
    if let Some(code) = &event.error_code {
        let message = event.error_message.as_deref().unwrap_or_default();
        text.push_str(&format!("  {} {}\n", styled(ERROR, "error"), cut(&format!("{code} {message}"))));
    }
    for (key, value) in &event.state_delta {
        text.push_str(&format!("  state {} = {}\n", cut(key), cut(&value.to_string())));
    }
    text
}

fn part_shown(author: &str, part: &Part) -> Option<String> {
    if let Some(call) = &part.function_call {
        return Some(format!("  calls {}\n", cut(&call.to_string())));
    }
    if let Some(response) = &part.function_response {
        let name = response.name.as_deref().unwrap_or("a tool");
        let result = Value::from(response.response.clone().unwrap_or_default());
        return Some(format!("  {} answers {}\n", one_line(name), cut(&result.to_string())));
    }
    let said = part.text.as_deref().filter(|text| !text.is_empty())?;
    if part.thought == Some(true) {
        return Some(format!("  thinks {}\n", cut(said)));
    }
    // An answer is shown whole.
    let lines: Vec<String> = said.lines().map(one_line).collect();
    Some(format!("{} {}\n", styled(BOLD, &format!("{}>", one_line(author))), lines.join("\n  ")))
}

fn cut(text: &str) -> String {
    one_line(&truncated(text, MAX_RESULT_CHARS, ".."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use eval_format::{Content, FunctionCall, FunctionResponse};
    use serde_json::json;

    #[test]
    fn a_line_is_a_message_or_a_command() {
        for (line, expected) in [
            ("Weather in Paris?", Line::Say("Weather in Paris?")),
            ("  Hi  ", Line::Say("Hi")),
            ("/case two cities", Line::Case("two cities")),
            ("/case", Line::Help),
            ("/undo", Line::Undo),
            ("/state", Line::State),
            ("/quit", Line::Quit),
            ("/help", Line::Help),
            ("//etc is a folder", Line::Say("/etc is a folder")),
            ("", Line::Nothing),
        ] {
            assert_eq!(Line::parse(line), expected, "{line}");
        }
    }

    #[test]
    fn an_event_is_shown_in_lines_that_nothing_in_it_can_forge() {
        let parts = vec![
            Part::call(FunctionCall::new("look", json!({ "city": "Oslo" }))),
            Part::response(FunctionResponse::new("look", json!("rain\u{1b}[2J"))),
            Part::text("It rains.\nTake an umbrella\r\u{1b}[31m."),
        ];
        let event = Event::new("agent", Content::new("model", parts)).with_state("last", "Oslo");
        let text = shown(&event);
        assert!(text.contains("  calls look(city: \"Oslo\")\n"), "{text}");
        assert!(text.contains("It rains.\n  Take an umbrella"), "{text}");
        assert!(text.ends_with("  state last = \"Oslo\"\n"), "{text}");
        assert!(
            !text.contains("\u{1b}[2J") && !text.contains("\u{1b}[31m") && !text.contains('\r'),
            "{text:?}"
        );
    }
}
