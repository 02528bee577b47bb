//! Features that the default build lacks: each word is there, and its message says how to install the command with it.

use crate::folder::Ran;
use crate::run::folder;

/// The refusal of something that needs a feature, and nothing else.
fn says(ran: &Ran, what: &str, feature: &str) {
    let refused = format!(
        "error: {what} needs the feature `{feature}`, which this build lacks\n  \
         = help: install the command with it: `cargo install --locked --git \"$EVALSET_REPOSITORY\" cargo-evalset --features {feature}`\n"
    );
    assert_eq!((ran.code, &*ran.err, &*ran.out), (Some(2), &*refused, ""));
}

#[test]
fn what_the_default_build_lacks_is_refused_with_how_to_install_it() {
    let folder = folder("features");
    for args in [&["serve"][..], &["serve", "--port", "0", "--store", "gs://b"], &["serve", "--help"]] {
        says(&folder.run(args), "`serve`", "serve");
    }
    for args in [&["store", "list", "gs://b"][..], &["store"], &["store", "push", "gs://b", "--help"]] {
        says(&folder.run(args), "`store`", "store");
    }
    says(&folder.run(&["report", "--store", "gs://b"]), "`--store`", "store");
    says(&folder.run(&["diff", "gs://b#ci-1", "gs://b"]), "a run in a store", "store");
    let program = ["run", "evals", "--agent-cmd", "python3 weather.py"];
    says(&folder.run(&[&program[..], &["--store", "gs://b"]].concat()), "`--store`", "store");
    let server = ["run", "evals", "--agent-url", "https://localhost:1", "--app", "weather"];
    says(&folder.run(&server), "an `https` address", "https");

    let judged = [&program[..], &["-m", "final_response_match_v2=1"]].concat();
    let ran = folder.command(&judged).env("EVALSET_JUDGE", "record").output().expect("the program runs");
    let ran = Ran::from(ran);
    let install = "install the command with it: `cargo install --locked --git \"$EVALSET_REPOSITORY\" cargo-evalset --features model-judge`";
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains(install) && !ran.out.contains("attribute"), "{}", ran.out);
}
