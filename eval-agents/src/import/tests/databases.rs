//! ADK's databases of sessions.

use rusqlite::Connection;
use tempfile::TempDir;

use super::sessions::turns_of_adk;
use super::*;

/// The turns without what is drawn anew for each session.
fn plain(turns: Vec<eval_core::Invocation>) -> Vec<String> {
    let plain = turns.into_iter().map(|turn| {
        let turn = turn.with_invocation_id("").with_creation_timestamp(0.0);
        eval_core::EvalCase::new("c").turn(turn).to_value().to_string()
    });
    plain.collect()
}

#[test]
fn the_databases_of_both_services_hold_the_same_session() {
    for name in ["desk.sqlite.db", "desk.database.db"] {
        let before = std::fs::read(file(name)).unwrap();
        let imported = Import::new().read(&file(name)).unwrap();
        assert_eq!(imported.format, Format::AdkDatabase);
        let draft = &imported.drafts[0];
        assert_eq!(plain(draft.case.conversation.clone()), plain(turns_of_adk()), "{name}");
        let input = draft.case.session_input.as_ref().unwrap();
        assert_eq!(input.state.keys().collect::<Vec<_>>(), ["unit", "app:open", "user:name"], "{name}");
        assert_eq!(draft.origin.details["session"], "s-17");
        assert_eq!(std::fs::read(file(name)).unwrap(), before, "{name} is as it was");
    }
}

fn made(folder: &TempDir, statements: &str) -> PathBuf {
    let path = folder.path().join("s.db");
    Connection::open(&path).unwrap().execute_batch(statements).unwrap();
    path
}

const TABLES: &str = "CREATE TABLE sessions (app_name, user_id, id, state, create_time, update_time);
    CREATE TABLE events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data);";

#[test]
fn the_schema_with_python_objects_is_refused_with_adks_own_command() {
    let folder = TempDir::new().unwrap();
    let path = made(&folder, "CREATE TABLE sessions (id); CREATE TABLE events (id, actions BLOB);");
    let error = Import::new().read(&path).unwrap_err();
    assert!(matches!(error, ImportError::OldDatabase { .. }), "{error:?}");
    let error = error.to_string();
    let command = format!("adk migrate session --source_db_url=sqlite:///{}", path.display());
    assert!(error.contains(&command), "{error}");
}

#[test]
fn what_is_no_database_of_sessions_is_an_error() {
    let event = "INSERT INTO events VALUES ('e', 'a', 'u', 's', '1', 1.0, ";
    let session = "INSERT INTO sessions VALUES ('a', 'u', 's', '{}', 1, 1);";
    for (statements, why) in [
        ("CREATE TABLE other (x);".to_owned(), "there is no table `sessions`"),
        ("CREATE TABLE sessions (id);".to_owned(), "the table `sessions` has no column `app_name`"),
        (format!("{TABLES} {session}"), "holds no conversation: session `s`: it has no events"),
        (format!("{TABLES} {event} '{{}}');"), "an event belongs to session `s`, which is not there"),
        (format!("{TABLES} {session} {event} '[');"), "session `s`: event `e`: not JSON"),
        (
            format!("{TABLES} {session} {event} 7);"),
            "session `s`: `event_data` should be a text and is Integer",
        ),
        (
            format!(
                "{TABLES} CREATE TABLE adk_internal_metadata (key, value); INSERT INTO adk_internal_metadata VALUES ('schema_version', '2');"
            ),
            "the schema of the database is version `2`, and `1` can be read",
        ),
    ] {
        let folder = TempDir::new().unwrap();
        let error = Import::new().read(&made(&folder, &statements)).unwrap_err().to_string();
        assert!(error.contains(why), "{error} lacks {why}");
    }
}

#[test]
fn a_log_beside_the_database_is_read_and_no_file_is_made_without_one() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("s 100%.db");
    std::fs::copy(file("desk.sqlite.db"), &path).unwrap();
    let writer = Connection::open(&path).unwrap();
    let mode: String = writer.query_row("PRAGMA journal_mode = wal", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    writer.pragma_update(None, "foreign_keys", false).unwrap();
    writer.execute("UPDATE sessions SET id = 's-18'", []).unwrap();
    writer.execute("UPDATE events SET session_id = 's-18'", []).unwrap();
    let imported = Import::new().read(&path).unwrap();
    assert_eq!(imported.drafts[0].origin.details["session"], "s-18", "the log counts");

    drop(writer);
    let names = || {
        let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names().len(), 1, "{:?}", names());
    assert_eq!(Import::new().read(&path).unwrap().drafts.len(), 1);
    assert_eq!(names().len(), 1, "{:?}", names());
}

#[test]
fn a_database_that_was_cut_off_is_an_error() {
    let whole = std::fs::read(file("desk.sqlite.db")).unwrap();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("s.db");
    for length in (0..whole.len()).step_by(whole.len() / 40) {
        std::fs::write(&path, &whole[..length]).unwrap();
        // The missing part may be an index, which the import does not read.
        if let Ok(imported) = Import::new().read(&path) {
            assert_eq!(
                plain(imported.drafts[0].case.conversation.clone()),
                plain(turns_of_adk()),
                "{length}"
            );
        }
    }
}
