//! The names of the cases in links.

use std::collections::HashMap;

use eval_support::hash::content_hash;
use eval_support::secrets::mask;

/// Gives each case a name that no other case of the page has, and that links and attributes hold as it is.
#[derive(Debug, Default)]
pub struct Anchors(HashMap<String, usize>);

/// A longer name is cut, and told apart by its hash.
const LONGEST: usize = 120;

impl Anchors {
    /// The anchor of a case: `case-weather::sunny`. The same name has the same anchor on every page, but for its repetitions.
    pub fn of(&mut self, name: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '_' | '-' | '.');
        let mut anchor = "case-".to_owned();
        // A key that is cut is not known as one: it is masked before.
        anchor.extend(mask(name).chars().take(LONGEST).map(|c| if plain(c) { c } else { '_' }));
        if anchor.strip_prefix("case-") != Some(name) {
            anchor.push_str(&format!("-{:08x}", content_hash(name.as_bytes()) >> 32));
        }
        let seen = self.0.entry(anchor.clone()).or_default();
        *seen += 1;
        if *seen > 1 {
            // No name of a case makes an anchor with a `~`.
            anchor.push_str(&format!("~{seen}"));
        }
        anchor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_is_stable_plain_and_of_one_case() {
        let mut anchors = Anchors::default();
        assert_eq!(anchors.of("weather::sunny"), "case-weather::sunny");
        assert_eq!(anchors.of("weather::sunny"), "case-weather::sunny~2");
        let odd = ["set/it's \"x\"", "set/it's  x ", "<img>", "日本", &"x".repeat(10_000), &"x".repeat(9999)];
        let of: Vec<String> = odd.iter().map(|name| anchors.of(name)).collect();
        for (at, anchor) in of.iter().enumerate() {
            assert!(anchor.bytes().all(|b| b.is_ascii_alphanumeric() || b":_-.~".contains(&b)), "{anchor}");
            assert!(anchor.len() < 150 && !of[..at].contains(anchor), "{anchor}");
        }
        assert_eq!(Anchors::default().of(odd[0]), of[0]);
    }
}
