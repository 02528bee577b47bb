//! Tests that the text of each error has its cause exactly once.

use std::io;
use std::sync::Arc;

use eval_core::format::EvalSet;
use eval_support::test_support::assert_said_once;

use crate::import::{ImportError, MappingError};
use crate::record::DraftRecorderError;
use crate::traces::{TraceError, Traces};
use crate::{AdkServer, AdkServerError, Process, ProcessError};

const CAUSE: &str = "no such luck";

fn system() -> io::Error {
    io::Error::other(CAUSE)
}

#[test]
fn the_text_of_an_error_of_traces_and_imports_has_its_cause_once() {
    let json = Traces::from_texts([&br#"{"resourceSpans": []}"#[..], &b"{"[..]]).unwrap_err();
    let TraceError::Json { index: 1, source, .. } = &json else { panic!("{json:?}") };
    assert_said_once(&json, &source.to_string());
    assert_said_once(&TraceError::Io { file: Some("t.json".into()), index: 0, source: system() }, CAUSE);

    let from = || "a.json".to_owned();
    let problems = EvalSet::parse("{").unwrap_err();
    let of_file = problems.to_string();
    let cause = json.to_string();
    assert_said_once(&ImportError::Traces { from: from(), source: json }, &cause);
    assert_said_once(&ImportError::Io { from: from(), source: system() }, CAUSE);
    assert_said_once(
        &ImportError::Case { from: from(), what: "line 1".to_owned(), source: problems },
        &of_file,
    );
    let mapping = MappingError::Twice("user".to_owned());
    let cause = mapping.to_string();
    assert_said_once(&ImportError::Mapping { from: from(), source: mapping }, &cause);
}

#[cfg(feature = "csv")]
#[test]
fn the_error_of_a_library_is_in_that_of_its_format() {
    let error = crate::import::Import::new().parse("a.csv", b"query,answer\n1\n").unwrap_err();
    let ImportError::Unreadable { source: Some(source), .. } = &error else { panic!("{error:?}") };
    assert!(source.is::<csv::Error>(), "{source:?}");
    assert_said_once(&error, &source.to_string());
}

#[test]
fn the_text_of_an_error_of_recorded_conversations_has_its_cause_once() {
    let problems = EvalSet::parse("{").unwrap_err();
    let of_file = problems.to_string();
    assert_said_once(&DraftRecorderError::Case(problems), &of_file);
}

#[tokio::test]
async fn the_text_of_an_error_of_agents_has_its_cause_once() {
    use eval_core::{Agent as _, Session};

    let mut agent = Process::new(std::process::Command::new("no-such-program"));
    let error = agent.start(&Session::new("a", "u")).await.unwrap_err();
    let Some(ProcessError::Start { program, source }) = error.downcast_ref() else { panic!("{error:?}") };
    assert_eq!((program.as_str(), source.kind()), ("no-such-program", io::ErrorKind::NotFound));
    assert_said_once(&*error, &source.to_string());

    let missing =
        AdkServer::spawn(std::process::Command::new("no-such-server"), "a").ready().await.unwrap_err();
    let AdkServerError::Start { source, .. } = &missing else { panic!("{missing:?}") };
    assert_eq!(source.kind(), io::ErrorKind::NotFound);
    assert_said_once(&missing, &source.to_string());

    let refused = AdkServer::at("http://127.0.0.1:1", "a").ready().await.unwrap_err();
    let AdkServerError::Unreachable { source: Some(source), .. } = &refused else { panic!("{refused:?}") };
    assert!(source.downcast_ref::<reqwest::Error>().is_some_and(|error| error.url().is_none()), "{source:?}");
    assert_said_once(&refused, &source.to_string());

    let address = AdkServer::at("http://[1", "a").ready().await.unwrap_err();
    let AdkServerError::Request { source: Some(source), .. } = &address else { panic!("{address:?}") };
    assert_said_once(&address, &source.to_string());
    let broken = AdkServerError::Broken {
        message: format!("it broke off: {CAUSE}"),
        source: Some(Arc::new(system())),
    };
    assert_said_once(&broken, CAUSE);
}
