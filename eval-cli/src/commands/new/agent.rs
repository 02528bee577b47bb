//! The agents that a new file of tests can have.

use clap::ValueEnum;

/// What the agent of a new file of tests is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentKind {
    /// A function from a message to an answer.
    #[default]
    Closure,
    /// A type with the trait `Agent`, which remembers what was said.
    Struct,
    /// An agent of rig-core, with its mock model.
    Rig,
    /// A loop around async-openai, with a server on loopback in place of the model.
    AsyncOpenai,
}

impl AgentKind {
    /// The file of tests, with `weather` in place of the name.
    pub(super) fn template(self) -> &'static str {
        match self {
            Self::Closure => include_str!("../../../templates/closure.rs"),
            Self::Struct => include_str!("../../../templates/struct.rs"),
            Self::Rig => include_str!("../../../templates/rig.rs"),
            Self::AsyncOpenai => include_str!("../../../templates/async_openai.rs"),
        }
    }

    /// What the file needs besides eval-core: the name of each dependency, and its value in `Cargo.toml`.
    pub(super) fn dependencies(self) -> Vec<(&'static str, String)> {
        let lines: &[(&str, &str)] = match self {
            Self::Closure | Self::Struct => &[],
            Self::Rig => &[
                ("rig-core", r#"{ version = "0.40", default-features = false, features = ["test-utils"] }"#),
                ("serde_json", r#""1""#),
            ],
            Self::AsyncOpenai => &[
                (
                    "async-openai",
                    r#"{ version = "0.43", default-features = false, features = ["chat-completion"] }"#,
                ),
                ("serde_json", r#""1""#),
            ],
        };
        lines.iter().map(|(name, line)| (*name, (*line).to_owned())).collect()
    }
}
