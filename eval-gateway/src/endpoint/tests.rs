//! The endpoint over sockets: a client that writes bytes, a provider that answers bytes, and recordings on a disk.

mod bodies;
mod client;
mod cut;
mod faults;
mod fuzz;
mod guard;
mod provider;
mod secrets;
mod streams;
mod wires;

use std::collections::BTreeMap;
use std::fs;

use eval_format::__private::parse_value;
use eval_format::Value;
use eval_support::mutex::Mutex;

use self::client::{Answered, ask, post};
use self::provider::Provider;
use crate::conversation::{Conversation, Ended};
use crate::mode::{ModelMode, Settings};
use crate::recording::CaseRecording;
use crate::set::ModelSet;
use crate::store::ModelsFolder;

/// Held by a test whose calls name no conversation: they are misses of the conversations of another test, too.
static STRAY_CALLS: Mutex<()> = Mutex::new(());

const CHAT: &str = "/v1/chat/completions";

/// A question of OpenAI's chat.
fn question(text: &str) -> String {
    format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{text}"}}]}}"#)
}

/// A plain answer of OpenAI's chat.
fn said(text: &str) -> String {
    format!(
        r#"{{"id":"chatcmpl-1","choices":[{{"index":0,"message":{{"role":"assistant","content":"{text}"}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":10,"completion_tokens":5}}}}"#
    )
}

/// A folder of recordings that lasts as long as this, and a provider that is asked while calls are recorded.
struct Bench {
    folder: tempfile::TempDir,
    provider: Provider,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), provider: Provider::start() }
    }

    fn models(&self) -> ModelsFolder {
        ModelsFolder::new(self.folder.path().join("x.evalset.models"), "x.evalset.models")
    }

    /// A conversation of the case `c`, in its first turn.
    fn open(&self, mode: ModelMode, settings: &Settings, faults: &str) -> Conversation {
        self.open_case("c", mode, settings, faults)
    }

    fn open_case(&self, eval_id: &str, mode: ModelMode, settings: &Settings, faults: &str) -> Conversation {
        let settings =
            Settings { mode: Some(mode), upstreams: self.provider.upstreams(), ..settings.clone() };
        let set = ModelSet::on_disk(settings, self.models()).unwrap().unwrap();
        let faults = parse_value(faults).unwrap();
        let conversation = set.open(eval_id, 1, Some(&faults), "run").unwrap();
        conversation.begin_turn("hi");
        conversation
    }

    fn record(&self) -> Conversation {
        self.open(ModelMode::Record, &Settings::default(), "{}")
    }

    fn replay(&self) -> Conversation {
        self.open(ModelMode::Replay, &Settings::default(), "{}")
    }

    /// Records one call.
    fn recorded(&self, path: &str, body: &str) -> Answered {
        let conversation = self.record();
        let answered = post(&address(&conversation), path, &[], body.as_bytes());
        assert_eq!(conversation.end(true).error, None, "{answered:?}");
        answered
    }

    fn recording(&self) -> Option<CaseRecording> {
        self.models().case("c").unwrap()
    }

    /// The files of the recordings.
    fn files(&self) -> BTreeMap<String, String> {
        let Ok(entries) = fs::read_dir(self.models().path()) else { return BTreeMap::new() };
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .map(|path| {
                (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap())
            })
            .collect()
    }
}

/// The address of a conversation, below which each provider has its base URL.
fn address(conversation: &Conversation) -> String {
    conversation.url(crate::provider::Provider::Gemini).unwrap()
}

#[track_caller]
fn assert_replayed(ended: &Ended) {
    assert_eq!(ended.error, None);
    assert!(ended.notes[0].contains("replayed"), "{ended:?}");
    assert_eq!(ended.notes.len(), 1, "{ended:?}");
}

fn json(text: &str) -> Value {
    parse_value(text).unwrap()
}
