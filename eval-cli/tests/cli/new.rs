use std::fs;
use std::process::Command;

use crate::folder::{Folder, Ran};

/// A folder with a clone, which has as much of eval-core as `new` looks at.
fn with_clone(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder.write("evalset/eval-core/Cargo.toml", "[package]\nname = \"eval-core\"\nversion = \"0.1.0\"\n");
    folder
}

const MANIFEST: &str = "# Ours.\n[package]\nname = \"agent\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n# None yet.\n";

/// A new set with a package.
fn with_package(test: &str) -> Folder {
    let folder = with_clone(test);
    folder.write("agent/Cargo.toml", MANIFEST).write("agent/src/deep/er.rs", "");
    folder
}

fn run_in(folder: &Folder, below: &str, args: &[&str]) -> Ran {
    let path = folder.path(below);
    let mut command: Command = folder.command(args);
    command.current_dir(path).output().expect("the program runs").into()
}

fn names(folder: &Folder, below: &str) -> Vec<String> {
    let entries = fs::read_dir(folder.path(below)).expect("the folder is there");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_package_gets_a_set_its_tests_and_the_line_that_they_need() {
    let folder = with_package("new-package");
    let ran = run_in(&folder, "agent", &["new", "--path", "../evalset"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    insta::assert_snapshot!(ran.shown());
    assert_eq!(
        folder.read("agent/Cargo.toml"),
        format!("{MANIFEST}\n[dev-dependencies]\neval-core = {{ path = \"../evalset/eval-core\" }}\n")
    );
    assert_eq!(names(&folder, "agent"), ["Cargo.toml", "evals", "src", "tests"]);
    assert!(folder.read("agent/tests/weather.rs").contains("#[eval_set(\"evals/weather.evalset.json\")]"));
    let checked = run_in(&folder, "agent", &["check", "evals", "--deny-warnings"]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.out, checked.err);
}

#[test]
fn a_second_set_stands_beside_the_first_and_needs_no_second_line() {
    let folder = with_package("new-second");
    assert_eq!(run_in(&folder, "agent", &["new", "--path", "../evalset"]).code, Some(0));
    let manifest = folder.read("agent/Cargo.toml");
    let ran = run_in(
        &folder,
        "agent/src/deep",
        &["new", "room-booking", "--agent", "struct", "--path", "../../../evalset"],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("left `eval-core` in `Cargo.toml` as it was"), "{}", ran.out);
    // The commands are for the folder of the package.
    assert!(ran.out.contains("  cd /"), "{}", ran.out);
    assert_eq!(folder.read("agent/Cargo.toml"), manifest);
    let tests = folder.read("agent/tests/room-booking.rs");
    assert!(
        tests.contains("#[eval_set(\"evals/room-booking.evalset.json\")]\nfn room_booking_cases()"),
        "{tests}"
    );
    assert!(
        folder.read("agent/evals/room-booking.evalset.json").contains("\"eval_set_id\": \"room-booking\"")
    );
    assert!(folder.path("agent/evals/weather.evalset.json").is_file());
}

#[test]
fn each_agent_brings_its_dependencies() {
    for (agent, dependencies) in [
        ("closure", &["eval-core"][..]),
        ("struct", &["eval-core"]),
        ("rig", &["eval-core", "rig-core", "serde_json"]),
        ("async-openai", &["async-openai", "eval-core", "serde_json"]),
    ] {
        let folder = with_package(&format!("new-{agent}"));
        let ran = run_in(&folder, "agent", &["new", "--agent", agent, "--path", "../evalset"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let manifest = folder.read("agent/Cargo.toml");
        let (_, lines) = manifest.split_once("[dev-dependencies]\n").expect("there are dependencies");
        let mut named: Vec<_> = lines.lines().filter_map(|line| Some(line.split_once(" = ")?.0)).collect();
        named.sort_unstable();
        assert_eq!(named, dependencies, "{manifest}");
        assert!(ran.out.contains(lines.lines().last().expect("a line")), "{}", ran.out);
    }
}

#[test]
fn a_folder_without_a_package_gets_one() {
    let folder = with_clone("new-empty");
    fs::create_dir(folder.path("my-agent")).expect("a folder");
    let ran = run_in(&folder, "my-agent", &["new", "greetings", "--path", "../evalset"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.starts_with("made the package `my-agent`\n"), "{}", ran.out);
    assert_eq!(names(&folder, "my-agent"), [".gitignore", "Cargo.toml", "evals", "src", "tests"]);
    assert_eq!(folder.read("my-agent/.gitignore"), "/target\n");
    assert!(ran.out.contains("added `/target` to a new `.gitignore`\n"), "{}", ran.out);
    let manifest = folder.read("my-agent/Cargo.toml");
    assert!(manifest.contains("name = \"my-agent\""), "{manifest}");
    assert!(
        manifest.ends_with("[dev-dependencies]\neval-core = { path = \"../evalset/eval-core\" }\n"),
        "{manifest}"
    );
}

#[test]
fn a_folder_whose_name_no_package_can_have_gets_a_package_of_another_name() {
    for (below, args, name) in [
        ("test", &[][..], "weather"),
        ("match", &[], "weather"),
        ("my agent", &[], "weather"),
        ("core", &[], "weather"),
        ("eval-core", &["greetings"], "greetings"),
        ("eval_format", &[], "weather"),
        ("serde-json", &["--agent", "rig"], "weather"),
        ("test", &["test"], "test-evals"),
        ("Eval", &["eval-core"], "Eval"),
        ("serde-json", &[], "serde-json"),
    ] {
        let folder = with_clone("new-names");
        folder.write("evalset/eval-core/src/lib.rs", "");
        fs::create_dir(folder.path(below)).expect("a folder");
        let ran = run_in(&folder, below, &[&["new", "--path", "../evalset"], args].concat());
        assert_eq!(ran.code, Some(0), "{below}: {}", ran.err);
        let why = if name == below { String::new() } else { format!(": none can be named `{below}`") };
        assert!(ran.out.starts_with(&format!("made the package `{name}`{why}\n")), "{below}: {}", ran.out);
        let manifest = folder.read(&format!("{below}/Cargo.toml"));
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{manifest}");
        if args.contains(&"rig") {
            continue;
        }
        let mut cargo = Command::new(env!("CARGO"));
        let output = cargo.args(["metadata", "--offline"]).current_dir(folder.path(below)).output();
        let output = output.expect("cargo runs");
        assert!(output.status.success(), "{below}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn nothing_is_written_over_and_a_refusal_writes_nothing() {
    for (file, args, says) in [
        ("evals/weather.evalset.json", &["new"][..], "evals/weather.evalset.json` exists already"),
        ("tests/weather.rs", &["new"], "tests/weather.rs` exists already\n  = help: choose another name"),
        (
            "README.md",
            &["new", "--path", "../elsewhere"],
            "there is no eval-core in `../elsewhere`\n  = help: name a clone",
        ),
        ("README.md", &["new", "Weather"], "small letter"),
        ("README.md", &["new", "../weather"], "small letter"),
    ] {
        let folder = with_package("new-refused");
        folder.write(&format!("agent/{file}"), "mine");
        let before = names(&folder, "agent");
        let mut args = args.to_vec();
        if !args.contains(&"--path") {
            args.extend(["--path", "../evalset"]);
        }
        let ran = run_in(&folder, "agent", &args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.out);
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
        assert_eq!(folder.read(&format!("agent/{file}")), "mine");
        assert_eq!(folder.read("agent/Cargo.toml"), MANIFEST, "{args:?}");
        assert_eq!(names(&folder, "agent"), before, "{args:?}");
    }
}

#[test]
fn tests_that_cargo_would_not_see_or_would_see_twice_are_refused() {
    let folder = with_package("new-targets");
    let new = || run_in(&folder, "agent", &["new", "--path", "../evalset"]);
    // `mod weather;` of another file of tests would be in two files.
    folder.write("agent/tests/weather/mod.rs", "");
    let shared = new();
    assert_eq!(shared.code, Some(2), "{}", shared.out);
    assert!(shared.err.contains("mod.rs` exists already"), "{}", shared.err);
    fs::remove_file(folder.path("agent/tests/weather/mod.rs")).expect("the file is there");
    folder.write("agent/tests/weather/main.rs", "");
    let twice = new();
    assert_eq!(twice.code, Some(2), "{}", twice.err);
    assert!(twice.err.contains("main.rs` exists already"), "{}", twice.err);
    fs::remove_file(folder.path("agent/tests/weather/main.rs")).expect("the file is there");

    let closed = MANIFEST.replace("edition =", "autotests = false\nedition =");
    folder.write("agent/Cargo.toml", &closed);
    let unseen = new();
    assert_eq!(unseen.code, Some(2), "{}", unseen.err);
    assert!(unseen.err.contains("so cargo would not see `tests/weather.rs`"), "{}", unseen.err);
    assert!(!folder.path("agent/evals").exists(), "a refusal writes nothing");

    folder.write("agent/Cargo.toml", format!("{closed}\n[[test]]\nname = \"weather\"\n"));
    let seen = new();
    assert_eq!(seen.code, Some(0), "{}", seen.err);
}

#[test]
fn a_workspace_without_a_package_is_no_place_for_tests() {
    let folder = with_clone("new-workspace");
    folder.write("all/Cargo.toml", "[workspace]\nmembers = []\n");
    let ran = run_in(&folder, "all", &["new", "--path", "../evalset"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.err.contains("Cargo.toml` is a workspace without a package of its own"), "{}", ran.err);
    assert_eq!(names(&folder, "all"), ["Cargo.toml"]);
}

#[test]
fn a_manifest_that_cannot_be_read_is_named() {
    let folder = with_clone("new-broken");
    folder.write("agent/Cargo.toml", "[package\n");
    let ran = run_in(&folder, "agent", &["new", "--path", "../evalset"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.err.contains("agent/Cargo.toml`: TOML parse error at line 1"), "{}", ran.err);
    assert_eq!(names(&folder, "agent"), ["Cargo.toml"]);
}

#[test]
fn the_package_of_the_registry_is_refused() {
    for line in [
        "eval-core = \"0.3\"",
        "eval-core = { version = \"0.3\", features = [] }",
        "eval-core.version = \"1\"",
    ] {
        let folder = with_package("new-registry");
        let manifest = format!("{MANIFEST}\n[dev-dependencies]\n{line}\n");
        folder.write("agent/Cargo.toml", &manifest);
        let ran = run_in(&folder, "agent", &["new", "--path", "../evalset"]);
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.out);
        assert!(ran.err.contains("is a package of the registry, which is another project"), "{}", ran.err);
        assert_eq!(folder.read("agent/Cargo.toml"), manifest);
        assert_eq!(names(&folder, "agent"), ["Cargo.toml", "src"]);
    }
}

#[test]
fn a_file_that_cannot_be_written_leaves_nothing_that_stands_in_the_way() {
    let folder = with_package("new-unwritable");
    // A file is in the place of the folder of the tests.
    folder.write("agent/tests", "");
    let ran = run_in(&folder, "agent", &["new", "--path", "../evalset"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.err.contains("cannot write `") && ran.err.contains("tests/weather.rs`"), "{}", ran.err);
    assert!(names(&folder, "agent/evals").is_empty());
    fs::remove_file(folder.path("agent/tests")).expect("the file is there");
    assert_eq!(run_in(&folder, "agent", &["new", "--path", "../evalset"]).code, Some(0));
}

#[test]
fn a_framework_that_is_there_already_stays_and_what_the_tests_need_of_it_is_said() {
    let folder = with_package("new-framework");
    let manifest = MANIFEST.replace("# None yet.", "rig-core = \"0.40\"");
    folder.write("agent/Cargo.toml", &manifest);
    let ran = run_in(&folder, "agent", &["new", "--agent", "rig", "--path", "../evalset"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let says = "left `rig-core` in `Cargo.toml` as it was; the tests are written for `rig-core = { version = \"0.40\", \
                default-features = false, features = [\"test-utils\"] }`\n";
    assert!(ran.out.contains(says), "{}", ran.out);
    assert!(folder.read("agent/Cargo.toml").starts_with(&manifest));
}

fn git(folder: &Folder, below: &str, args: &[&str]) {
    let name = ["-c", "user.name=a", "-c", "user.email=a@b.test"];
    let mut git = Command::new("git");
    git.args(name).args(args).current_dir(folder.path(below));
    let output = git.output().expect("git runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository with a crate named eval-core, and its address.
fn repository(folder: &Folder) -> String {
    folder.write("repository/eval-core/Cargo.toml", "[package]\nname = \"eval-core\"\nversion = \"0.1.0\"\n");
    folder.write("repository/eval-core/src/lib.rs", "");
    git(folder, "repository", &["init", "--quiet"]);
    git(folder, "repository", &["add", "."]);
    git(folder, "repository", &["commit", "--quiet", "-m", "a crate"]);
    format!("file://{}", folder.path("repository").display())
}

#[test]
fn the_tests_depend_on_a_repository_that_cargo_can_fetch() {
    let folder = with_package("new-git");
    let address = repository(&folder);
    folder.write("agent/src/lib.rs", "");
    let line = format!("eval-core = {{ git = \"{address}\" }}\n");
    let ran = run_in(&folder, "agent", &["new", "--git", &address]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(folder.read("agent/Cargo.toml"), format!("{MANIFEST}\n[dev-dependencies]\n{line}"));
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1"]).current_dir(folder.path("agent"));
    // Nothing of it is in a registry, and the home of cargo here has nothing fetched.
    cargo.env("CARGO_HOME", folder.path("home")).env_remove("CARGO_NET_OFFLINE");
    let output = cargo.output().expect("cargo runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains(&format!("git+{address}#")), "{told}");

    // The variable says the same, and the command line comes before it.
    let with_variable = |package: &str, args: &[&str], value: &str| -> Ran {
        folder.write(&format!("{package}/Cargo.toml"), MANIFEST);
        let mut command = folder.command(&[&["new"], args].concat());
        command.current_dir(folder.path(package)).env("EVALSET_REPOSITORY", value);
        command.output().expect("the program runs").into()
    };
    let ran = with_variable("second", &[], &address);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(folder.read("second/Cargo.toml").ends_with(&line), "{}", folder.read("second/Cargo.toml"));
    let ran = with_variable("third", &["--path", "../evalset"], &address);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(folder.read("third/Cargo.toml").contains("path = \"../evalset/eval-core\""));
    let ran = with_variable("fourth", &[], "git@host.test:evalset.git");
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(
        ran.err.contains("is no address that cargo takes\n  = help: write it as `https://"),
        "{}",
        ran.err
    );
    assert_eq!(names(&folder, "fourth"), ["Cargo.toml"]);
    let both = run_in(&folder, "fourth", &["new", "--path", "../evalset", "--git", &address]);
    assert_eq!(both.code, Some(2), "{}", both.out);
}

#[test]
fn a_package_in_a_repository_gets_the_missing_line_of_gitignore_alone() {
    let folder = with_package("new-ignored");
    git(&folder, "agent", &["init", "--quiet"]);
    folder.write("agent/.gitignore", "*.log");
    let ran = run_in(&folder, "agent", &["new", "--path", "../evalset"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("added `/target` to `.gitignore`\n"), "{}", ran.out);
    assert_eq!(folder.read("agent/.gitignore"), "*.log\n/target\n");
    let ran = run_in(&folder, "agent", &["new", "second", "--path", "../evalset"]);
    assert!(ran.code == Some(0) && !ran.out.contains("gitignore"), "{}{}", ran.out, ran.err);
    assert_eq!(folder.read("agent/.gitignore"), "*.log\n/target\n");
}
