//! ADK's databases of sessions in `SQLite`, written by `SqliteSessionService`, or by `DatabaseSessionService`
//! with its present schema.
//!
//! A database is opened read-only. A database that other programs write at the time (with a `-wal` file beside it) is read
//! with the content of that file.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use eval_core::format::{Map, Value};
use eval_support::shell::word;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};

use super::adk_session::{Session, drafts};
use super::error::ImportError;
use super::format::{Format, ReadDrafts};
use super::turns::SessionEvent;
use crate::wire;

const SCHEMA: &str = "1";

pub(super) fn read(path: &Path, from: &str, wanted: &[String]) -> Result<ReadDrafts, ImportError> {
    let connection = open(path).map_err(failed(from))?;
    check_schema(&connection, path, from)?;
    let sessions = sessions(&connection, from, wanted)?;
    drafts(from, Format::AdkDatabase, sessions, wanted)
}

fn failed(from: &str) -> impl Fn(rusqlite::Error) -> ImportError + Copy {
    move |error| ImportError::of_library(from, &explained(&error), error)
}

fn explained(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            format!("{error}: another program is writing it; try again, or import a copy")
        }
        Some(rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::ReadOnly) => {
            format!(
                "{error}: a program that was killed left it half written; open it once with ADK, or import a copy"
            )
        }
        _ => error.to_string(),
    }
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // In the mode of write-ahead logs SQLite creates files beside a database, even to read it. Without such a
    // log there is no open connection, and the database can be opened as one that does not change.
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let has_log = std::fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    let connection = match immutable(path).filter(|_| !has_log && is_in_log_mode(path)) {
        Some(address) => Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI)?,
        None => Connection::open_with_flags(path, flags)?,
    };
    // The database is untrusted: its schema must not call functions with side effects.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(connection)
}

fn is_in_log_mode(path: &Path) -> bool {
    use std::io::Read;
    let mut header = [0; 20];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok() && header[18] == 2
}

fn immutable(path: &Path) -> Option<String> {
    let mut address = reqwest::Url::from_file_path(std::path::absolute(path).ok()?).ok()?;
    address.set_query(Some("immutable=1"));
    Some(address.into())
}

fn check_schema(connection: &Connection, path: &Path, from: &str) -> Result<(), ImportError> {
    let columns = |table: &str| -> Result<HashSet<String>, ImportError> {
        let mut names = HashSet::new();
        each(connection, from, &format!("SELECT name FROM pragma_table_info('{table}')"), |row| {
            names.insert(text(row, 0)?);
            Ok(())
        })?;
        Ok(names)
    };
    let (events, sessions) = (columns("events")?, columns("sessions")?);
    if events.contains("actions") && !events.contains("event_data") {
        let path = path.display();
        let [source, new] =
            [format!("sqlite:///{path}"), format!("sqlite:///{path}.new")].map(|it| word(&it));
        let migrate = format!("adk migrate session --source_db_url={source} --dest_db_url={new}");
        return Err(ImportError::OldDatabase { from: from.to_owned(), migrate });
    }
    let needs = |table: &str, there: &HashSet<String>, needed: &[&str]| {
        needed.iter().find(|column| !there.contains(**column)).map_or(Ok(()), |column| {
            let missing = match there.len() {
                0 => format!("there is no table `{table}`"),
                _ => format!("the table `{table}` has no column `{column}`"),
            };
            let why = format!("no database of ADK's sessions: {missing}");
            Err(ImportError::unreadable(from, why))
        })
    };
    needs("sessions", &sessions, &["app_name", "user_id", "id", "state"])?;
    needs(
        "events",
        &events,
        &["id", "app_name", "user_id", "session_id", "invocation_id", "timestamp", "event_data"],
    )?;
    if columns("adk_internal_metadata")?.contains("value") {
        let query = "SELECT value FROM adk_internal_metadata WHERE key = 'schema_version' LIMIT 1";
        let mut version = "(none)".to_owned();
        each(connection, from, query, |row| {
            version = text(row, 0)?;
            Ok(())
        })?;
        if version != SCHEMA {
            let why =
                format!("the schema of the database is version `{version}`, and `{SCHEMA}` can be read");
            return Err(ImportError::unreadable(from, why));
        }
    }
    Ok(())
}

fn sessions(connection: &Connection, from: &str, wanted: &[String]) -> Result<Vec<Session>, ImportError> {
    // ADK stores the states of apps and users in tables of their own, and each session has both. A missing table holds none.
    let is_there = |query: &str| connection.prepare(query).is_ok();
    let mut of_app: HashMap<String, Map> = HashMap::new();
    let query = "SELECT app_name, state FROM app_states";
    if is_there(query) {
        each(connection, from, query, |row| {
            of_app.insert(text(row, 0)?, object(&text(row, 1)?, "the state of an app")?);
            Ok(())
        })?;
    }
    let mut of_user: HashMap<(String, String), Map> = HashMap::new();
    let query = "SELECT app_name, user_id, state FROM user_states";
    if is_there(query) {
        each(connection, from, query, |row| {
            of_user.insert((text(row, 0)?, text(row, 1)?), object(&text(row, 2)?, "the state of a user")?);
            Ok(())
        })?;
    }
    let mut sessions: Vec<Session> = Vec::new();
    let mut places: HashMap<(String, String, String), usize> = HashMap::new();
    let query = "SELECT app_name, user_id, id, state FROM sessions ORDER BY create_time, rowid";
    each(connection, from, query, |row| {
        let (app_name, user_id, id) = (text(row, 0)?, text(row, 1)?, text(row, 2)?);
        let mut state = object(&text(row, 3)?, &format!("the state of session `{id}`"))?;
        let of_user = of_user.get(&(app_name.clone(), user_id.clone()));
        for (prefix, kept) in [("app:", of_app.get(&app_name)), ("user:", of_user)] {
            let kept = kept.into_iter().flatten();
            state.extend(kept.map(|(key, value)| (format!("{prefix}{key}"), value.clone())));
        }
        places.insert((app_name.clone(), user_id.clone(), id.clone()), sessions.len());
        sessions.push(Session { id, app_name, user_id, state, ..Session::default() });
        Ok(())
    })?;
    let query = "SELECT app_name, user_id, session_id, event_data, id, invocation_id FROM events ORDER BY timestamp, rowid";
    each(connection, from, query, |row| {
        let id = text(row, 2)?;
        if !wanted.is_empty() && !wanted.contains(&id) {
            return Ok(());
        }
        let key = (text(row, 0)?, text(row, 1)?, id);
        let place = places.get(&key);
        let place =
            place.ok_or_else(|| format!("an event belongs to session `{}`, which is not there", key.2))?;
        let event = event(row).map_err(|why| format!("session `{}`: {why}", key.2))?;
        sessions[*place].events.push(event);
        Ok(())
    })?;
    Ok(sessions)
}

fn each(
    connection: &Connection,
    from: &str,
    query: &str,
    mut take: impl FnMut(&Row<'_>) -> Result<(), String>,
) -> Result<(), ImportError> {
    let failed = failed(from);
    let mut query = connection.prepare(query).map_err(failed)?;
    let mut rows = query.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        take(row).map_err(|why| ImportError::unreadable(from, why))?;
    }
    Ok(())
}

/// The event of a row. The invocation id comes from its own column: the stored event may lack it.
fn event(row: &Row<'_>) -> Result<SessionEvent, String> {
    let (data, id) = (text(row, 3)?, text(row, 4)?);
    let place = format!("event `{id}`");
    let mut data = object(&data, &place)?;
    let invocation = text(row, 5)?;
    if !invocation.is_empty() {
        data.remove("invocationId");
        data.insert("invocation_id", invocation);
    }
    SessionEvent::read(wire::Reader::new(data.into(), place)?)
}

fn text(row: &Row<'_>, column: usize) -> Result<String, String> {
    let name = || row.as_ref().column_name(column).unwrap_or("a column").to_owned();
    let bytes = match row.get_ref(column).map_err(|error| error.to_string())? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        ValueRef::Null => return Ok(String::new()),
        other => return Err(format!("`{}` should be a text and is {}", name(), other.data_type())),
    };
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| format!("`{}` is not UTF-8", name()))
}

/// A JSON object. An empty text is an object without entries.
fn object(text: &str, what: &str) -> Result<Map, String> {
    if text.is_empty() {
        return Ok(Map::new());
    }
    match wire::parse(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(other) => Err(format!("{what} should be an object and is {}", other.kind())),
        Err(why) => Err(format!("{what}: {why}")),
    }
}
