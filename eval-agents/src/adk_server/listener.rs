//! The process that listens on a port. A port that is free when a server starts may belong to another program
//! a moment later, and an answer of that program is no answer of the agent.

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Listener {
    /// A process of the group, or a descendant of one.
    Ours,
    /// Any other process: its id and its program.
    Foreign { pid: i32, program: String },
    /// The system does not tell: the process belongs to another user, or the system is not Linux.
    Unknown,
}

/// The owner of `port` on `localhost`. `group` is the process group of the server.
#[cfg(target_os = "linux")]
pub(super) fn listener(port: u16, group: i32) -> Listener {
    use std::collections::{BTreeMap, BTreeSet};

    use procfs::net::{TcpState, tcp, tcp6};
    use procfs::process::{FDTarget, Process, all_processes};

    let sockets: BTreeSet<u64> = [tcp(), tcp6()]
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.state == TcpState::Listen && entry.local_address.port() == port)
        .filter(|entry| entry.local_address.ip().is_loopback() || entry.local_address.ip().is_unspecified())
        .map(|entry| entry.inode)
        .collect();
    let owns = |process: &Process| {
        process.fd().is_ok_and(|mut files| {
            files.any(|file| {
                file.is_ok_and(
                    |file| matches!(file.target, FDTarget::Socket(inode) if sockets.contains(&inode)),
                )
            })
        })
    };
    let processes: BTreeMap<i32, (Process, procfs::process::Stat)> = all_processes()
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|process| process.stat().ok().map(|stat| (stat.pid, (process, stat))))
        .collect();
    let is_ours = |mut pid: i32| {
        // The loop is bounded: if ids of ended processes were used again, the parents may form a cycle.
        for _ in 0..processes.len() {
            match processes.get(&pid) {
                Some((_, stat)) if stat.pgrp == group => return true,
                Some((_, stat)) => pid = stat.ppid,
                None => return false,
            }
        }
        false
    };
    let mut found = Listener::Unknown;
    for (pid, (process, stat)) in &processes {
        match owns(process) {
            true if !is_ours(*pid) => return Listener::Foreign { pid: *pid, program: stat.comm.clone() },
            true => found = Listener::Ours,
            false => {}
        }
    }
    found
}

#[cfg(not(target_os = "linux"))]
pub(super) fn listener(_port: u16, _group: i32) -> Listener {
    Listener::Unknown
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_listener_belongs_to_the_group_it_runs_in() {
        let socket = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = socket.local_addr().unwrap().port();
        let own = procfs::process::Process::myself().unwrap().stat().unwrap();
        assert_eq!(listener(port, own.pgrp), Listener::Ours);
        assert_eq!(
            listener(port, i32::MAX),
            Listener::Foreign { pid: own.pid, program: own.comm },
            "no ancestor is in that group"
        );
        drop(socket);
        assert_eq!(listener(port, own.pgrp), Listener::Unknown);
    }
}
