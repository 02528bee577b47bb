//! `serve`: from the command line to an answer, and to the end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A service on a free port, and the URL that it printed.
fn serve(options: &[&str]) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-evalset"))
        .args(["evalset", "serve", "--port", "0"])
        .args(options)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("serving on http://").unwrap_or_else(|| panic!("{line}")).to_owned();
    (child, url)
}

pub(crate) fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn serve_answers_at_the_printed_address_and_ends_when_it_is_asked_to() {
    let (mut child, url) = serve(&[]);
    let (address, token) = url.split_once("/?token=").unwrap();
    assert!(address.starts_with("127.0.0.1:"), "{url}");
    assert!(get(address, "/api/health").contains("\"status\":\"ok\""));
    assert!(get(address, "/api/v1/runs").starts_with("HTTP/1.1 401"));
    assert!(get(address, &format!("/api/v1/runs?token={token}")).starts_with("HTTP/1.1 200"));
    // A second one has no place there.
    let port = address.rsplit(':').next().unwrap();
    let second =
        Command::new(env!("CARGO_BIN_EXE_cargo-evalset")).args(["serve", "--port", port]).output().unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&second.stderr).contains("--port"), "{second:?}");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn serve_takes_its_token_from_a_file() {
    let path = std::env::temp_dir().join(format!("evalset-token-{}", std::process::id()));
    std::fs::write(&path, "0123456789abcdef\n").unwrap();
    let (mut child, url) = serve(&["--token-file", path.to_str().unwrap()]);
    assert!(url.ends_with("/?token=0123456789abcdef"), "{url}");
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::write(&path, "short").unwrap();
    let refused = Command::new(env!("CARGO_BIN_EXE_cargo-evalset"))
        .args(["serve", "--port", "0", "--token-file", path.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    std::fs::remove_file(&path).unwrap();
}
