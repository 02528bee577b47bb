//! Sets that commands edit: which ones, and how they are written.

mod changes;
mod origin;
mod selection;
mod set_file;

pub(crate) use changes::{Change, changed};
pub(crate) use origin::origin;
pub(crate) use selection::{SelectedSet, one_set, select};
pub(crate) use set_file::{edit, open, refused};
