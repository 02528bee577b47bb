//! `cargo evalset schema`: JSON Schemas of the files, for editors.

use eval_format::conventions::FileKind;
use eval_format::json_schema;

use crate::output::{Answer, Outcome};

/// Prints the JSON Schema of a kind of file: an editor that knows it completes keys and marks mistakes.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The kind of file.
    #[arg(value_enum)]
    kind: Kind,
}

/// A kind of file that people write.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Kind {
    /// Eval sets: `*.evalset.json`, and test files of the older forms.
    Set,
    /// Configs: `test_config.json`.
    Config,
    /// Recordings of judges: `*.judge.json`.
    Recording,
    /// Initial sessions of test files.
    Session,
}

const AFTER_HELP: &str = r#"Examples:
  cargo evalset schema set > evalset.schema.json
  cargo evalset schema config > evalconfig.schema.json

VS Code, in .vscode/settings.json:
  "json.schemas": [
    {"fileMatch": ["*.evalset.json", "*.test.json"], "url": "./evalset.schema.json"},
    {"fileMatch": ["test_config.json"], "url": "./evalconfig.schema.json"}
  ]

JetBrains: Settings, Languages & Frameworks, Schemas and DTDs, JSON Schema Mappings.

Any editor, in the file itself: "$schema": "../evalset.schema.json". ADK ignores this key."#;

pub(crate) fn run(args: &Args) -> Answer {
    let kind = match args.kind {
        Kind::Set => FileKind::Set,
        Kind::Config => FileKind::Config,
        Kind::Recording => FileKind::Recording,
        Kind::Session => FileKind::Session,
    };
    Answer::new(Outcome::Passed, format!("{:#}\n", json_schema(kind)))
}
