//! The manifest of an upload: which journals its parts hold.

use serde::{Deserialize, Serialize};

/// The version of the layout.
pub(super) const VERSION: u32 = 1;

/// The parts, one behind the other, are the journals, one behind the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) version: u32,
    pub(super) run: String,
    /// The content of the file that marks the folder of a run.
    pub(super) marker: String,
    pub(super) journals: Vec<StoredJournal>,
    /// The process of a journal in the folder that the upload is of, stored now or before. It is the same for all uploads of a
    /// folder, or leads to the same.
    #[serde(default)]
    pub(super) part: String,
    /// Empty while the upload has not ended.
    #[serde(default)]
    pub(super) parts: Vec<Part>,
}

/// A journal: the file of one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredJournal {
    pub(super) name: String,
    /// The hash of its first line, which no other process writes. Journals grow only at their ends, so of two with one hash
    /// the longer one is the later one.
    pub(super) process: String,
    pub(super) bytes: u64,
}

/// An object with a part of the journals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl Manifest {
    /// Reads a manifest, and says what is wrong with it otherwise. Only one of an upload that has not ended may lack parts.
    pub(super) fn parse(bytes: &[u8], has_ended: bool) -> Result<Self, String> {
        let value: serde_json::Value =
            serde_json::from_slice(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
        match value["version"].as_u64() {
            Some(version) if version > u64::from(VERSION) => {
                return Err(format!("a newer cargo-evalset wrote it (version {version} of the layout)"));
            }
            None => return Err("it has no version".to_owned()),
            Some(_) => {}
        }
        let manifest: Self = serde_json::from_value(value).map_err(|error| error.to_string())?;
        let journals: u64 =
            manifest.journals.iter().fold(0, |sum, journal| sum.saturating_add(journal.bytes));
        let parts: u64 = manifest.parts.iter().fold(0, |sum, part| sum.saturating_add(part.bytes));
        let is_plain = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !manifest.journals.iter().all(|journal| is_plain(&journal.process)) {
            return Err("a journal has no hash".to_owned());
        }
        if has_ended && manifest.journals.is_empty() {
            return Err("it names no journal".to_owned());
        }
        if (has_ended || !manifest.parts.is_empty()) && journals != parts {
            return Err(format!("its journals have {journals} bytes, and its parts {parts}"));
        }
        Ok(manifest)
    }

    pub(super) fn text(&self) -> Vec<u8> {
        // Strings and numbers alone have a text.
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_read_as_it_is_written_and_others_are_refused() {
        let process = "0f".repeat(32);
        let journal = StoredJournal { name: "a.jsonl".to_owned(), process, bytes: 3 };
        let manifest = Manifest {
            version: VERSION,
            run: "r".to_owned(),
            marker: "{}".to_owned(),
            journals: vec![journal],
            part: "0f".repeat(32),
            parts: vec![Part { bytes: 3, sha256: "00".to_owned() }],
        };
        assert_eq!(Manifest::parse(&manifest.text(), true), Ok(manifest.clone()));
        let text = String::from_utf8(manifest.text()).unwrap();
        for (from, to, said) in [
            ("\"version\": 1", "\"version\": 2", "a newer cargo-evalset wrote it (version 2 of the layout)"),
            ("\"version\": 1,", "", "it has no version"),
            (
                "\"bytes\": 3,\n      \"sha",
                "\"bytes\": 4,\n      \"sha",
                "its journals have 3 bytes, and its parts 4",
            ),
            ("0f0f", "../x", "a journal has no hash"),
            ("\"run\"", "\"ran\"", "missing field `run`"),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "{from}");
            assert_eq!(Manifest::parse(changed.as_bytes(), true), Err(said.to_owned()));
        }
        assert!(Manifest::parse(&manifest.text()[..20], true).unwrap_err().starts_with("it is not JSON"));
        // What has not ended has no parts yet.
        let without_parts = Manifest { parts: Vec::new(), ..manifest.clone() };
        assert_eq!(Manifest::parse(&without_parts.text(), false), Ok(without_parts.clone()));
        assert_eq!(
            Manifest::parse(&without_parts.text(), true),
            Err("its journals have 3 bytes, and its parts 0".to_owned())
        );
        let empty = Manifest { journals: Vec::new(), ..without_parts };
        assert_eq!(Manifest::parse(&empty.text(), true), Err("it names no journal".to_owned()));
    }
}
