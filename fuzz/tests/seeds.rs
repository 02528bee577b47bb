//! The rules hold for the seeds.

use std::fs;
use std::path::Path;

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let mut count = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        eprintln!("{}", path.display());
        check(&fs::read(&path).unwrap());
        count += 1;
    }
    assert!(count > 3, "{count} seeds in {}", folder.display());
}

#[test]
fn sets() {
    replay("sets", evalset_fuzz::sets::check);
}

#[test]
fn configs() {
    replay("configs", evalset_fuzz::configs::check);
}

#[test]
fn words() {
    replay("words", evalset_fuzz::words::check);
}

#[test]
fn names() {
    replay("names", evalset_fuzz::names::check);
}

#[test]
fn protocol() {
    replay("protocol", evalset_fuzz::protocol::check);
}
