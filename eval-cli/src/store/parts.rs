//! Of how many parts a stored run is. A part is what the folder of one machine holds, however often and in how many uploads it was
//! stored.

use std::collections::{BTreeMap, HashMap};

use super::manifest::Manifest;

/// How many parts the uploads that ended hold. Uploads that share a journal are of one part, directly or over others.
pub(super) fn count(ended: &BTreeMap<String, Manifest>) -> usize {
    let mut upload_of: HashMap<&str, usize> = HashMap::new();
    // Of each upload, an earlier one of the same part, or itself.
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
            assert_eq!(count(&ended), expected, "{uploads:?}");
        }
    }
}
