//! Holds the architecture.
mod graph;
mod krate;
mod members;
mod resolve;
mod show;
mod source;
mod tree;
mod uses;
mod workspace;

use std::io::Write;

/// Prints the graph of each crate if `EVALSET_LAYERS` is `print`.
#[test]
fn print() {
    if std::env::var_os("EVALSET_LAYERS").is_some_and(|value| value == "print") {
        for member in workspace::members() {
            let of = krate::Crate::parse(&member.folder, &member.folder, &member.sources).unwrap();
            std::io::stdout().write_all(show::show(&of).as_bytes()).unwrap();
        }
    }
}
