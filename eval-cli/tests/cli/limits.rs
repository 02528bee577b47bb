//! Files that are no files, too large, or have other line ends; and output in few columns.

use crate::folder::{Folder, Ran, set};
use crate::journal::{Journal, passed};

#[cfg(unix)]
#[test]
fn what_has_no_end_is_refused() {
    let folder = Folder::new("limits-endless");
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe.evalset.json")).status();
    assert!(made.is_ok_and(|status| status.success()));
    for args in [
        &["check", "/dev/zero"][..],
        &["check", "pipe.evalset.json"],
        &["fmt", "/dev/zero"],
        &["fmt", "--check", "pipe.evalset.json"],
        &["migrate", "pipe.evalset.json", "new.evalset.json"],
        &["plan", "pipe.evalset.json"],
    ] {
        let Ran { out, err, code } = folder.run(args);
        assert_eq!(code, Some(2), "{args:?}: {out}{err}");
        assert!(
            (out + &err).contains("is no regular file: a device, a pipe or a socket may have no end"),
            "{args:?}"
        );
    }
}

#[test]
fn a_file_of_any_length_is_not_read() {
    let folder = Folder::new("limits-large");
    folder.write("large.evalset.json", "");
    let file =
        std::fs::File::options().write(true).open(folder.path("large.evalset.json")).expect("the file");
    file.set_len(300 << 20).expect("a file with a hole");
    let Ran { out, code, .. } = folder.run(&["check", "."]);
    assert_eq!(code, Some(2), "{out}");
    assert!(out.contains("`large.evalset.json` has more than 256 MiB\n  = help: split it"), "{out}");
}

#[test]
fn line_ends_stay_as_they_are() {
    let folder = Folder::new("limits-crlf");
    folder.write("a.evalset.json", set(""));
    assert_eq!(folder.run(&["fmt", "."]).code, Some(0));
    let formatted = folder.read("a.evalset.json");
    let with_returns = formatted.replace('\n', "\r\n");
    folder.write("a.evalset.json", &with_returns);
    let Ran { out, code, .. } = folder.run(&["fmt", "--check", "."]);
    assert_eq!(code, Some(0), "{out}");
    folder.write("a.evalset.json", with_returns.replace("  ", " "));
    assert_eq!(folder.run(&["fmt", "--check", "."]).code, Some(1), "the rest counts");
    assert_eq!(folder.run(&["fmt", "."]).code, Some(0));
    assert_eq!(folder.read("a.evalset.json"), with_returns);
    folder.write("a.evalset.json", with_returns.replacen("\r\n", "\n", 1));
    assert_eq!(folder.run(&["fmt", "."]).code, Some(0));
    assert_eq!(folder.read("a.evalset.json"), formatted, "mixed line ends are those of ADK");
}

#[test]
fn tables_fit_into_narrow_terminals() {
    let folder = Folder::new("limits-narrow");
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("weather::sunny", 1);
    journal.ran(test, 1, 1.0);
    journal.decided(test, &passed(), Some(1.0), "");
    journal.write();
    for columns in [20, 40] {
        for args in [&["report"][..], &["metrics"], &["metrics", "safety_v1"], &["plan"]] {
            let output = folder.command(args).env("COLUMNS", columns.to_string()).output().expect("it runs");
            let Ran { out, .. } = Ran::from(output);
            for line in
                out.lines().filter(|line| !line.starts_with("whole record") && !line.starts_with("run again"))
            {
                let is_one_word = line.split_whitespace().count() == 1;
                assert!(line.chars().count() <= columns || is_one_word, "{columns}: {line}\n{out}");
            }
            let words: String = out.split_whitespace().collect();
            let whole: String = folder.run(args).out.split_whitespace().collect();
            assert_eq!(words, whole, "nothing is lost");
        }
    }
}
