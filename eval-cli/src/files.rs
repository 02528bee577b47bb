//! Files on a command line: finding them, reading and writing them, and showing their problems.

mod find;
mod folder;
mod modern;
mod problem_json;
mod problems;

pub(crate) use crate::output::read;
pub(crate) use eval_format::problem::Positions;
pub(crate) use eval_support::whole_file::{create, replace};
#[cfg(feature = "store")]
pub(crate) use eval_support::whole_file::{private_beside, replace_private};
pub(crate) use find::{Input, Scope, find_files};
pub(crate) use folder::sessions_in;
pub(crate) use modern::{form_name, modern, text_like};
pub(crate) use problem_json::{FoundProblems, severity_name};
pub(crate) use problems::{config_beside, read_config, shown, unpassable};
