//! The manifest of an upload: the journals in its chunks.

use std::collections::{BTreeMap, HashMap};

use eval_support::untrusted::one_line;
use serde::{Deserialize, Serialize};

pub(super) const VERSION: u32 = 1;

/// A manifest. Its concatenated chunks are its concatenated journals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) version: u32,
    pub(super) run: String,
    /// The content of the file that marks the folder of a run.
    pub(super) marker: String,
    pub(super) journals: Vec<StoredJournal>,
    /// The machine's part of the run: the head hash of a journal in its folder, stored now or before. All
    /// uploads of a folder have the same hash, or are linked by a journal that they share.
    #[serde(default)]
    pub(super) part: Option<String>,
    /// Empty while the upload has not ended.
    #[serde(default)]
    pub(super) chunks: Vec<Chunk>,
}

/// A journal: the file of one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredJournal {
    pub(super) name: String,
    /// The hash of its first line, which no other process writes. Journals grow only at their ends, so of two with one hash
    /// the longer one is the later one.
    pub(super) head_hash: String,
    pub(super) bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chunk {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl Manifest {
    /// Parses a manifest of a run, or says what is wrong with it. Only an upload that has not ended may lack chunks.
    pub(super) fn parse(bytes: &[u8], has_ended: bool, run: &str) -> Result<Self, String> {
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
        if manifest.run != run {
            return Err(format!("it is one of the run `{}`", one_line(&manifest.run)));
        }
        let journals: u64 =
            manifest.journals.iter().fold(0, |sum, journal| sum.saturating_add(journal.bytes));
        let chunks: u64 = manifest.chunks.iter().fold(0, |sum, chunk| sum.saturating_add(chunk.bytes));
        let is_plain = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !manifest.journals.iter().all(|journal| is_plain(&journal.head_hash)) {
            return Err("a journal has no hash".to_owned());
        }
        if has_ended && manifest.journals.is_empty() {
            return Err("it names no journal".to_owned());
        }
        if (has_ended || !manifest.chunks.is_empty()) && journals != chunks {
            return Err(format!("its journals have {journals} bytes, and its chunks {chunks}"));
        }
        Ok(manifest)
    }

    pub(super) fn text(&self) -> Vec<u8> {
        // This cannot fail: a manifest has only strings and numbers.
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }
}

/// The number of parts. Uploads that share a journal, directly or through other uploads, are one part.
pub(super) fn parts(ended: &BTreeMap<String, Manifest>) -> usize {
    let mut upload_of: HashMap<&str, usize> = HashMap::new();
    // For each upload, an earlier one of the same part, or itself.
    let mut earlier: Vec<usize> = Vec::new();
    for (number, manifest) in ended.values().enumerate() {
        earlier.push(number);
        let own = manifest.journals.iter().map(|journal| journal.head_hash.as_str());
        for head in own.chain(manifest.part.as_deref()) {
            let known = *upload_of.entry(head).or_insert(number);
            let (one, other) = (first(&earlier, known), first(&earlier, number));
            earlier[one.max(other)] = one.min(other);
        }
    }
    earlier.iter().enumerate().filter(|(number, earlier)| number == *earlier).count()
}

fn first(earlier: &[usize], mut number: usize) -> usize {
    while earlier[number] != number {
        number = earlier[number];
    }
    number
}

#[cfg(test)]
mod tests {
    use super::super::manifest::StoredJournal;
    use super::*;

    #[test]
    fn a_manifest_is_read_as_it_is_written_and_others_are_refused() {
        let head_hash = "0f".repeat(32);
        let journal = StoredJournal { name: "a.jsonl".to_owned(), head_hash, bytes: 3 };
        let manifest = Manifest {
            version: VERSION,
            run: "r".to_owned(),
            marker: "{}".to_owned(),
            journals: vec![journal],
            part: Some("0f".repeat(32)),
            chunks: vec![Chunk { bytes: 3, sha256: "00".to_owned() }],
        };
        assert_eq!(Manifest::parse(&manifest.text(), true, "r"), Ok(manifest.clone()));
        let text = String::from_utf8(manifest.text()).unwrap();
        for (from, to, said) in [
            ("\"version\": 1", "\"version\": 2", "a newer cargo-evalset wrote it (version 2 of the layout)"),
            ("\"version\": 1,", "", "it has no version"),
            (
                "\"bytes\": 3,\n      \"sha",
                "\"bytes\": 4,\n      \"sha",
                "its journals have 3 bytes, and its chunks 4",
            ),
            ("0f0f", "../x", "a journal has no hash"),
            ("\"run\"", "\"ran\"", "missing field `run`"),
            ("\"run\": \"r\"", "\"run\": \"s\"", "it is one of the run `s`"),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "{from}");
            assert_eq!(Manifest::parse(changed.as_bytes(), true, "r"), Err(said.to_owned()));
        }
        assert!(
            Manifest::parse(&manifest.text()[..20], true, "r").unwrap_err().starts_with("it is not JSON")
        );
        // An upload that has not ended has no chunks yet.
        let without_chunks = Manifest { chunks: Vec::new(), ..manifest.clone() };
        assert_eq!(Manifest::parse(&without_chunks.text(), false, "r"), Ok(without_chunks.clone()));
        assert_eq!(
            Manifest::parse(&without_chunks.text(), true, "r"),
            Err("its journals have 3 bytes, and its chunks 0".to_owned())
        );
        let empty = Manifest { journals: Vec::new(), ..without_chunks };
        assert_eq!(Manifest::parse(&empty.text(), true, "r"), Err("it names no journal".to_owned()));
    }

    #[test]
    fn a_folder_is_one_part_however_often_it_is_stored() {
        // The part of each upload, and its journals.
        for (uploads, expected) in [
            (&[][..], 0),
            (&[("a", &["a", "b", "c"][..])], 1),
            (&[("a", &["a"][..]), ("b", &["b"])], 2),
            // A journal grew.
            (&[("a", &["a", "b"][..]), ("a", &["b"])], 1),
            // Another process wrote in the folder later.
            (&[("a", &["a"][..]), ("a", &["b"]), ("b", &["c"]), ("x", &["x"])], 2),
            // Two uploads began before either ended, and a third shows that they are of one folder.
            (&[("a", &["a"][..]), ("b", &["b"]), ("c", &["a", "b"])], 1),
        ] {
            let manifest = |&(part, journals): &(&str, &[&str])| Manifest {
                part: Some(part.to_owned()),
                journals: journals
                    .iter()
                    .map(|head_hash| StoredJournal {
                        name: "a.jsonl".to_owned(),
                        head_hash: (*head_hash).to_owned(),
                        bytes: 1,
                    })
                    .collect(),
                ..Manifest::default()
            };
            let ended = uploads.iter().enumerate();
            let ended = ended.map(|(number, upload)| (number.to_string(), manifest(upload))).collect();
            assert_eq!(parts(&ended), expected, "{uploads:?}");
        }
    }
}
