//! Commands that are printed, as a person pastes them into a shell.

use std::process::Command;

use serde_json::{Value, json};

use crate::folder::{AGENT, Folder, Ran, plain, program};

const SETUP: &str = "made = {}\n";
const TURN: &str = r#"
made[text] = made.get(text, 0) + 1
say(type="text", text="no")
"#;

/// A case that fails, as the program always says `no`.
fn case(id: &str) -> Value {
    let content = |role: &str, text: &str| json!({ "role": role, "parts": [{ "text": text }] });
    json!({
        "eval_id": id,
        "conversation": [{ "user_content": content("user", "Hi"), "final_response": content("model", "Hello there.") }],
    })
}

fn folder(test: &str, ids: &[&str]) -> Folder {
    let folder = Folder::new(test);
    let cases: Vec<Value> = ids.iter().map(|id| case(id)).collect();
    let set = json!({ "eval_set_id": "s", "eval_cases": cases });
    folder.write("agent.py", program(SETUP, TURN)).write("s.evalset.json", set.to_string());
    folder
}

/// Runs a line in bash, in which `cargo` is this program.
fn pasted(folder: &Folder, line: &str) -> Ran {
    let script = format!("cargo() {{ \"$PROGRAM\" \"$@\"; }}\n{line}");
    let mut bash: Command = plain("bash".as_ref());
    bash.args(["-c", &script]).env("PROGRAM", env!("CARGO_BIN_EXE_cargo-evalset"));
    bash.current_dir(folder.path("")).output().expect("bash runs").into()
}

fn printed<'o>(out: &'o str, begin: &str) -> Vec<&'o str> {
    out.lines().filter_map(|line| line.strip_prefix(begin)).map(str::trim).collect()
}

#[test]
fn a_command_selects_a_case_whose_id_steers_a_terminal() {
    let ids = ["\u{202e}RTL", "con\u{1b}[31mred", "two\nlines", "it's"];
    let folder = folder("pasted-ids", &ids);
    let ran = folder.run(&["run", "s.evalset.json", "--agent-cmd", AGENT]);
    assert_eq!(ran.code, Some(1), "{}", ran.shown());
    let shown = folder.run(&["report"]).out;
    for (begin, out) in [("run again ", &ran.out), ("run all again ", &ran.out), ("run again ", &shown)] {
        let lines = printed(out, begin);
        assert!(!lines.is_empty(), "{begin}: {out}");
        for line in lines {
            let again = pasted(&folder, line);
            assert_eq!(again.code, Some(1), "{line}: {}", again.shown());
        }
    }
    for line in printed(&ran.out, "new golden ") {
        let draft = pasted(&folder, &format!("{line} --dry-run"));
        assert_eq!(draft.code, Some(0), "{line}: {}", draft.shown());
    }
    assert_eq!(printed(&ran.out, "new golden ").len(), ids.len(), "{}", ran.out);
}

#[test]
fn a_case_of_several_variants_is_named_once() {
    let folder = folder("pasted-variants", &["c0", "c1"]);
    let matrix = ["--matrix", "model=a,b,c"];
    let ran = folder.run(&[&["run", "s.evalset.json", "--agent-cmd", AGENT], &matrix[..]].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.shown());
    let all = printed(&ran.out, "run all again ");
    assert!(all.len() == 1 && all[0].contains("s.evalset.json:c0,c1 --agent-cmd"), "{all:?}");
}
