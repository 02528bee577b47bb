//! Code that the crates around eval-core share. It is published only because they need it: anything here may change in
//! any version.
//!
//! | module | it holds |
//! | --- | --- |
//! | [`secrets`] | values and words that are masked wherever something is written or printed |
//! | [`untrusted`] | texts of agents, tools, judges and files, printed so that they steer no terminal or service |
//! | [`variables`] | the variables `EVALSET_..`, and the mistakes in their values |
//! | [`mutex`] | a mutex that a panic does not poison |
//! | [`lock`] | locks on files and folders, between processes |
//! | [`file`](mod@file) | the bytes of a regular file of limited size |
//! | `whole_file` | files that are never half written (feature `whole-files`) |
//! | [`id`] | ids that are new each time, and tokens that cannot be guessed (feature `tokens`) |
//! | [`hash`] | hashes of contents that are the same everywhere |
//! | `http` | clients for HTTP, and the bodies of errors (feature `http`) |
//! | [`interpreter`] | the Python interpreter of agents and metrics |
//! | [`key_case`] | keys in `snake_case` and in camelCase |
//! | [`spelling`] | misspelt names and their likely corrections |
//! | [`command`] | the name of the command in messages |
//! | [`shell`] | quoting of words and commands for a shell |
//! | [`price`] | prices of tokens, and amounts of money |
//! | [`words`] | counts, lists and suggestions as parts of sentences |
//! | [`message`] | texts that are truncated or quoted in messages, and printing them |
//! | [`category`](mod@category) | groups of Unicode's general categories |
//! | [`setters!`] | builder methods that set one field each |
//! | `test_support` | emulations of terminals and services that read the output, for tests (feature `test-support`) |

pub mod category;
pub mod command;
pub mod file;
pub mod hash;
#[cfg(feature = "http")]
pub mod http;
pub mod id;
pub mod interpreter;
pub mod key_case;
pub mod lock;
pub mod message;
pub mod mutex;
pub mod price;
pub mod secrets;
pub mod shell;
pub mod spelling;
#[cfg(any(test, feature = "test-support"))]
pub mod test_support;
pub mod untrusted;
pub mod variables;
#[cfg(feature = "whole-files")]
pub mod whole_file;
pub mod words;

/// Builder methods that set one field each.
#[macro_export]
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),+) { $field:ident $($action:tt)+ })+) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $($arg: $type),+) -> Self {
            self.$field $($action)+;
            self
        })+
    };
}
