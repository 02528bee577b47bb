//! Secret request headers.

use std::fmt;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

const MASKED_VALUE: &str = "[hidden]";

const MIN_SECRET_BYTES: usize = 4;

/// Headers that are sent with each request. Their values are not shown.
#[derive(Clone, Default)]
pub(crate) struct Headers {
    all: HeaderMap,
    unfit: Option<String>,
    /// The texts to mask, the longest first.
    secrets: Vec<String>,
}

impl Headers {
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        match (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                self.all.append(name, value);
            }
            _ => self.unfit = Some(name.to_owned()),
        }
        // A server may quote the token of `Bearer x` alone, so each word is masked too.
        for secret in [value].into_iter().chain(value.split_whitespace().skip(1)) {
            if secret.len() >= MIN_SECRET_BYTES {
                eval_support::secrets::hide(secret);
                self.secrets.push(secret.to_owned());
            }
        }
        self.secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    pub(crate) fn all(&self) -> Result<&HeaderMap, String> {
        match &self.unfit {
            Some(name) => Err(format!("the header `{name}` has a name or a value that HTTP does not allow")),
            None => Ok(&self.all),
        }
    }

    pub(crate) fn mask(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASKED_VALUE))
    }
}

/// The names alone.
impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all.keys().map(HeaderName::as_str)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_nowhere() {
        let mut headers = Headers::default();
        headers.add("Authorization", "Bearer correct-horse");
        headers.add("x-tag", "abc");
        assert_eq!(format!("{headers:?}"), r#"["authorization", "x-tag"]"#);
        assert_eq!(
            headers.mask("no Bearer correct-horse, no correct-horse, abc"),
            "no [hidden], no [hidden], abc"
        );
        assert_eq!(headers.all().unwrap()["authorization"], "Bearer correct-horse");
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_named_without_its_value() {
        let mut headers = Headers::default();
        headers.add("x-key", "two\nlines");
        let why = headers.all().unwrap_err();
        assert!(why.contains("`x-key`") && !why.contains("lines"), "{why}");
    }
}
