//! The last step of the release workflow, with a `gh` that writes down what it is asked.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

const WORKFLOW: &str = include_str!("../../.github/workflows/release.yml");

#[test]
fn files_of_a_published_release_are_not_replaced() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("release");
    fs::create_dir_all(&folder).expect("a folder");
    let (_, script) =
        WORKFLOW.split_once("TAG: ${{ github.ref_name }}\n        run: |\n          gh").expect("the step");
    let gh = folder.join("gh");
    let fake = "#!/bin/sh\necho \"$@\" >> calls\ncase \"$*\" in *isDraft*) echo \"$IS_DRAFT\";; esac\n";
    fs::write(&gh, fake).expect("a program");
    fs::set_permissions(&gh, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path =
        std::env::join_paths([folder.as_path(), Path::new("/bin"), Path::new("/usr/bin")]).expect("a path");
    for is_draft in ["true", "false"] {
        let mut command = Command::new("bash");
        command.args(["-e", "-c", &format!("gh{script}")]).current_dir(&folder);
        let ran =
            command.env("PATH", &path).env("TAG", "v1").env("IS_DRAFT", is_draft).output().expect("it runs");
        let calls = fs::read_to_string(folder.join("calls")).expect("it was called");
        fs::remove_file(folder.join("calls")).expect("it was called");
        let uploads = calls.contains("release upload v1 --clobber");
        assert_eq!((ran.status.success(), uploads), (is_draft == "true", is_draft == "true"), "{calls}");
    }
}
