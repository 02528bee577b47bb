//! Writes to the folder of a set, and the files that they leave alone.

use std::fs;

use eval_format::{Map, Value};

use super::*;
use crate::recording::{Answer, Body, Exchange};
use crate::wire::{Parts, Wire};

fn recording(eval_id: &str, system: &str, said: &str) -> CaseRecording {
    let parts = Parts {
        options: Map::new(),
        system: Some(Value::from(system)),
        tools: None,
        messages: vec![Value::from("hi")],
    };
    let mut exchange = Exchange::new(1, Wire::OpenAiChat, "m", parts);
    exchange.answers.push(Answer {
        run: 1,
        status: 200,
        headers: Vec::new(),
        body: Body::Json(Value::from(said)),
    });
    let mut recording = CaseRecording::new(eval_id);
    recording.add(exchange);
    recording
}

fn folder() -> (tempfile::TempDir, ModelsFolder) {
    let parent = tempfile::tempdir().unwrap();
    let folder = ModelsFolder::new(parent.path().join("x.evalset.models"), "x.evalset.models");
    (parent, folder)
}

fn contents(folder: &ModelsFolder) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| {
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap())
        })
        .collect()
}

#[cfg(unix)]
#[test]
fn what_is_no_folder_is_not_taken_for_a_set_without_recordings() {
    use crate::mode::{ModelMode, Settings};
    use crate::set::ModelSet;

    let (_parent, folder) = folder();
    let on_disk = |mode| ModelSet::on_disk(Settings { mode, ..Settings::default() }, folder.clone());
    assert!(on_disk(None).unwrap().is_none());
    let expected = "`x.evalset.models` is to be the folder of recorded calls of models, and is a file, or a link that leads nowhere";
    let is_refused = |what: &str| {
        for mode in [None, Some(ModelMode::Replay), Some(ModelMode::Record)] {
            let error = on_disk(mode).unwrap_err();
            assert!(error.starts_with(expected), "{what}: {error}");
        }
        assert!(on_disk(Some(ModelMode::Live)).unwrap().is_none(), "{what}");
        fs::remove_file(folder.path()).unwrap();
    };
    fs::write(folder.path(), "").unwrap();
    is_refused("a file");
    std::os::unix::fs::symlink("nowhere", folder.path()).unwrap();
    is_refused("a link");
}

#[test]
fn recording_one_case_again_changes_one_file_and_the_same_changes_none() {
    let (_parent, folder) = folder();
    for case in ["a", "b"] {
        folder.write(&recording(case, "prompt", "yes")).unwrap();
    }
    let before = contents(&folder);
    assert_eq!(before.keys().collect::<Vec<_>>(), ["a.json", "b.json", "shared.json"]);
    folder.write(&recording("a", "prompt", "yes")).unwrap();
    assert_eq!(contents(&folder), before);
    folder.write(&recording("a", "prompt", "no")).unwrap();
    let after = contents(&folder);
    let changed: Vec<&String> =
        after.iter().filter(|(name, text)| before[*name] != **text).map(|(name, _)| name).collect();
    assert_eq!(changed, ["a.json"]);
}

#[test]
fn a_prompt_is_there_once_and_goes_with_the_last_case_that_names_it() {
    let (_parent, folder) = folder();
    for case in ["a", "b"] {
        folder.write(&recording(case, "old", "yes")).unwrap();
    }
    assert_eq!(folder.shared().unwrap().names().count(), 1);
    folder.write(&recording("a", "new", "yes")).unwrap();
    assert_eq!(folder.shared().unwrap().names().count(), 2, "case `b` still has the old one");
    folder.write(&recording("b", "new", "yes")).unwrap();
    assert_eq!(folder.shared().unwrap().names().count(), 1);
    assert!(contents(&folder)["shared.json"].contains("\"new\""));
}

#[test]
fn pruning_removes_what_no_case_of_the_set_has() {
    let (_parent, folder) = folder();
    folder.write(&recording("a", "one", "yes")).unwrap();
    folder.write(&recording("gone", "two", "yes")).unwrap();
    let removed = folder.prune(&["a"]).unwrap();
    assert_eq!(removed.len(), 2, "{removed:?}");
    assert_eq!(contents(&folder).keys().collect::<Vec<_>>(), ["a.json", "shared.json"]);
    assert_eq!(folder.case("a").unwrap(), Some(recording("a", "one", "yes")));
    assert_eq!(folder.prune(&["a"]).unwrap(), Vec::<String>::new());
    folder.prune(&[]).unwrap();
    assert!(!folder.exists());
}

#[test]
fn a_recording_that_is_too_large_or_holds_a_secret_is_not_written() {
    let (_parent, folder) = folder();
    let error = folder.write(&recording("a", "prompt", &"x".repeat(MAX_RECORDING_BYTES))).unwrap_err();
    assert!(error.contains("and the limit is 5242880"), "{error}");
    assert!(!folder.exists());
    let secret = || [("MY_API_KEY".to_owned(), "correct horse/battery".to_owned())].into_iter();
    let refuse = |prompt: &str, said: &str| secrets::refuse(&recording("a", prompt, said), secret());
    for text in [
        "it is correct horse/battery",
        "Y29ycmVjdCBob3JzZS9iYXR0ZXJ5",
        "correct%20horse%2Fbattery",
        "correct%20horse%2fbattery",
        "correct%20horse/battery",
        // `u:` and `me:` before it, and `!` behind it.
        "dTpjb3JyZWN0IGhvcnNlL2JhdHRlcnkh",
        "bWU6Y29ycmVjdCBob3JzZS9iYXR0ZXJ5IQ",
    ] {
        let error = refuse("prompt", text).unwrap_err();
        assert!(error.contains("hold the value of `MY_API_KEY`") && !error.contains("horse"), "{error}");
        assert!(refuse(text, "yes").is_err());
    }
    assert_eq!(refuse("prompt", "correct horses"), Ok(()));
}

#[test]
fn secrets_are_found_in_texts_of_several_lines_and_in_json_within_json() {
    let value = "first \"line\"\nand/the second";
    let secret = || [("MY_API_KEY".to_owned(), value.to_owned())].into_iter();
    let within = Value::from(value).to_string();
    let twice = Value::from(format!("{{\"key\":{within}}}")).to_string();
    for said in [format!("it is {value}"), within, twice] {
        for recording in [recording("a", "prompt", &said), recording("a", &said, "yes")] {
            let error = secrets::refuse(&recording, secret()).unwrap_err();
            assert!(error.contains("hold the value of `MY_API_KEY`"), "{error}");
        }
    }
    assert_eq!(secrets::refuse(&recording("a", "prompt", "yes"), secret()), Ok(()));
}

#[test]
fn a_write_that_breaks_off_leaves_the_old_recording_readable() {
    let (_parent, folder) = folder();
    let old = recording("a", "old", "yes");
    folder.write(&old).unwrap();
    let path = folder.path().join("a.json");
    let set_read_only = |is: bool| {
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(is);
        fs::set_permissions(&path, permissions).unwrap();
    };
    set_read_only(true);
    folder.write(&recording("a", "new", "yes")).unwrap_err();
    assert_eq!(folder.case("a"), Ok(Some(old)));
    set_read_only(false);
    folder.write(&recording("a", "new", "yes")).unwrap();
    assert_eq!(folder.shared().unwrap().names().count(), 1);
}

#[test]
fn a_reader_beside_a_writer_finds_what_a_case_shares() {
    let (_parent, folder) = folder();
    folder.write(&recording("a", "prompt 0", "yes")).unwrap();
    let writes = folder.clone();
    let writer = std::thread::spawn(move || {
        for number in 1..100 {
            writes.write(&recording("a", &format!("prompt {number}"), "yes")).unwrap();
        }
    });
    let mut reads = 0;
    while !writer.is_finished() {
        let read = folder.load("a").unwrap();
        assert!(read.exists && folder.read("a.json").is_ok());
        reads += 1;
    }
    writer.join().unwrap();
    assert!(reads > 0);
}

#[test]
fn a_case_that_is_refused_takes_no_folder_from_under_another_one() {
    let refused = recording("refused", "prompt", &"x".repeat(MAX_RECORDING_BYTES));
    for _ in 0..50 {
        let (_parent, folder) = folder();
        std::thread::scope(|threads| {
            threads.spawn(|| folder.write(&refused).unwrap_err());
            threads.spawn(|| folder.write(&recording("kept", "prompt", "yes")).unwrap());
        });
        assert_eq!(contents(&folder).keys().collect::<Vec<_>>(), ["kept.json", "shared.json"]);
    }
}

/// The folder of the child of the test below.
const WRITES: &str = "EVAL_GATEWAY_TEST_WRITES";

#[test]
#[ignore = "it writes until it is killed"]
fn writes_without_an_end() {
    let parent = PathBuf::from(std::env::var_os(WRITES).expect("the test below sets it"));
    let large = "x".repeat(1 << 20);
    for number in 0.. {
        // The first recording of a folder, then another one.
        let folder = ModelsFolder::new(parent.join(number.to_string()), "models");
        for prompt in ["old", "new"] {
            folder.write(&recording("a", prompt, &format!("{prompt} {large}"))).unwrap();
        }
    }
}

#[cfg(unix)]
#[test]
fn a_writer_that_is_killed_leaves_a_whole_file_or_none() {
    use std::process::{Command, Stdio};

    let parent = tempfile::tempdir().unwrap();
    let (mut killed_within, mut looked_at) = (0, 0);
    for round in 0..12_u64 {
        let folder = parent.path().join(format!("round {round}"));
        fs::create_dir_all(&folder).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "store::tests::writes_without_an_end", "--ignored"]).env(WRITES, &folder);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while fs::read_dir(&folder).unwrap().count() < 2 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        std::thread::sleep(std::time::Duration::from_millis(11 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        for entry in fs::read_dir(&folder).unwrap() {
            let left = ModelsFolder::new(entry.unwrap().path(), "models");
            let Some(case) = left.case("a").unwrap() else {
                killed_within += 1;
                continue;
            };
            let prompt = case.exchanges[0].parts.system.clone().unwrap();
            let Body::Json(said) = &case.exchanges[0].answers[0].body else { panic!("it is JSON") };
            let (prompt, said) = (prompt.as_str().unwrap(), said.as_str().unwrap());
            assert!(said.starts_with(prompt) && said.len() == prompt.len() + 1 + (1 << 20), "{prompt}");
            assert_eq!(case.answers(), 1);
            looked_at += 1;
        }
    }
    assert!(looked_at >= 12, "{looked_at} recordings were whole, and {killed_within} were not written");
}

#[test]
fn the_recording_of_a_case_goes_with_its_id() {
    let (_parent, folder) = folder();
    for case in ["a", "b"] {
        folder.write(&recording(case, "prompt", "yes")).unwrap();
    }
    let before = contents(&folder);
    assert_eq!(folder.rename("nobody", "c"), Ok(false));
    assert!(folder.is_in_the_way("a", "b") && !folder.is_in_the_way("nobody", "b"));
    assert!(folder.rename("a", "b").unwrap_err().contains("`x.evalset.models/b.json`: it is there already"));
    assert_eq!(contents(&folder), before);
    assert_eq!(folder.rename("a", "c"), Ok(true));
    let after = contents(&folder);
    assert_eq!(after.keys().collect::<Vec<_>>(), ["b.json", "c.json", "shared.json"]);
    assert_eq!(after["c.json"], before["a.json"].replace("\"eval_id\": \"a\"", "\"eval_id\": \"c\""));
    assert_eq!(folder.case("c").unwrap().unwrap().eval_id, "c");
    assert_eq!(folder.prune(&["b", "c"]), Ok(Vec::new()), "the prompt that it shares is kept");
}
