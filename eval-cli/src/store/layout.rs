//! Layout of a store below its prefix.
//!
//! ```text
//! APP/evals/eval_history/ID.evalset_result.json   ADK's results, as its manager lays them out
//! APP/evals/eval_sets/ID.evalset.json             ADK's sets, likewise
//! evalset/runs/RUN/UPLOAD.began.json              what an upload is about to store; removed at its end
//! evalset/runs/RUN/UPLOAD/00000.jsonl             the journals, one behind the other, in chunks
//! evalset/runs/RUN/UPLOAD.json                    which journals the chunks hold: written last
//! evalset/reports/RUN/UPLOAD.html, .json          reports
//! ```
//!
//! An upload counts once its manifest exists. ADK lists all objects with its two prefixes, so no others are
//! stored there.

use std::time::SystemTime;

use eval_core::journal::runs;
use eval_format::conventions::SET_SUFFIX;
use sha2::{Digest, Sha256};

pub(super) const RUNS: &str = "evalset/runs/";
pub(super) const MANIFEST: &str = ".json";
/// The end of the name of the object that marks the beginning of an upload.
pub(super) const BEGAN: &str = ".began.json";
pub(super) const SET: &str = SET_SUFFIX;
pub(super) const RESULT: &str = ".evalset_result.json";

pub(super) fn run(id: &str) -> String {
    format!("{RUNS}{id}/")
}

pub(super) fn chunk(run_id: &str, upload: &str, number: usize) -> String {
    format!("{RUNS}{run_id}/{upload}/{number:05}.jsonl")
}

pub(super) fn manifest(run_id: &str, upload: &str) -> String {
    format!("{RUNS}{run_id}/{upload}{MANIFEST}")
}

pub(super) fn began(run_id: &str, upload: &str) -> String {
    format!("{RUNS}{run_id}/{upload}{BEGAN}")
}

pub(super) fn report(run_id: &str, upload: &str, extension: &str) -> String {
    format!("evalset/reports/{run_id}/{upload}.{extension}")
}

pub(super) fn sets(app: &str) -> String {
    format!("{app}/evals/eval_sets/")
}

pub(super) fn results(app: &str) -> String {
    format!("{app}/evals/eval_history/")
}

/// The meaning of a name below [`RUNS`]: an upload that ended, by its manifest, or one that began.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named<'a> {
    pub(super) run: &'a str,
    pub(super) upload: &'a str,
    pub(super) has_ended: bool,
}

/// Parses a name below [`RUNS`]. `None` for chunks, and for names that are not ours.
pub(super) fn named(path: &str) -> Option<Named<'_>> {
    let (run, name) = path.strip_prefix(RUNS)?.split_once('/')?;
    if !runs::is_id(run) || name.contains('/') {
        return None;
    }
    let began = name.strip_suffix(BEGAN);
    let upload = began.or_else(|| name.strip_suffix(MANIFEST))?;
    Some(Named { run, upload, has_ended: began.is_none() })
}

/// The name of a new upload. Names sort by time, and no two are equal.
pub(super) fn new_upload(at: SystemTime) -> String {
    let unique = format!("{:?} {} {:?}", at, std::process::id(), std::thread::current().id());
    let time = chrono::DateTime::<chrono::Utc>::from(at).format("%Y%m%dT%H%M%S%.3fZ");
    format!("{time}-{}", &hash(unique.as_bytes())[..8])
}

/// The time at which an upload began, for people.
pub(super) fn time_of(upload: &str) -> String {
    let time = upload.split('-').next().unwrap_or_default();
    let parsed = chrono::NaiveDateTime::parse_from_str(time, "%Y%m%dT%H%M%S%.3fZ");
    parsed.map_or_else(
        |_| "an unknown time".to_owned(),
        |time| time.format("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}

/// SHA-256 in hexadecimal digits.
pub(super) fn hash(bytes: &[u8]) -> String {
    let digit = |digit: u8| char::from_digit(u32::from(digit), 16).unwrap_or_default();
    Sha256::digest(bytes).iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn names_are_read_as_they_are_made() {
        let upload = new_upload(SystemTime::UNIX_EPOCH + Duration::from_millis(1_795_390_267_042));
        assert!(upload.starts_with("20261122T233107.042Z-") && upload.len() == 29, "{upload}");
        assert_eq!(time_of(&upload), "2026-11-22 23:31:07 UTC");
        assert_eq!(time_of("x"), "an unknown time");
        assert!(runs::is_id(&upload));
        let expected = |has_ended| Some(Named { run: "r.1", upload: &upload, has_ended });
        assert_eq!(named(&manifest("r.1", &upload)), expected(true));
        assert_eq!(named(&began("r.1", &upload)), expected(false));
        for other in [
            &chunk("r.1", &upload, 0),
            "evalset/runs/r/notes.txt",
            "evalset/runs/../x.json",
            "evalset/runs/a b/x.json",
            "evalset/runs/x.json",
            "evalset/reports/r/x.json",
        ] {
            assert_eq!(named(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_ours_lies_beside_what_adk_lists() {
        // ADK's managers list by these prefixes, which end without a slash.
        let adk = ["app/evals/eval_history", "app/evals/eval_sets"];
        let ours = [chunk("r", "u", 0), manifest("r", "u"), began("r", "u"), report("r", "u", "html")];
        assert!(ours.iter().all(|path| adk.iter().all(|prefix| !path.starts_with(prefix))));
        assert_eq!(results("app"), "app/evals/eval_history/");
        assert_eq!(sets("app"), "app/evals/eval_sets/");
    }
}
