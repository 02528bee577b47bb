//! Asks a service for a while at a pace, with requests of many kinds, and checks each answer:
//! `soak [SECONDS [A_SECOND [CONNECTIONS]]]`; 60 seconds, 500 a second and 8 connections if it is not told.
//!
//! Each request has a name that comes back in its answer, so that answers cannot be confused. The service is a process
//! of its own. Beside the requests, agents export a tenth as many sessions, and a reader reads these: more than the service
//! keeps, so that each removes an older one.
//!
//! It fails at a wrong answer, if the memory or the open files of the service grow, if requests that are in progress when it is
//! stopped get no answer, and if less than half of the pace is reached. The pace is printed: a busy machine does not reach all.

mod client;
mod live;
mod mix;

use std::error::Error;
use std::io::{BufRead, BufReader, Write, stdout};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use eval_server::{Limits, Server, ServerOptions, stop_signal};

use client::{Answer, Client};
use live::Agents;
use mix::{Mix, NAME, name_of, named};

type Failure = Box<dyn Error + Send + Sync>;

/// By how many kilobytes the service may grow once it is warm.
const MAX_GROWTH_KIB: u64 = 16 << 10;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|argument| argument == "serve") {
        return serve();
    }
    let number = |at: usize, default: u64| arguments.get(at).map_or(Ok(default), |text| text.parse());
    let (seconds, rate, connections) = (number(0, 60)?, number(1, 500)?.max(1), number(2, 8)?);
    let mut service = Service::start()?;
    let outcome = soak(&mut service, Duration::from_secs(seconds), rate, connections);
    if outcome.is_err() {
        drop(service.process.kill());
        drop(service.process.wait());
    }
    outcome
}

fn soak(service: &mut Service, time: Duration, rate: u64, connections: u64) -> Result<(), Failure> {
    let mix = Mix::new()?;
    let expected = expected(&mix, service.address)?;
    let files = service.files();
    // As long as it takes until every thread has seen every kind.
    let mut agents = Agents::new(service.address, service.otlp, &service.token);
    let warm = load(service, &mix, &expected, &mut agents, time / 10, rate, connections)?;
    let before = service.memory("VmRSS")?;
    say(&format!("warm after {} requests: {before} kB", warm.answers))?;
    let Loaded { answers, elapsed, late, most } =
        load(service, &mix, &expected, &mut agents, time, rate, connections)?;
    let reached = float(answers) / elapsed.as_secs_f64();
    let kept = if reached >= 0.99 * float(rate) { "kept" } else { "did not reach" };
    say(&format!(
        "{answers} right answers on {connections} connections in {:.1} s: {reached:.0} a second, {kept} {rate} a second; \
         {:.1} % came more than 100 ms after their time",
        elapsed.as_secs_f64(),
        100.0 * float(late) / float(answers)
    ))?;
    say(&format!("{} sessions were exported, and {} are kept", agents.exported, live::SESSIONS))?;
    if reached < 0.5 * float(rate) {
        return Err(format!("{reached:.1} requests a second are less than half of {rate}").into());
    }
    let (after, peak) = (service.memory("VmRSS")?, service.memory("VmHWM")?);
    say(&format!("memory: {before} kB warm, {after} kB at the end, {most} kB at most, {peak} kB ever"))?;
    if after.max(most) > before + MAX_GROWTH_KIB {
        return Err(format!("the service grew by {} kB", after.max(most) - before).into());
    }
    let begin = Instant::now();
    while service.files() > files {
        if begin.elapsed() > Duration::from_secs(10) {
            return Err(format!("{} files are open, {files} at the beginning", service.files()).into());
        }
        sleep(Duration::from_millis(20));
    }
    say(&format!("open files: {files}, as at the beginning"))?;
    stop(service, &mix, &expected)
}

#[expect(clippy::cast_precision_loss, reason = "there are not so many")]
fn float(count: u64) -> f64 {
    count as f64
}

fn say(line: &str) -> Result<(), Failure> {
    Ok(writeln!(stdout(), "{line}")?)
}

/// The service, in a process of its own.
fn serve() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        // A session is complete at once, so that it can be removed.
        let limits = Limits::default().sessions(live::SESSIONS).quiet(Duration::ZERO);
        let options = ServerOptions::new().otlp_port(0).limits(limits);
        let server = Server::bind(([127, 0, 0, 1], 0).into(), options).await?;
        let otlp = server.otlp_address().ok_or("no traces are received")?;
        say(&format!("{} {otlp} {}", server.address(), server.token()))?;
        server.run(stop_signal()).await;
        Ok(())
    })
}

struct Service {
    process: Child,
    address: SocketAddr,
    /// The address that receives traces.
    otlp: SocketAddr,
    token: String,
}

impl Service {
    fn start() -> Result<Self, Failure> {
        let mut process =
            Command::new(std::env::current_exe()?).arg("serve").stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let output = process.stdout.take().ok_or("the service has no output")?;
        BufReader::new(output).read_line(&mut line)?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [address, otlp, token] = words[..] else { return Err(format!("the service said {line}").into()) };
        Ok(Self { process, address: address.parse()?, otlp: otlp.parse()?, token: token.to_owned() })
    }

    /// Memory in kilobytes, as Linux counts it; 0 where it is not known.
    fn memory(&self, field: &str) -> Result<u64, Failure> {
        let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())) else {
            return Ok(0);
        };
        let line =
            status.lines().find_map(|line| line.strip_prefix(field)).ok_or("there is no such field")?;
        Ok(line.trim_matches(|it: char| !it.is_ascii_digit()).parse()?)
    }

    /// The number of open files; 0 if it is not known.
    fn files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.process.id())).map_or(0, Iterator::count)
    }
}

/// The answer of each kind, with [`NAME`] in place of the request's name.
fn expected(mix: &Mix, address: SocketAddr) -> Result<Vec<Answer>, Failure> {
    let mut answers = Vec::new();
    for kind in &mix.kinds {
        let answer = Client::connect(address)?.ask(&kind.request(NAME))?;
        let text = String::from_utf8_lossy(&answer.body);
        if answer.status != kind.status || !text.contains(kind.wanted) {
            return Err(format!("{}: {} {text}", kind.name, answer.status).into());
        }
        answers.push(answer);
    }
    Ok(answers)
}

/// The answers under load.
struct Loaded {
    answers: u64,
    elapsed: Duration,
    /// The number of answers that came too late.
    late: u64,
    /// The most memory that was seen, in kilobytes.
    most: u64,
}

/// Asks at a pace. Each request has its time, and any free connection sends it.
fn load(
    service: &Service,
    mix: &Mix,
    expected: &[Answer],
    agents: &mut Agents,
    time: Duration,
    rate: u64,
    connections: u64,
) -> Result<Loaded, Failure> {
    let (next, late, failed) = (AtomicU64::new(0), AtomicU64::new(0), Mutex::new(None));
    let begin = Instant::now();
    let total = u64::try_from(time.as_millis())? * rate / 1000;
    let is_over = || begin.elapsed() > time || failed.lock().is_ok_and(|failed| failed.is_some());
    let work = || -> Result<u64, Failure> {
        let (mut client, mut answers) = (Client::connect(service.address)?, 0);
        while !is_over() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= total {
                break;
            }
            let at = Duration::from_micros(number * 1_000_000 / rate);
            sleep(at.saturating_sub(begin.elapsed()));
            ask(&mut client, mix, expected, number)?;
            answers += 1;
            if begin.elapsed() > at + Duration::from_millis(100) {
                late.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(answers)
    };
    let mut most = 0;
    let note = |error: &Failure| {
        if let Ok(mut failed) = failed.lock() {
            failed.get_or_insert_with(|| error.to_string());
        }
    };
    let answers = thread::scope(|scope| -> Result<u64, Failure> {
        let client = || work().inspect_err(note);
        let exporting = scope.spawn(|| agents.run(&is_over, (rate / 10).max(1)).inspect_err(note));
        let clients: Vec<_> = (0..connections).map(|_| scope.spawn(client)).collect();
        while !is_over() && clients.iter().any(|client| !client.is_finished()) {
            most = service.memory("VmRSS")?.max(most);
            sleep(Duration::from_millis(100));
        }
        let answers = clients
            .into_iter()
            .map(|client| client.join().map_err(|_| Failure::from("a client panicked"))?);
        let answers: Result<u64, Failure> = answers.sum();
        exporting.join().map_err(|_| Failure::from("an agent panicked"))??;
        answers
    })?;
    Ok(Loaded { answers, elapsed: begin.elapsed(), late: late.into_inner(), most })
}

/// Asks once, and checks the answer byte by byte.
fn ask(client: &mut Client, mix: &Mix, expected: &[Answer], number: u64) -> Result<(), Failure> {
    let (at, name) = (mix.kind(number), name_of(number));
    let answer = client.ask(&mix.kinds[at].request(&name))?;
    check(&answer, &expected[at], mix.kinds[at].name, &name)
}

fn check(answer: &Answer, expected: &Answer, kind: &str, name: &str) -> Result<(), Failure> {
    let body = named(&expected.body, name);
    if answer.status == expected.status && answer.body == body {
        return Ok(());
    }
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Err(format!(
        "a wrong answer, {kind}, request {name}: {} {}\nexpected: {} {}",
        answer.status,
        shown(&answer.body),
        expected.status,
        shown(&body)
    )
    .into())
}

/// Stops the service while it has half of a request on each of some connections: it answers them, and ends.
fn stop(service: &mut Service, mix: &Mix, expected: &[Answer]) -> Result<(), Failure> {
    let mut open = Vec::new();
    for (at, kind) in mix.kinds.iter().enumerate() {
        let name = name_of(u64::try_from(at)?);
        let request = kind.request(&name);
        let (begin, rest) = request.split_at(request.len() - 1);
        let mut client = Client::connect(service.address)?;
        client.send(begin)?;
        open.push((client, rest.to_vec(), name, at));
    }
    // The heads must have arrived: a connection without a request is closed.
    sleep(Duration::from_millis(500));
    let told = Command::new("kill").args(["-TERM", &service.process.id().to_string()]).status()?;
    if !told.success() {
        return Err("the service could not be told to stop".into());
    }
    sleep(Duration::from_millis(200));
    for (client, rest, name, at) in &mut open {
        let kind = mix.kinds[*at].name;
        let answer = client.send(rest).and_then(|()| client.answer());
        let answer =
            answer.map_err(|error| format!("{kind}, in work when the service was stopped: {error}"))?;
        check(&answer, &expected[*at], kind, name)?;
    }
    let begin = Instant::now();
    let status = loop {
        match service.process.try_wait()? {
            Some(status) => break status,
            None if begin.elapsed() > Duration::from_secs(15) => {
                return Err("the service does not end".into());
            }
            None => sleep(Duration::from_millis(10)),
        }
    };
    if !status.success() || Client::connect(service.address).is_ok() {
        return Err(format!("the service ended with {status}").into());
    }
    say(&format!("stopped with {} requests in work: each was answered", open.len()))
}
