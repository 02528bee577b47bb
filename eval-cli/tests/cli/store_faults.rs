//! `--store` against a service that refuses, is slow, breaks off, or is not there; and uploads that are killed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::folder::{Folder, Ran};
use crate::run::folder;

/// The fault of a request.
enum Fault {
    None,
    Status(u16, &'static str),
    /// The connection ends without an answer.
    Cut,
    /// No answer comes.
    Silence,
}

/// A request in one line, such as `POST evalset/runs/r/u.json`; objects are named, and listings are `LIST prefix`.
type Faults = Box<dyn Fn(&str, usize) -> Fault + Send + Sync>;

/// The fault of a request, by the number of equal requests before it.
type ByCount = fn(usize) -> Fault;

/// A service with the JSON API of Google Cloud Storage, and one bucket.
struct Service {
    address: String,
    objects: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Service {
    /// `faults` gets each request, and how often the same one came before.
    fn start(faults: impl Fn(&str, usize) -> Fault + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let (objects, asked) = (Arc::<Mutex<BTreeMap<_, _>>>::default(), Arc::<Mutex<Vec<_>>>::default());
        let faults: Arc<Faults> = Arc::new(Box::new(faults));
        let service = Self { address, objects: objects.clone(), asked: asked.clone() };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (objects, asked, faults) = (objects.clone(), asked.clone(), faults.clone());
                thread::spawn(move || answer(stream, &objects, &asked, &faults));
            }
        });
        service
    }

    fn command(&self, folder: &Folder, args: &[&str]) -> Command {
        let mut command = folder.command(args);
        command.env("STORAGE_EMULATOR_HOST", &self.address).env("EVALSET_DIR", folder.path("runs"));
        command
    }

    fn run(&self, folder: &Folder, args: &[&str]) -> Ran {
        self.command(folder, args).output().expect("the program runs").into()
    }

    fn names(&self) -> Vec<String> {
        self.objects.lock().expect("the objects").keys().cloned().collect()
    }
}

fn answer(
    mut stream: TcpStream,
    objects: &Mutex<BTreeMap<String, Vec<u8>>>,
    asked: &Mutex<Vec<String>>,
    faults: &Faults,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let parameter = |name: &str| {
        let value = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        decoded(value.unwrap_or_default())
    };
    let (kind, name) = match path.rsplit_once("/o") {
        Some((_, "")) if method == "GET" => ("LIST", parameter("prefix")),
        Some((_, "")) => (method, parameter("name")),
        _ => (method, decoded(path.split_once("/o/")?.1)),
    };
    let request = format!("{kind} {name}");
    let times = {
        let mut asked = asked.lock().expect("the requests");
        asked.push(request.clone());
        asked.iter().filter(|other| **other == request).count() - 1
    };
    let (status, body) = match faults(&request, times) {
        Fault::Cut => return None,
        Fault::Silence => {
            thread::sleep(Duration::from_mins(1));
            return None;
        }
        Fault::Status(status, body) => (status, body.as_bytes().to_vec()),
        Fault::None => {
            let mut objects = objects.lock().expect("the objects");
            match kind {
                "LIST" => {
                    let names = objects.keys().filter(|key| key.starts_with(&name));
                    let items: Vec<_> = names
                        .map(|key| json!({ "name": key, "size": "1", "updated": "2026-11-22T00:00:00Z" }))
                        .collect();
                    (200, json!({ "items": items }).to_string().into_bytes())
                }
                "POST" => {
                    let media = media(&body)?;
                    let stored = json!({
                        "name": name, "size": media.len().to_string(), "generation": "1", "etag": "e",
                        "md5Hash": "", "contentType": "text/plain", "updated": "2026-11-22T00:00:00Z",
                    });
                    objects.insert(name, media);
                    (200, stored.to_string().into_bytes())
                }
                "DELETE" => (if objects.remove(&name).is_some() { 204 } else { 404 }, Vec::new()),
                _ => objects.get(&name).map_or((404, Vec::new()), |bytes| (200, bytes.clone())),
            }
        }
    };
    write!(stream, "HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len())
        .ok()?;
    stream.write_all(&body).ok()
}

/// The content of an upload, behind the part with its metadata.
fn media(body: &[u8]) -> Option<Vec<u8>> {
    let find = |bytes: &[u8], text: &[u8]| bytes.windows(text.len()).position(|window| window == text);
    let first = find(body, b"\r\n\r\n")? + 4;
    let second = first + find(&body[first..], b"\r\n\r\n")? + 4;
    let end = body.windows(4).rposition(|window| window == b"\r\n--")?;
    Some(body[second..end].to_vec())
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
            bytes.push(u8::from_str_radix(&String::from_utf8_lossy(&digits), 16).unwrap_or(b'?'));
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

const URL: &str = "gs://evals/nightly";

/// A run of one case that passes, stored while it runs.
fn stored(service: &Service, folder: &Folder) -> Ran {
    service.run(
        folder,
        &["run", "fine", "--agent-cmd", "python3 weather.py", "--store", URL, "--app", "weather"],
    )
}

#[test]
fn a_refusal_has_a_name_and_nothing_is_run() {
    for (status, said, helps) in [
        (
            401,
            "Google Cloud Storage does not accept the credentials (401)",
            "gcloud auth application-default login",
        ),
        (403, "the credentials do not allow this in the bucket `evals` (403)", "roles/storage.objectUser"),
        (404, "there is no bucket `evals` (404)", "create the bucket"),
        (400, "Google Cloud Storage answers with 400: odd", "STORAGE_EMULATOR_HOST"),
        (200, "what answers is not Google Cloud Storage: ", "STORAGE_EMULATOR_HOST"),
    ] {
        let folder = folder("store-refused");
        let service = Service::start(move |_, _| Fault::Status(status, "odd"));
        let ran = stored(&service, &folder);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(
            ran.err.contains("gs://evals/nightly: ") && ran.err.contains(said) && ran.err.contains(helps),
            "{}",
            ran.err
        );
        assert_eq!(service.asked.lock().expect("the requests").len(), 1, "it is not asked again");
        assert!(!folder.path("runs").exists(), "nothing was run");
    }
}

#[test]
fn s3_refuses_without_a_key_in_the_message() {
    let said_by_s3 = |code: &str| {
        format!(
            "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>The key AKIATESTTESTTEST1234</Message><Resource>/</Resource><RequestId>1</RequestId></Error>"
        )
    };
    for (status, code, said) in [
        (403, "InvalidAccessKeyId", "S3 does not accept the credentials (403)"),
        (403, "SignatureDoesNotMatch", "S3 does not accept the credentials (403)"),
        (403, "AccessDenied", "the credentials do not allow this in the bucket `evals` (403)"),
        (404, "NoSuchBucket", "there is no bucket `evals` (404)"),
    ] {
        let folder = folder("store-s3");
        let body: &'static str = Box::leak(said_by_s3(code).into_boxed_str());
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut asked = [0; 4096];
                let _ = stream.read(&mut asked);
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
            }
        });
        let mut command = folder.command(&["store", "list", "s3://evals/nightly"]);
        command.envs([
            ("AWS_ENDPOINT_URL", format!("http://{address}").as_str()),
            ("AWS_ACCESS_KEY_ID", "AKIATESTTESTTEST1234"),
            ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMIsecretsecretsecret"),
        ]);
        let ran: Ran = command.output().expect("the program runs").into();
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains(said), "{code}: {}", ran.err);
        assert!(!ran.shown().contains("AKIATEST") && !ran.shown().contains("wJalr"), "{}", ran.err);
    }
}

#[test]
fn what_passes_is_waited_for() {
    let faults: [(&str, ByCount); 4] = [
        ("429", |times| if times < 2 { Fault::Status(429, "slow down") } else { Fault::None }),
        ("500", |times| if times < 1 { Fault::Status(500, "") } else { Fault::None }),
        ("503", |times| if times < 1 { Fault::Status(503, "") } else { Fault::None }),
        ("cut", |times| if times < 1 { Fault::Cut } else { Fault::None }),
    ];
    for (name, fault) in faults {
        let folder = folder("store-repeated");
        // Each upload is answered so at first; a listing is the same request again and again.
        let service = Service::start(
            move |request, times| {
                if request.starts_with("POST") { fault(times) } else { Fault::None }
            },
        );
        let ran = stored(&service, &folder);
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        let names = service.names();
        assert_eq!(names.len(), 5, "a part, its manifest, two reports, a result of ADK: {names:?}");
        let report = service.run(&folder, &["report", "--store", URL]);
        assert_eq!(report.code, Some(0), "{name}: {}{}", report.out, report.err);
    }
}

#[test]
fn an_upload_that_fails_leaves_the_journal_and_says_how_to_store_it_later() {
    let folder = folder("store-later");
    let service = Service::start(|request, _| match request.strip_prefix("POST nightly/") {
        Some(name) if !name.ends_with(".began.json") => Fault::Status(403, "no"),
        _ => Fault::None,
    });
    let ran = stored(&service, &folder);
    assert_eq!(ran.code, Some(2), "the case passed, and is not stored: {}", ran.err);
    assert!(ran.out.contains("1 passed") || ran.out.contains("1 case"), "{}", ran.out);
    assert!(
        ran.err.contains("the run is not stored: gs://evals/nightly: cannot write `evalset/runs/"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("Its journal stays in `runs/"), "{}", ran.err);
    let last = ran.err.trim_end().lines().last().expect("a line");
    let command = last.rsplit_once("later: `").expect("a command").1.trim_end_matches('`').to_owned();
    let words: Vec<_> = command.split(' ').collect();
    assert_eq!(words[..5], ["cargo", "evalset", "store", "push", URL], "{command}");
    assert_eq!(service.names().len(), 1, "only what says that an upload began");

    let healthy = Service::start(|_, _| Fault::None);
    let later = healthy.run(&folder, &words[2..]);
    assert_eq!(later.code, Some(0), "{}", later.err);
    assert_eq!(healthy.run(&folder, &["report", "--store", URL]).code, Some(0));
}

#[test]
fn a_service_that_stays_broken_is_given_up_and_one_that_is_not_there_is_named() {
    let folder = folder("store-broken");
    let service = Service::start(|_, _| Fault::Status(503, "maintenance"));
    let ran = service.run(&folder, &["store", "list", URL]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.err.contains("Google Cloud Storage answers with 503, the last of 5 times too: maintenance"),
        "{}",
        ran.err
    );
    assert_eq!(service.asked.lock().expect("the requests").len(), 5);

    let closed = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let mut command = folder.command(&["store", "list", URL]);
    let ran: Ran =
        command.env("STORAGE_EMULATOR_HOST", closed.to_string()).output().expect("the program runs").into();
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("Google Cloud Storage cannot be reached: Connection refused"), "{}", ran.err);
    assert!(ran.err.contains("STORAGE_EMULATOR_HOST"), "{}", ran.err);
}

/// Killed before its part is there, and before its manifest is.
#[test]
fn a_killed_upload_leaves_no_run_that_looks_complete() {
    for silent_at in [".jsonl", ".json"] {
        let folder = folder("store-killed");
        let is_silent = Arc::new(std::sync::atomic::AtomicBool::new(true));
        let its = is_silent.clone();
        let service = Service::start(move |request, _| {
            let is_end = request.starts_with("POST")
                && request.ends_with(silent_at)
                && !request.ends_with(".began.json");
            if is_end && its.load(std::sync::atomic::Ordering::SeqCst) { Fault::Silence } else { Fault::None }
        });
        let mut child = service
            .command(&folder, &["run", "fine", "--agent-cmd", "python3 weather.py", "--store", URL])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        let began = Instant::now();
        let is_there = || {
            let asked = service.asked.lock().expect("the requests");
            asked.iter().any(|request| {
                request.starts_with("POST")
                    && request.ends_with(silent_at)
                    && !request.ends_with(".began.json")
            })
        };
        while !is_there() {
            assert!(began.elapsed() < Duration::from_mins(1), "it stores its run");
            thread::sleep(Duration::from_millis(20));
        }
        child.kill().expect("it runs");
        child.wait().expect("it ended");
        is_silent.store(false, std::sync::atomic::Ordering::SeqCst);
        let report = service.run(&folder, &["report", "--store", URL]);
        assert_eq!(report.code, Some(2), "{}", report.out);
        assert!(
            report.err.contains("is not complete: an upload of 1 journal that began at"),
            "{}",
            report.err
        );
        // The journal is there: the upload is made again.
        let again = service.run(&folder, &["store", "push", URL]);
        assert_eq!(again.code, Some(0), "{}", again.err);
        let report = service.run(&folder, &["report", "--store", URL]);
        assert_eq!(report.code, Some(0), "{}{}", report.out, report.err);
    }
}
