//! Mapping of the columns of a table to roles: question, answer, tools, id, conversation.

use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Final,
    Tools,
    Id,
    Conversation,
}

/// The roles, each with its names in a mapping and the common names of its columns.
const ROLES: [(Role, &[&str], &[&str]); 5] = [
    (
        Role::User,
        &["user"],
        &["user", "question", "query", "input", "prompt", "user_input", "user_message", "message", "request"],
    ),
    (
        Role::Final,
        &["final", "answer"],
        &[
            "final",
            "answer",
            "expected",
            "expected_answer",
            "expected_output",
            "expected_response",
            "ground_truth",
            "reference",
            "response",
            "output",
            "completion",
        ],
    ),
    (
        Role::Tools,
        &["tools"],
        &["tools", "tool_calls", "expected_tools", "expected_tool_calls", "expected_tool_use", "tool_uses"],
    ),
    (Role::Id, &["id"], &["id", "case", "case_id", "eval_id", "name"]),
    (
        Role::Conversation,
        &["conversation"],
        &["conversation", "conversation_id", "session", "session_id", "thread_id"],
    ),
];

/// The roles of the columns of a table, or of the keys of its JSON objects: `query=user,answer=final,tools=tools`.
///
/// | role | what the column holds |
/// | --- | --- |
/// | `user` | the user's message; it is required |
/// | `final` | the answer; `answer` is a synonym |
/// | `tools` | the calls: names between commas, or JSON: names, or objects with `name` and `args` |
/// | `id` | the id of the case |
/// | `conversation` | rows with the same value are the turns of one conversation |
///
/// ```
/// use eval_agents::import::Mapping;
///
/// assert!("query=user,reply=final".parse::<Mapping>().is_ok());
/// let error = "query=usr".parse::<Mapping>().unwrap_err();
/// assert_eq!(error.to_string(), "there is no role `usr`: a column is `user`, `final`, `tools`, `id` or `conversation`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    columns: Vec<(String, Role)>,
}

/// An error in a mapping, or between a mapping and a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MappingError {
    /// A part of the mapping is not `column=role`.
    NotAPair(String),
    /// The role does not exist.
    NoRole(String),
    /// Two columns have this role.
    Twice(String),
    /// No column holds what the user says.
    NoUser {
        /// The columns of the table; empty if there is no table yet.
        there: Vec<String>,
    },
    /// The table has no such column.
    NoColumn {
        /// The column of the mapping.
        column: String,
        /// The columns of the table.
        there: Vec<String>,
    },
}

impl fmt::Display for MappingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        match self {
            Self::NotAPair(part) => write!(f, "`{part}` is no `column=role`, such as `query=user`"),
            Self::NoRole(role) => write!(
                f,
                "there is no role `{role}`: a column is `user`, `final`, `tools`, `id` or `conversation`"
            ),
            Self::Twice(role) => write!(f, "two columns have the role `{role}`"),
            Self::NoUser { there } if there.is_empty() => {
                f.write_str("no column holds what the user says, such as `query=user`")
            }
            Self::NoUser { there } => write!(
                f,
                "no column is known to hold what the user says; name it, such as `query=user`: the columns are {}",
                list(there)
            ),
            Self::NoColumn { column, there } => {
                write!(f, "there is no column `{column}`: the columns are {}", list(there))
            }
        }
    }
}

impl std::error::Error for MappingError {}

impl FromStr for Mapping {
    type Err = MappingError;

    fn from_str(text: &str) -> Result<Self, MappingError> {
        let mut columns: Vec<(String, Role)> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            // The name of a column may contain `=`; the name of a role does not.
            let pair = part.rsplit_once('=').map(|(column, role)| (column.trim(), role.trim()));
            let Some((column, name)) = pair.filter(|(column, _)| !column.is_empty()) else {
                return Err(MappingError::NotAPair(part.to_owned()));
            };
            let role = ROLES.iter().find(|(_, names, _)| names.contains(&name));
            let (role, ..) = *role.ok_or_else(|| MappingError::NoRole(name.to_owned()))?;
            if columns.iter().any(|(_, known)| *known == role) {
                return Err(MappingError::Twice(name.to_owned()));
            }
            columns.push((column.to_owned(), role));
        }
        if !columns.iter().any(|(_, role)| *role == Role::User) {
            return Err(MappingError::NoUser { there: Vec::new() });
        }
        Ok(Self { columns })
    }
}

impl Mapping {
    pub(super) fn roles(
        mapping: Option<&Self>,
        there: &[String],
    ) -> Result<Vec<(String, Role)>, MappingError> {
        let Some(Self { columns }) = mapping else { return known(there) };
        match columns.iter().find(|(column, _)| !there.contains(column)) {
            Some((column, _)) => {
                Err(MappingError::NoColumn { column: column.clone(), there: there.to_vec() })
            }
            None => Ok(columns.clone()),
        }
    }
}

/// The roles of columns with common names. If several columns have one role, the first name counts.
fn known(there: &[String]) -> Result<Vec<(String, Role)>, MappingError> {
    let plain = |name: &str| name.trim().to_lowercase().replace([' ', '-'], "_");
    let column = |names: &[&str]| {
        names.iter().find_map(|name| there.iter().find(|column| plain(column) == *name)).cloned()
    };
    let roles: Vec<_> = ROLES.iter().filter_map(|(role, _, names)| Some((column(names)?, *role))).collect();
    if roles.iter().any(|(_, role)| *role == Role::User) {
        Ok(roles)
    } else {
        Err(MappingError::NoUser { there: there.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_refused_with_the_reason() {
        for (text, why) in [
            ("query", "`query` is no `column=role`, such as `query=user`"),
            ("=user", "`=user` is no `column=role`, such as `query=user`"),
            ("a=user,b=user", "two columns have the role `user`"),
            ("a=final", "no column holds what the user says, such as `query=user`"),
            ("", "no column holds what the user says, such as `query=user`"),
        ] {
            assert_eq!(text.parse::<Mapping>().unwrap_err().to_string(), why, "{text}");
        }
    }

    #[test]
    fn columns_are_known_by_names_that_are_in_use() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let roles = Mapping::roles(None, &names(&["ID", "Question", "Expected Answer", "other"])).unwrap();
        let expected = [("Question", Role::User), ("Expected Answer", Role::Final), ("ID", Role::Id)];
        assert_eq!(roles, expected.map(|(name, role)| (name.to_owned(), role)));
        let error = Mapping::roles(None, &names(&["a", "b"])).unwrap_err().to_string();
        assert!(error.ends_with("the columns are `a`, `b`"), "{error}");
        let mapping: Mapping = "c=user".parse().unwrap();
        let error = Mapping::roles(Some(&mapping), &names(&["a", "b"])).unwrap_err().to_string();
        assert_eq!(error, "there is no column `c`: the columns are `a`, `b`");
    }
}
