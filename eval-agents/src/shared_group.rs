//! A running program that async tasks share. A task that waits for the program does not block its thread.

use std::process::ExitStatus;
use std::sync::MutexGuard;
use std::time::Duration;

use eval_core::group::Group;
use eval_support::mutex::Mutex;

const POLL_PAUSE: Duration = Duration::from_millis(5);

const KILL_POLL_PAUSE: Duration = Duration::from_millis(1);

/// A running program. It is killed when this is dropped: see [`Group`].
#[derive(Debug)]
pub(crate) struct SharedGroup(Mutex<Group>);

impl SharedGroup {
    pub(crate) fn new(group: Group) -> Self {
        Self(Mutex::new(group))
    }

    pub(crate) fn id(&self) -> i32 {
        self.group().id()
    }

    pub(crate) fn ended(&self) -> Option<ExitStatus> {
        self.group().ended()
    }

    pub(crate) async fn ended_within(&self, limit: Duration) -> Option<ExitStatus> {
        let ended = async {
            loop {
                if let Some(status) = self.ended() {
                    return status;
                }
                tokio::time::sleep(POLL_PAUSE).await;
            }
        };
        tokio::time::timeout(limit, ended).await.ok()
    }

    pub(crate) async fn kill(&self) {
        self.group().begin_to_kill();
        while !self.group().is_gone() {
            tokio::time::sleep(KILL_POLL_PAUSE).await;
        }
    }

    /// Kills the program, for code that cannot await, and blocks until the kernel has ended it.
    pub(crate) fn kill_now(&self) {
        self.group().kill();
    }

    fn group(&self) -> MutexGuard<'_, Group> {
        self.0.lock()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use eval_core::group::Launch;

    #[tokio::test]
    async fn other_tasks_of_the_thread_go_on_while_the_end_of_a_program_is_awaited() {
        let mut group =
            Launch::new(Command::new("sh").args(["-c", "read -r _; exit 7"])).start(Stdio::piped()).unwrap();
        let input = group.child.stdin.take();
        let group = SharedGroup::new(group);
        // Only the other task lets the program end. If the first one kept the thread, it would wait for the whole minute.
        let (ended, ()) = tokio::join!(group.ended_within(Duration::from_mins(1)), async { drop(input) });
        assert_eq!(ended.and_then(|status| status.code()), Some(7));
    }

    #[tokio::test]
    async fn a_program_that_was_killed_is_gone() {
        let group = Launch::new(Command::new("sleep").arg("600")).start(Stdio::null()).unwrap();
        let group = SharedGroup::new(group);
        tokio::time::pause();
        assert_eq!(group.ended_within(Duration::from_secs(5)).await, None);
        tokio::time::resume();
        group.kill().await;
        assert!(group.ended().is_some_and(|status| !status.success()));
    }
}
