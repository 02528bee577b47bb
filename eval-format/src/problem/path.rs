//! Places in a document, as paths.

use std::fmt;

/// A place in a JSON document: `eval_cases[2].conversation[0].user_content`.
///
/// The path of the document itself is empty and shows as `the document`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct JsonPath(Vec<PathSegment>);

/// One step of a [`JsonPath`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathSegment {
    /// Into an object, by key.
    Key(String),
    /// Into an array, by position from 0.
    Index(usize),
}

impl JsonPath {
    /// The steps from the root.
    pub fn steps(&self) -> &[PathSegment] {
        &self.0
    }

    pub(crate) fn push(&mut self, step: PathSegment) {
        self.0.push(step);
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    #[must_use]
    pub(crate) fn key(&self, key: &str) -> Self {
        let mut path = self.clone();
        path.push(PathSegment::Key(key.to_owned()));
        path
    }

    #[must_use]
    pub(crate) fn index(&self, index: usize) -> Self {
        let mut path = self.clone();
        path.push(PathSegment::Index(index));
        path
    }

    #[must_use]
    pub(crate) fn join(&self, below: &Self) -> Self {
        let mut path = self.clone();
        path.0.extend_from_slice(&below.0);
        path
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("the document");
        }
        for (at, step) in self.0.iter().enumerate() {
            match step {
                PathSegment::Index(index) => write!(f, "[{index}]")?,
                PathSegment::Key(key) if is_plain(key) => {
                    write!(f, "{}{key}", if at == 0 { "" } else { "." })?;
                }
                PathSegment::Key(key) => write!(f, "[{key:?}]")?,
            }
        }
        Ok(())
    }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_like_an_expression() {
        assert_eq!(JsonPath::default().to_string(), "the document");
        let path = JsonPath::default().key("eval_cases").index(2).key("conversation").index(0);
        assert_eq!(path.to_string(), "eval_cases[2].conversation[0]");
        assert_eq!(path.key("a b").to_string(), r#"eval_cases[2].conversation[0]["a b"]"#);
    }
}
