//! The judges behind a metric: models, and the versions of the prompts that they were asked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Models, each with the names and versions of its prompts, as far as they are known: `gemini-2.5-flash safety_v1/2`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Judges(BTreeMap<String, BTreeSet<String>>);

impl Judges {
    /// Reads the text of a line. A model may have blanks in its name; a prompt ends with its version.
    pub(super) fn parse(text: &str) -> Self {
        let mut judges = Self::default();
        for judge in text.split(", ") {
            let mut words: Vec<&str> = judge.split(' ').collect();
            let mut prompts = Vec::new();
            while words.len() > 1
                && let Some(prompt) = words.pop_if(|word| is_prompt(word))
            {
                prompts.push(prompt);
            }
            judges.add(&words.join(" "), prompts);
        }
        judges
    }

    pub(super) fn add<'p>(&mut self, model: &str, prompts: impl IntoIterator<Item = &'p str>) {
        self.0.entry(model.to_owned()).or_default().extend(prompts.into_iter().map(str::to_owned));
    }

    /// Whether both are the same models with the same prompts. A run that broke or that says nothing asks fewer of its prompts.
    pub(super) fn are_those(&self, other: &Self) -> bool {
        let alike = |(one, other): (&BTreeSet<String>, &BTreeSet<String>)| {
            one.is_subset(other) || other.is_subset(one)
        };
        self.0.keys().eq(other.0.keys()) && self.0.values().zip(other.0.values()).all(alike)
    }

    /// All prompts of both.
    pub(super) fn and(mut self, other: Self) -> Self {
        for (model, prompts) in other.0 {
            self.0.entry(model).or_default().extend(prompts);
        }
        self
    }

    /// Whether a model is named without any prompt, as an older recording names none.
    pub(super) fn lacks_prompts(&self) -> bool {
        self.0.values().any(BTreeSet::is_empty)
    }

    /// The text for a line; `None` if no judge was asked.
    pub(super) fn text(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.to_string())
    }
}

/// Whether a word is the name of a prompt with its version: `safety_v1/2`.
fn is_prompt(word: &str) -> bool {
    word.rsplit_once('/')
        .is_some_and(|(_, version)| !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()))
}

impl fmt::Display for Judges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (model, prompts)) in self.0.iter().enumerate() {
            write!(f, "{}{model}", if at > 0 { ", " } else { "" })?;
            prompts.iter().try_for_each(|prompt| write!(f, " {prompt}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judge_that_was_asked_less_is_the_same_judge() {
        let of = Judges::parse;
        for (one, other, expected) in [
            ("gemini a/1 b/1", "gemini a/1", true),
            ("gemini", "gemini a/1", true),
            ("gemini a/1", "gemini a/2", false),
            ("gemini a/1 b/1", "gemini a/2", false),
            ("gemini a/1", "gemini b/1", false),
            ("gemini a/1", "gpt a/1", false),
            ("gemini a/1", "gemini a/1, gpt a/1", false),
            ("my judge", "my critic", false),
            ("openai/4", "openai/5", false),
            ("my judge a/1", "my judge a/1 b/2", true),
        ] {
            assert_eq!(of(one).are_those(&of(other)), expected, "{one} | {other}");
            assert_eq!(of(other).are_those(&of(one)), expected, "{other} | {one}");
        }
    }

    #[test]
    fn a_text_is_read_as_it_is_written() {
        for text in ["gemini", "gemini a/1 b/12", "gemini a/1, gpt-4 a/1", "my judge a/1", "openai/4"] {
            assert_eq!(Judges::parse(text).to_string(), text);
        }
        let both = Judges::parse("gemini a/1").and(Judges::parse("gemini b/1, gpt"));
        assert_eq!(both.text().as_deref(), Some("gemini a/1 b/1, gpt"));
        assert_eq!(Judges::default().text(), None);
    }
}
