//! ADK's databases of sessions in `SQLite`: those of `SqliteSessionService`, and of `DatabaseSessionService` with its present
//! schema.
//!
//! A database is opened to be read and nothing else. One that other programs write at the time (with a `-wal` file beside it)
//! is read with what is in that file.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use eval_core::format::{Map, Value};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};

use super::Format;
use super::adk_session::{Session, drafts};
use super::error::ImportError;
use super::turns::SessionEvent;
use crate::draft::Draft;
use crate::wire;

/// The schema of `DatabaseSessionService` that is read.
const SCHEMA: &str = "1";

pub(super) fn read(
    path: &Path,
    from: &str,
    wanted: &[String],
) -> Result<(Vec<Draft>, Vec<String>), ImportError> {
    let failed = |error: rusqlite::Error| ImportError::of_library(from, &explained(&error), error);
    let connection = open(path).map_err(failed)?;
    check_schema(&connection, path, from)?;
    let sessions = sessions(&connection, from, wanted)?;
    drafts(from, Format::AdkDatabase, sessions, wanted)
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

/// Opens a database to be read.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // In the mode of write-ahead logs SQLite makes files beside a database, even to read it. Where nobody has one open there is
    // no such log, and the database is as if it could not change.
    let log = beside(path, "-wal");
    let has_log = std::fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    let connection = if has_log || !is_in_log_mode(path) {
        Connection::open_with_flags(path, flags)?
    } else {
        Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI)?
    };
    // A database is data, whatever its schema says.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(connection)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether the header says that a write-ahead log is used.
fn is_in_log_mode(path: &Path) -> bool {
    use std::io::Read;
    let mut header = [0; 20];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok() && header[18] == 2
}

/// The address of a database that does not change.
fn immutable(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let text = path.to_string_lossy().replace('\\', "/");
    let mut address = "file:".to_owned();
    if !text.starts_with('/') {
        address.push('/');
    }
    for byte in text.bytes() {
        match byte {
            b'%' | b'?' | b'#' => address.push_str(&format!("%{byte:02X}")),
            _ if byte.is_ascii() => address.push(char::from(byte)),
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address + "?immutable=1"
}

/// A word of a command that is shown, quoted for a shell if it has to be.
fn word(text: &str) -> String {
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/:._-+=@%".contains(c));
    if is_plain { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Whether this is a database that can be read; else what it is.
fn check_schema(connection: &Connection, path: &Path, from: &str) -> Result<(), ImportError> {
    let failed = |error: rusqlite::Error| ImportError::of_library(from, &explained(&error), error);
    let columns = |table: &str| -> Result<HashSet<String>, ImportError> {
        let mut query = connection.prepare("SELECT name FROM pragma_table_info(?1)").map_err(failed)?;
        let names = query.query_map([table], |row| row.get(0)).map_err(failed)?;
        names.collect::<rusqlite::Result<_>>().map_err(failed)
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
        let version = "SELECT value FROM adk_internal_metadata WHERE key = 'schema_version'";
        let mut query = connection.prepare(version).map_err(failed)?;
        let mut rows = query.query([]).map_err(failed)?;
        let version = rows.next().map_err(failed)?.map(|row| text(row, 0)).transpose();
        match version.map_err(|why| ImportError::unreadable(from, why))? {
            Some(version) if version == SCHEMA => {}
            other => {
                let other = other.unwrap_or_else(|| "(none)".to_owned());
                let why =
                    format!("the schema of the database is version `{other}`, and `{SCHEMA}` can be read");
                return Err(ImportError::unreadable(from, why));
            }
        }
    }
    Ok(())
}

type Key = (String, String, String);

fn sessions(connection: &Connection, from: &str, wanted: &[String]) -> Result<Vec<Session>, ImportError> {
    let failed = |error: rusqlite::Error| ImportError::of_library(from, &explained(&error), error);
    let bad = |why: String| ImportError::unreadable(from, why);
    // The state of an app and of a user is kept apart, and is a part of that of each session.
    let mut of_app: HashMap<String, Map> = HashMap::new();
    each(connection, "SELECT app_name, state FROM app_states", |row| {
        of_app.insert(text(row, 0)?, object(&text(row, 1)?, "the state of an app")?);
        Ok(())
    })
    .map_err(bad)?;
    let mut of_user: HashMap<(String, String), Map> = HashMap::new();
    each(connection, "SELECT app_name, user_id, state FROM user_states", |row| {
        of_user.insert((text(row, 0)?, text(row, 1)?), object(&text(row, 2)?, "the state of a user")?);
        Ok(())
    })
    .map_err(bad)?;
    let mut sessions: Vec<Session> = Vec::new();
    let mut places: HashMap<Key, usize> = HashMap::new();
    let mut query = connection
        .prepare("SELECT app_name, user_id, id, state FROM sessions ORDER BY create_time, rowid")
        .map_err(failed)?;
    let mut rows = query.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let (app_name, user_id, id) =
            (text(row, 0).map_err(bad)?, text(row, 1).map_err(bad)?, text(row, 2).map_err(bad)?);
        let state = text(row, 3).and_then(|state| object(&state, &format!("the state of session `{id}`")));
        let mut all = Map::new();
        let prefixed = |prefix: &str, map: Option<&Map>| -> Map {
            map.into_iter().flatten().map(|(key, value)| (format!("{prefix}{key}"), value.clone())).collect()
        };
        all.extend(state.map_err(bad)?);
        all.extend(prefixed("app:", of_app.get(&app_name)));
        all.extend(prefixed("user:", of_user.get(&(app_name.clone(), user_id.clone()))));
        places.insert((app_name.clone(), user_id.clone(), id.clone()), sessions.len());
        sessions.push(Session { id, app_name, user_id, state: all, events: Vec::new() });
    }
    let mut query = connection
        .prepare(
            "SELECT app_name, user_id, session_id, event_data, id, invocation_id FROM events ORDER BY timestamp, rowid",
        )
        .map_err(failed)?;
    let mut rows = query.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let id = text(row, 2).map_err(bad)?;
        if !wanted.is_empty() && !wanted.contains(&id) {
            continue;
        }
        let key = (text(row, 0).map_err(bad)?, text(row, 1).map_err(bad)?, id);
        let Some(place) = places.get(&key) else {
            return Err(bad(format!("an event belongs to session `{}`, which is not there", key.2)));
        };
        let event = event(row).map_err(|why| bad(format!("session `{}`: {why}", key.2)))?;
        sessions[*place].events.push(event);
    }
    Ok(sessions)
}

/// Calls `take` with each row. A table that is not there has none.
fn each(
    connection: &Connection,
    query: &str,
    mut take: impl FnMut(&Row<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let Ok(mut query) = connection.prepare(query) else { return Ok(()) };
    let mut rows = query.query([]).map_err(|error| explained(&error))?;
    while let Some(row) = rows.next().map_err(|error| explained(&error))? {
        take(row)?;
    }
    Ok(())
}

/// The event of a row. Its columns say what the stored event may lack.
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

/// A column as a text.
fn text(row: &Row<'_>, column: usize) -> Result<String, String> {
    let name = || row.as_ref().column_name(column).unwrap_or("a column").to_owned();
    let bytes = match row.get_ref(column).map_err(|error| error.to_string())? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        ValueRef::Null => return Ok(String::new()),
        other => return Err(format!("`{}` should be a text and is {}", name(), other.data_type())),
    };
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| format!("`{}` is not UTF-8", name()))
}

/// A JSON object. A text that is empty is one without entries.
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
