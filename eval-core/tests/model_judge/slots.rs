//! Slots that several processes share.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use eval_core::judge::Slots;

use crate::process::{SHARED, folder, start};

const COUNT: usize = 2;

#[tokio::test]
async fn processes_together_take_no_more_than_all_slots() {
    if let Some(shared) = std::env::var_os(SHARED) {
        return take_and_count(Path::new(&shared)).await;
    }
    let shared = folder("count");
    let again = || start("slots::processes_together_take_no_more_than_all_slots", &shared).spawn().unwrap();
    let children: Vec<Child> = (0..4).map(|_| again()).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let seen = std::fs::read_to_string(shared.join("seen")).unwrap();
    let seen: Vec<usize> = seen.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(seen.len(), 4 * 10, "every process had its turns");
    assert!(seen.iter().all(|seen| (1..=COUNT).contains(seen)), "{seen:?}");
    std::fs::remove_dir_all(shared).unwrap();
}

/// Takes a slot ten times, and notes each time how many processes hold one.
async fn take_and_count(shared: &Path) {
    let slots = Slots::in_folder(shared.join("slots"), COUNT);
    let holding = shared.join("holding");
    std::fs::create_dir_all(&holding).unwrap();
    let mine = holding.join(std::process::id().to_string());
    for _ in 0..10 {
        let slot = slots.take().await;
        std::fs::write(&mine, "").unwrap();
        tokio::time::sleep(Duration::from_millis(3)).await;
        let seen = std::fs::read_dir(&holding).unwrap().count();
        std::fs::remove_file(&mine).unwrap();
        drop(slot);
        let mut file =
            std::fs::OpenOptions::new().create(true).append(true).open(shared.join("seen")).unwrap();
        file.write_all(format!("{seen}\n").as_bytes()).unwrap();
    }
}

#[tokio::test]
async fn a_process_that_is_killed_frees_its_slots() {
    if let Some(shared) = std::env::var_os(SHARED) {
        let slots = Slots::in_folder(shared, COUNT);
        let _slots = [slots.take().await, slots.take().await];
        writeln!(std::io::stdout(), "taken").unwrap();
        return std::future::pending().await;
    }
    let shared = folder("killed");
    let mut child = start("slots::a_process_that_is_killed_frees_its_slots", &shared).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.ends_with("taken")), "the process took its slots");
    let slots = Slots::in_folder(&shared, COUNT);
    let waiting = tokio::time::timeout(Duration::from_millis(300), slots.take());
    assert!(waiting.await.is_err(), "both are taken while the process lives");
    child.kill().unwrap();
    child.wait().unwrap();
    let taken = [slots.take().await, slots.take().await];
    drop(taken);
    std::fs::remove_dir_all(shared).unwrap();
}
