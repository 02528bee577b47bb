//! Mistakes in `_expect`, each with its place below the case.

use crate::problem::{JsonPath, PathSegment, Problem, ProblemCode, Severity, short, shown};
use crate::syntax::Node;

/// A mistake that is found in values. The reader of the file gives it a range.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    /// The steps from the case.
    pub(super) steps: Vec<PathSegment>,
    /// Whether the key is wrong, not its value.
    pub(super) on_key: bool,
    pub(super) code: ProblemCode,
    pub(super) severity: Severity,
    pub(super) message: String,
    pub(super) label: String,
    pub(super) help: Option<String>,
}

impl Fault {
    pub(crate) fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The mistake as a problem of a file in which the case is at a path, with this node.
    pub(crate) fn problem(self, case: &Node<'_>, path: &JsonPath) -> Problem {
        let mut range = case.range.start..case.range.start + 1;
        let mut node = Some(case);
        let mut shown = JsonPath::default();
        for step in &self.steps {
            node = match step {
                PathSegment::Key(key) => {
                    shown.push(PathSegment::Key(short(key)));
                    let entry = node.and_then(|node| node.get(key));
                    if let Some(entry) = entry {
                        range = if self.on_key { entry.key_range.clone() } else { entry.value.range.clone() };
                    }
                    entry.map(|entry| &entry.value)
                }
                PathSegment::Index(at) => {
                    shown.push(step.clone());
                    let item = node.and_then(|node| node.array()?.get(*at));
                    range = item.map_or(range, |item| item.range.clone());
                    item
                }
            };
        }
        let problem = Problem::error(self.code, path.join(&shown), range, self.message).label(self.label);
        let problem = Problem { severity: self.severity, ..problem };
        match self.help {
            Some(help) => problem.help(help),
            None => problem,
        }
    }
}

/// The mistakes found so far, and the place that is looked at.
#[derive(Debug)]
pub(super) struct Faults {
    pub(super) found: Vec<Fault>,
    place: Vec<PathSegment>,
}

impl Faults {
    /// No mistakes; the place is a key of the case.
    pub(super) fn below(key: &str) -> Self {
        Self { found: Vec::new(), place: vec![PathSegment::Key(key.to_owned())] }
    }

    /// Looks at the value under a key.
    pub(super) fn at<T>(&mut self, key: &str, look: impl FnOnce(&mut Self) -> T) -> T {
        self.step(PathSegment::Key(key.to_owned()), look)
    }

    /// Looks at an item of a list.
    pub(super) fn item<T>(&mut self, at: usize, look: impl FnOnce(&mut Self) -> T) -> T {
        self.step(PathSegment::Index(at), look)
    }

    fn step<T>(&mut self, step: PathSegment, look: impl FnOnce(&mut Self) -> T) -> T {
        self.place.push(step);
        let seen = look(self);
        self.place.pop();
        seen
    }

    /// The place in words: its key.
    pub(super) fn name(&self) -> String {
        let key = self.place.iter().rev().find_map(|step| match step {
            PathSegment::Key(key) => Some(shown(key)),
            PathSegment::Index(_) => None,
        });
        let is_item = matches!(self.place.last(), Some(PathSegment::Index(_)));
        format!("{}`{}`", if is_item { "an item of " } else { "" }, key.unwrap_or_default())
    }

    /// Adds a mistake of the value at the place.
    pub(super) fn value(&mut self, code: ProblemCode, message: impl Into<String>, label: &str) -> &mut Fault {
        self.add(code, message.into(), label, false)
    }

    /// Adds a mistake of the key at the place.
    pub(super) fn key(&mut self, code: ProblemCode, message: impl Into<String>, label: &str) -> &mut Fault {
        self.add(code, message.into(), label, true)
    }

    fn add(&mut self, code: ProblemCode, message: String, label: &str, on_key: bool) -> &mut Fault {
        let at = self.found.len();
        self.found.push(Fault {
            steps: self.place.clone(),
            on_key,
            code,
            severity: Severity::Error,
            message,
            label: label.to_owned(),
            help: None,
        });
        &mut self.found[at]
    }
}

impl Fault {
    pub(super) fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = Some(help.into());
        self
    }

    pub(super) fn warning(&mut self) -> &mut Self {
        self.severity = Severity::Warning;
        self
    }
}
