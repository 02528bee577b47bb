//! Choices that are named by the parts that they take, for a page on which several parts are chosen at once.

use super::change::Part;
use super::choice::{Choice, Choices, described, proper_parts};
use super::item::Offer;
use crate::output::CommandError;

/// The name by which the removal of a draft is asked for.
pub(crate) const REMOVE: &str = ":remove";

impl Choices<'_, '_> {
    /// The parts that can be accepted apart from each other: the name of each, as in its id, and its words.
    pub(crate) fn part_names(&self) -> Vec<(String, String)> {
        let Some(change) = self.item.change() else { return Vec::new() };
        let named = |part: &Part| (part.to_string(), described(change, std::slice::from_ref(part)));
        proper_parts(change).iter().map(named).collect()
    }

    /// The rules that loosen: the name of each, and its words.
    pub(crate) fn rule_names(&self) -> Vec<(String, String)> {
        self.rules().into_iter().map(|(name, what, _)| (name, what)).collect()
    }

    /// The choice of these parts together, or of one rule, or to remove a draft. Without a name it takes all. `None` if it is not
    /// offered, or not any more.
    pub(crate) fn named(&self, names: &[String]) -> Result<Option<Choice>, CommandError> {
        match names {
            [] => return self.whole(),
            [name] if name == REMOVE => {
                let is_draft = matches!(self.item.offer, Offer::Draft);
                return if is_draft { self.removing().map(Some) } else { Ok(None) };
            }
            [name] if name.starts_with(":loosen-") => {
                let rule = self.rules().into_iter().find(|(known, ..)| known == name);
                return rule.map(|(name, what, case)| self.loosened(&name, what, case)).transpose();
            }
            _ => {}
        }
        let Some(change) = self.item.change() else { return Ok(None) };
        let known = change.parts();
        let is_known = |name: &String| known.iter().any(|part| part.to_string() == *name);
        if !names.iter().all(is_known) {
            return Ok(None);
        }
        let parts: Vec<Part> = known.into_iter().filter(|part| names.contains(&part.to_string())).collect();
        let mut choice = self.parts(change, &names.concat(), &parts)?;
        let words: Vec<String> =
            parts.iter().map(|part| described(change, std::slice::from_ref(part))).collect();
        choice.what = words.join(", ");
        Ok(Some(choice))
    }
}
