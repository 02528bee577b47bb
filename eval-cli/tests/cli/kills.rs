//! `kill -9` of the agent, the server or `run` itself at moments that are drawn: nothing is left over, no case that had ended is
//! lost, and nothing that was not answered passes.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::folder::{Folder, Ran};
use crate::run::{agents, case, set};

const CITIES: [&str; 8] = ["Paris", "Oslo", "Lima", "Rome", "Bern", "Quito", "Cairo", "Delhi"];

/// The process that is killed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Victim {
    RunOfPrograms,
    Program,
    RunOfServer,
    Server,
}

const VICTIMS: [Victim; 4] = [Victim::RunOfPrograms, Victim::Program, Victim::RunOfServer, Victim::Server];

/// The notes of agents about themselves.
struct Notes {
    /// The agents and the groups that they are in, whose leaders watch over them.
    pids: Vec<String>,
    agents: Vec<String>,
    answered: BTreeSet<String>,
}

fn notes(folder: &Folder) -> Notes {
    let mut notes = Notes { pids: Vec::new(), agents: Vec::new(), answered: BTreeSet::new() };
    for line in fs::read_to_string(folder.path("notes")).unwrap_or_default().lines() {
        match *line.split(' ').collect::<Vec<_>>() {
            ["process", pid, group] => {
                notes.agents.push(pid.to_owned());
                notes.pids.extend([pid.to_owned(), group.to_owned()]);
            }
            ["answered", city] => drop(notes.answered.insert(city.to_owned())),
            _ => {}
        }
    }
    notes
}

/// Whether a process runs. A zombie does not.
fn runs(pid: &str) -> bool {
    let found = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().expect("`ps` is there");
    let stat = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    !stat.is_empty() && !stat.starts_with('Z')
}

fn kill(pid: &str) -> bool {
    let sent = Command::new("kill").args(["-KILL", pid]).stderr(Stdio::null()).status();
    sent.expect("`kill` is there").success()
}

/// The cases that a report in JSON calls passed.
fn passed(ran: &Ran) -> BTreeSet<String> {
    let json: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let cases = json["cases"].as_array().map(Vec::as_slice).unwrap_or_default();
    let passed = cases.iter().filter(|case| case["state"] == "passed");
    passed.filter_map(|case| case["eval_id"].as_str().map(str::to_owned)).collect()
}

/// The outcome of a kill.
#[derive(Debug, Default)]
struct Campaign {
    /// Kills that met something that ran.
    met: usize,
    /// Cases that had ended before.
    kept: usize,
    processes: usize,
}

fn kill_one(number: u64, campaign: &Mutex<Campaign>) {
    let victim = VICTIMS[usize::try_from(number).unwrap_or_default() % VICTIMS.len()];
    let of_server = matches!(victim, Victim::RunOfServer | Victim::Server);
    let folder = Folder::new(&format!("kill-{number}"));
    folder.write("slow.py", fs::read(agents().join("slow.py")).expect("the program"));
    let cases = CITIES.map(|city| case(city, city, &format!("It is sunny in {city}.")));
    folder.write("slow.evalset.json", set("slow", &cases));
    let mut command = folder.command(&["run", "slow", "--concurrency", "3", "--format", "json"]);
    if of_server {
        command.args(["--adk-cmd", "python3 slow.py", "--app", "weather"]);
    } else {
        command.args(["--agent-cmd", "python3 slow.py"]);
    }
    command.env("NOTES", folder.path("notes"));
    let streams = ["out", "err"].map(|name| fs::File::create(folder.path(name)).expect("a file"));
    let [out, err] = streams;
    let mut run = command.stdout(out).stderr(err).spawn().expect("the program runs");

    // From the first moment on to shortly before the end, and another one for each number.
    thread::sleep(Duration::from_millis(number * 2_654_435_761 % 809));
    let met = match victim {
        Victim::RunOfPrograms | Victim::RunOfServer => {
            let runs = run.try_wait().expect("a status").is_none();
            run.kill().expect("a signal is sent");
            runs
        }
        Victim::Program | Victim::Server => {
            let begun = Instant::now();
            let found = || notes(&folder).agents.into_iter().rfind(|pid| runs(pid));
            let mut agent = found();
            while agent.is_none()
                && begun.elapsed() < Duration::from_secs(10)
                && run.try_wait().is_ok_and(|end| end.is_none())
            {
                thread::sleep(Duration::from_millis(5));
                agent = found();
            }
            agent.is_some_and(|pid| kill(&pid))
        }
    };
    let code = run.wait().expect("it ends").code();
    let what = format!("kill {number} of {victim:?}");
    // A program that was being started notes itself in the next moments, if it ever runs.
    thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    let notes = notes(&folder);
    while let Some(pid) = notes.pids.iter().find(|pid| runs(pid)) {
        assert!(begun.elapsed() < Duration::from_secs(10), "{what}: {pid} is left over");
        thread::sleep(Duration::from_millis(20));
    }
    let all_answered = notes.answered.len() == CITIES.len();
    assert!(code != Some(0) || all_answered, "{what}: green, with {:?} answered", notes.answered);
    let report = folder.run(&["report", "--format", "json"]);
    assert!(
        report.code != Some(0) || all_answered,
        "{what}: the report is green, with {:?} answered",
        notes.answered
    );
    let told = folder.read("err");
    let ended: BTreeSet<String> = told
        .lines()
        .filter(|line| line.trim_start().starts_with("PASS "))
        .filter_map(|line| Some(line.split_once("slow/")?.1.split_once(' ')?.0.to_owned()))
        .collect();
    let mut campaign = campaign.lock().expect("no other kill failed");
    campaign.met += usize::from(met);
    campaign.processes += notes.agents.len();
    campaign.kept += ended.len();
    drop(campaign);
    if !ended.is_empty() {
        let kept = passed(&report);
        assert!(ended.is_subset(&kept), "{what}: {ended:?} had ended, and the report has {kept:?}\n{told}");
        assert!(
            kept.is_subset(&notes.answered),
            "{what}: {kept:?} passed, and {:?} were answered",
            notes.answered
        );
    }
}

/// `KILLS` says how often, 4 times otherwise.
#[test]
fn kills_at_any_moment_lose_no_finished_case_and_never_end_green() {
    let kills: u64 = std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(4);
    // Each waits for most of its time.
    let numbers: Vec<u64> = (0..kills).collect();
    let campaign = Mutex::new(Campaign::default());
    for some in numbers.chunks(4) {
        thread::scope(|scope| {
            for number in some {
                scope.spawn(|| kill_one(*number, &campaign));
            }
        });
    }
    let campaign = campaign.into_inner().expect("no kill failed");
    assert!(
        campaign.met * 2 >= usize::try_from(kills).unwrap_or_default(),
        "most kills met nothing: {campaign:?}"
    );
    eprintln!("{kills} kills: {campaign:?}");
}
