//! Which records are of the same case.

use std::collections::HashMap;

use super::read::Attempt;

/// What makes a case the same one: where it comes from, how it reads, and what its runs are called. Everything that differs
/// in one of these is another case, whatever its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    pub(super) package: Option<String>,
    pub(super) binary: Option<String>,
    pub(super) name: String,
    file: Option<String>,
    case_hash: Option<String>,
    label: Option<String>,
    /// A program can run the same case several times, and each time counts: the number of this time, from 0.
    time: usize,
}

/// Tells the identity of each attempt of a run.
#[derive(Debug, Default)]
pub(super) struct Identities {
    /// How often each case of a program began, by the number of the attempt.
    times: HashMap<(Identity, u32), usize>,
}

impl Identities {
    /// The identity of the next attempt.
    pub(super) fn of(&mut self, attempt: &Attempt) -> Identity {
        let started = &attempt.started;
        let mut identity = Identity {
            package: attempt.head.package.clone(),
            binary: attempt.head.binary.clone(),
            name: started.name.clone(),
            file: started.file.clone(),
            case_hash: started.case_hash.clone(),
            label: started.label.clone(),
            time: 0,
        };
        // A test runs once in a process. Several processes that made the same attempt at it count as one.
        if started.of_program {
            let times = self.times.entry((identity.clone(), started.attempt)).or_default();
            identity.time = *times;
            *times += 1;
        }
        identity
    }
}
