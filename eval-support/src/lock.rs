//! Locks on files and folders, between all threads and processes of a machine.
//!
//! A lock belongs to an open file. It is free again when the value that holds it is dropped and when the process ends,
//! however it ends. Locks are advisory: they keep out those who ask for them, and nobody who only reads or writes the file.
//!
//! Not every system locks everything: Windows locks no folders, and some network drives lock nothing. Making a [`FileLock`]
//! fails there. The caller decides what that means: the journal goes on without a lock, and slots are counted within the
//! process. A [`FolderLock`] locks a file in the temporary folder instead.

mod file;
mod folder;
mod patient;

pub use file::FileLock;
pub use folder::{FolderLock, FolderLockError};
pub use patient::open_lock_file;
