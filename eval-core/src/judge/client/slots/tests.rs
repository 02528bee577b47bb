use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use super::*;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("evalset-slots-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

#[test]
fn there_are_as_many_slots_as_said_and_dropping_frees_them() {
    let shared = folder("count");
    for slots in [Slots::new(None, 2), Slots::new(Some(shared.clone()), 2)] {
        let other = slots.clone();
        let first = slots.try_take().unwrap();
        let second = other.try_take().unwrap();
        assert!(slots.try_take().is_none() && other.try_take().is_none());
        drop(first);
        let third = other.try_take().unwrap();
        assert!(slots.try_take().is_none());
        drop((second, third));
        assert!(slots.try_take().is_some());
    }
    std::fs::remove_dir_all(shared).unwrap();
}

#[test]
fn no_slots_at_all_are_one() {
    assert!(Slots::new(None, 0).try_take().is_some());
}

#[test]
fn where_no_folder_can_be_made_slots_are_counted_in_the_process() {
    let file = folder("file");
    std::fs::write(&file, "").unwrap();
    let slots = Slots::new(Some(file.join("inside")), 1);
    let slot = slots.try_take().unwrap();
    assert!(slots.clone().try_take().is_none());
    drop(slot);
    assert!(slots.try_take().is_some());
    std::fs::remove_file(file).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_slot_is_waited_for_without_blocking_the_thread() {
    let slots = Slots::new(None, 1);
    let first = slots.take().await;
    let waiting = tokio::spawn({
        let slots = slots.clone();
        async move { slots.take().await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!waiting.is_finished());
    drop(first);
    drop(waiting.await.unwrap());
    assert!(slots.try_take().is_some());
}

/// The variable that names the folder that the processes of a test share. It is set in the processes that a test starts.
const SHARED: &str = "JUDGE_SLOTS_TEST_SHARED";

/// A test of this program in a process of its own.
fn start(test: &str, shared: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(SHARED, shared);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

const COUNT: usize = 2;

#[tokio::test]
async fn processes_together_take_no_more_than_all_slots() {
    if let Some(shared) = std::env::var_os(SHARED) {
        return take_and_count(Path::new(&shared)).await;
    }
    let shared = folder("processes");
    std::fs::create_dir_all(&shared).unwrap();
    let again = || {
        start("judge::client::slots::tests::processes_together_take_no_more_than_all_slots", &shared)
            .spawn()
            .unwrap()
    };
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
    let slots = Slots::new(Some(shared.join("slots")), COUNT);
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
        let slots = Slots::new(Some(shared.into()), COUNT);
        let _slots = [slots.take().await, slots.take().await];
        writeln!(io::stdout(), "taken").unwrap();
        return std::future::pending().await;
    }
    let shared = folder("killed");
    std::fs::create_dir_all(&shared).unwrap();
    let mut child = start("judge::client::slots::tests::a_process_that_is_killed_frees_its_slots", &shared)
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.ends_with("taken")), "the process took its slots");
    let slots = Slots::new(Some(shared.clone()), COUNT);
    let waiting = tokio::time::timeout(Duration::from_millis(300), slots.take());
    assert!(waiting.await.is_err(), "both are taken while the process lives");
    child.kill().unwrap();
    child.wait().unwrap();
    let taken = [slots.take().await, slots.take().await];
    drop(taken);
    std::fs::remove_dir_all(shared).unwrap();
}
