//! Stored declarations of tools: the answer of a real MCP server to `tools/list`, in a file beside the set.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use eval_support::file::read_file;

use crate::conventions::tool_list_path;
use crate::error::ReadError;
use crate::problem::{Problem, ProblemCode, Problems, shown};
use crate::schema::Place;
use crate::syntax::Node;
use crate::text;
use crate::value::Value;

/// A checked file of declarations.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckedDeclarations {
    /// The name of the file, as messages show it.
    pub file: String,
    /// The text that the ranges of the problems point into.
    pub text: String,
    /// The declarations as the file has them, unless a problem is an error.
    pub declarations: Option<Vec<Value>>,
    /// All problems, in the order of the text.
    pub problems: Vec<Problem>,
}

impl CheckedDeclarations {
    /// The declarations, or the problems of the file if one of them is an error.
    pub fn into_result(self) -> Result<Vec<Value>, Problems> {
        self.declarations.ok_or(Problems { file: self.file, text: self.text, items: self.problems })
    }
}

const EXAMPLE: &str = r#"it is the answer of the server to `tools/list`: {"tools": [{"name": "f", "inputSchema": {"type": "object"}}]}"#;

/// Reads and checks a file of declarations: the result of `tools/list`, or the whole message with it.
///
/// ```
/// use eval_format::tools::check_declarations;
///
/// let text = r#"{"tools": [{"name": "lookup", "inputSchema": {"type": "object"}}]}"#;
/// let checked = check_declarations("orders.evalset.tools.json", text.as_bytes());
/// assert_eq!(checked.declarations.unwrap()[0]["name"].as_str(), Some("lookup"));
/// ```
pub fn check_declarations(file: &str, bytes: &[u8]) -> CheckedDeclarations {
    let (text, declarations, problems) = text::read(
        bytes,
        |_, problem| problem,
        |root, problems| {
            let (list, place) = match root.get("result") {
                Some(result) => (&result.value, &Place::Key(&Place::Root, "result")),
                None => (root, &Place::Root),
            };
            read(list, place, problems)
        },
    );
    CheckedDeclarations { file: file.to_owned(), text, declarations, problems }
}

/// The declarations in the file beside an eval set; `None` without the file.
///
/// ```
/// use eval_format::tools::read_declarations;
///
/// assert!(read_declarations("no/such/orders.evalset.json".as_ref())?.is_none());
/// # Ok::<(), eval_format::ReadError>(())
/// ```
pub fn read_declarations(set: &Path) -> Result<Option<Vec<Value>>, ReadError> {
    let path = PathBuf::from(tool_list_path(&set.to_string_lossy()));
    let bytes = match read_file(&path) {
        Ok(bytes) => bytes,
        // A link that leads nowhere is there.
        Err(error) if error.kind() == ErrorKind::NotFound && path.symlink_metadata().is_err() => {
            return Ok(None);
        }
        Err(source) => return Err(ReadError::Io { path, source }),
    };
    Ok(Some(check_declarations(&path.display().to_string(), &bytes).into_result()?))
}

fn read(list: &Node<'_>, place: &Place<'_>, problems: &mut Vec<Problem>) -> Option<Vec<Value>> {
    let wrong = |node: &Node<'_>, place: &Place<'_>, message: &str| {
        place.error(ProblemCode::WrongType, node.range.clone(), message).help(EXAMPLE)
    };
    let Some((tools, entry)) = list.get("tools").and_then(|entry| Some((entry.value.array()?, entry))) else {
        problems.push(wrong(list, place, "the file has no list `tools`"));
        return None;
    };
    if let Some(page) = list.get("nextCursor").filter(|page| !page.value.is_null()) {
        let at = &Place::Key(place, "nextCursor");
        problems.push(
            at.error(ProblemCode::NotAvailable, page.key_range.clone(), "the list has a further page")
                .help("put the tools of all pages into `tools`, and leave `nextCursor` out"),
        );
    }
    let place = &Place::Key(place, &entry.key);
    let mut seen = HashSet::new();
    for (index, tool) in tools.iter().enumerate() {
        let place = &Place::Index(place, index);
        match tool.get("name").and_then(|entry| entry.value.string()).filter(|name| !name.is_empty()) {
            None => problems.push(wrong(tool, place, "the tool has no `name`")),
            Some(name) if !seen.insert(name.to_owned()) => {
                let message = format!("the tool `{}` is there twice", shown(name));
                let problem = place.error(ProblemCode::DuplicateKey, tool.range.clone(), message);
                problems.push(problem.help("keep one of the two"));
            }
            Some(_) => {}
        }
        if tool.get("inputSchema").is_none_or(|entry| entry.value.object().is_none()) {
            problems.push(wrong(tool, place, "the tool has no `inputSchema`"));
        }
    }
    Some(tools.iter().map(Node::to_value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_a_server_is_kept_as_it_is_and_mistakes_have_places() {
        let tool = r#"{"name": "f", "inputSchema": {"type": "object", "x": 1.50}, "annotations": {}}"#;
        for text in [
            format!(r#"{{"tools": [{tool}]}}"#),
            format!(r#"{{"jsonrpc": "2.0", "id": 1, "result": {{"tools": [{tool}], "nextCursor": null}}}}"#),
        ] {
            let read = check_declarations("t", text.as_bytes()).into_result().unwrap();
            assert_eq!(read, [Value::parse(tool).unwrap()]);
        }
        for (text, path, message) in [
            ("[]".to_owned(), "the document", "the file has no list `tools`"),
            (r#"{"tools": {}}"#.to_owned(), "the document", "the file has no list `tools`"),
            (r#"{"tools": [{"inputSchema": {}}]}"#.to_owned(), "tools[0]", "the tool has no `name`"),
            (r#"{"tools": [{"name": "f"}]}"#.to_owned(), "tools[0]", "the tool has no `inputSchema`"),
            (format!(r#"{{"tools": [{tool}, {tool}]}}"#), "tools[1]", "the tool `f` is there twice"),
            (
                format!(r#"{{"tools": [{tool}], "nextCursor": "2"}}"#),
                "nextCursor",
                "the list has a further page",
            ),
        ] {
            let checked = check_declarations("t", text.as_bytes());
            let [problem] = &*checked.problems else { panic!("{text}: {:?}", checked.problems) };
            assert_eq!((problem.path.to_string().as_str(), problem.message.as_str()), (path, message));
            assert!(problem.help.is_some() && checked.declarations.is_none());
        }
    }
}
