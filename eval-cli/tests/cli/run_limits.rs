//! `run` with the limits of servers and programs, and what they wrote when they were over.

use std::net::TcpListener;
#[cfg(unix)]
use std::process::Stdio;

#[cfg(unix)]
use crate::folder::Ran;
use crate::run::folder;
#[cfg(unix)]
use crate::run::run;

#[test]
fn what_a_server_wrote_stands_on_lines_of_its_own_in_a_refusal() {
    let folder = folder("run-refused");
    folder.write("torn.py", "import sys\nsys.exit('Traceback\\nModuleNotFoundError: No module named x')\n");
    let ran = folder.run(&["run", "fine", "--adk-cmd", "python3 torn.py", "--app", "weather"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    let wrote = "; it wrote:\n  | Traceback\n  | ModuleNotFoundError: No module named x\n  = help: ";
    assert!(ran.err.contains(wrote) && !ran.err.contains("\\n"), "{}", ran.err);
}

#[test]
fn the_limits_of_servers_and_programs_are_options_and_errors_name_them() {
    let folder = folder("run-limits");
    folder.write("mute.py", "import time\ntime.sleep(60)\n");
    let limit = ["--ready-within", "300ms"];
    let server = [&["run", "fine", "--adk-cmd", "python3 mute.py", "--app", "weather"], &limit[..]].concat();
    let ran = folder.run(&server);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(
        ran.err.contains("within 300ms (`ready_within`, or `--ready-within`, sets the limit)"),
        "{}",
        ran.err
    );
    let ran = folder.run(&[&["run", "fine", "--agent-cmd", "python3 mute.py"], &limit[..]].concat());
    assert!(
        ran.out.contains("within 300ms (`ready_within`, or `--ready-within`, sets the limit)"),
        "{}",
        ran.out
    );
    let again = "--agent-cmd 'python3 mute.py' --ready-within 300ms";
    assert!(ran.out.contains(again), "{}", ran.out);

    // It answers, and does not end.
    let slow = folder.read("weather.py") + "\nimport time\ntime.sleep(60)\n";
    folder.write("slow.py", slow);
    let program = ["run", "fine", "--agent-cmd", "python3 slow.py"];
    let ran = folder.run(&[&program[..], &["--end-within", "200ms"]].concat());
    assert!(ran.out.contains("within 200ms") && ran.out.contains("`--end-within`"), "{}", ran.out);
    let shared = ["--program-concurrency", "2"];
    let ran = folder.run(&[&program[..], &shared, &["--end-within", "200ms"]].concat());
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let said =
        "after the last conversation: the program did not end within 200ms (`end_within`, or `--end-within`";
    assert!(
        ran.err.contains(said)
            && ran.out.contains("PASSED  the one case passed (exit code 2, by the error below)"),
        "{}{}",
        ran.out,
        ran.err
    );

    let fails = folder.read("weather.py") + "\nimport sys\nsys.exit('no more')\n";
    folder.write("fails.py", fails);
    let ran = folder.run(&[&["run", "fine", "--agent-cmd", "python3 fails.py"][..], &shared].concat());
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("ended with exit status: 1") && ran.err.contains("| no more"), "{}", ran.err);
    let ran = folder.run(&[&["run", "fine", "--agent-cmd", "python3 weather.py"][..], &shared].concat());
    assert!(ran.code == Some(0) && !ran.err.contains("last conversation"), "{}{}", ran.out, ran.err);

    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its address").port();
    let url = format!("http://127.0.0.1:{port}");
    let nobody = ["run", "fine", "--agent-url", &url, "--app", "x", "--retry", "1"];
    let began = std::time::Instant::now();
    let ran = folder.run(&[&nobody[..], &["--ready-within", "1s"]].concat());
    assert!(ran.err.contains("no connection to"), "{}", ran.err);
    assert!(began.elapsed() >= std::time::Duration::from_secs(1), "a server may come");
}

/// Runs that end meanwhile remove old ones, and this one is the oldest.
#[cfg(unix)]
#[test]
fn a_long_run_keeps_its_record_until_it_is_reported() {
    let folder = folder("run-kept");
    let slow = "sh -c 'touch began; while test ! -e done; do sleep 0.02; done; exec python3 weather.py'";
    let mut long = folder.command(&["run", "fine", "--agent-cmd", slow]);
    let long =
        long.env("EVALSET_KEEP", "1").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    while !folder.path("began").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(run(&folder, &["fine"]).code, Some(0));
    folder.write("done", "");
    let ran = Ran::from(long.wait_with_output().expect("it ends"));
    assert!(ran.code == Some(0) && ran.out.contains("whole record"), "{}{}", ran.out, ran.err);
}
