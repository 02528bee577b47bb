//! The time of a replayed call, beside the time of the same call to a plain server on loopback.
//!
//! `cargo run -p eval-gateway --release --example latency` asks both with eight conversations at once, and prints the median and the
//! 99th percentile of each. Its last line has them as JSON, in microseconds: `benches/gateway.py` holds them to their targets.

#![expect(clippy::print_stdout, reason = "it prints what it measures")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use eval_gateway::{Conversation, ModelMode, ModelSet, ModelsFolder, Provider, Settings};

const CONVERSATIONS: usize = 8;
const CALLS: usize = 500;

const ANSWER: &str = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1760000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"It is sunny."},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = serve()?;
    let folder = tempfile::tempdir()?;
    let models = || ModelsFolder::new(folder.path().join("x.evalset.models"), "x.evalset.models");
    let open = |set: &ModelSet, n: usize| -> Result<Conversation, String> {
        let conversation = set.open(&format!("case{n}"), 1, None, "run")?;
        conversation.begin_turn("hi");
        Ok(conversation)
    };
    // The server is recorded first.
    let upstreams = BTreeMap::from([(Provider::OpenAi, format!("http://{server}/v1"))]);
    let settings = Settings { mode: Some(ModelMode::Record), upstreams, ..Settings::default() };
    let set = ModelSet::on_disk(settings, models())?.ok_or("it records")?;
    for n in 0..CONVERSATIONS {
        let conversation = open(&set, n)?;
        let url = conversation.url(Provider::OpenAi)?;
        let mut client = Client::connect(&url)?;
        (0..CALLS).try_for_each(|call| client.ask(call))?;
        let ended = conversation.end(true);
        if let Some(error) = ended.error {
            return Err(error.into());
        }
    }
    let direct = measured((0..CONVERSATIONS).map(|_| format!("http://{server}/v1")).collect())?;
    let settings = Settings { mode: Some(ModelMode::Replay), ..Settings::default() };
    let set = ModelSet::on_disk(settings, models())?.ok_or("it replays")?;
    let conversations = (0..CONVERSATIONS).map(|n| open(&set, n)).collect::<Result<Vec<_>, _>>()?;
    let urls = conversations.iter().map(|it| it.url(Provider::OpenAi)).collect::<Result<Vec<_>, _>>()?;
    let replayed = measured(urls)?;
    if let Some(miss) = conversations.iter().flat_map(Conversation::misses).next() {
        return Err(miss.message.into());
    }
    let at = |times: &[Duration], share: usize| times[(times.len() - 1) * share / 100];
    println!("{CONVERSATIONS} conversations at once, {CALLS} calls each");
    for (what, times) in [("direct", &direct), ("replayed", &replayed)] {
        println!("{what:>9}: median {:?}, 99th percentile {:?}", at(times, 50), at(times, 99));
    }
    let micros = |times: &[Duration], share: usize| at(times, share).as_micros();
    println!(
        r#"{{"direct": [{}, {}], "replayed": [{}, {}]}}"#,
        micros(&direct, 50),
        micros(&direct, 99),
        micros(&replayed, 50),
        micros(&replayed, 99)
    );
    Ok(())
}

/// The times of all calls, the shortest first.
fn measured(urls: Vec<String>) -> Result<Vec<Duration>, Box<dyn std::error::Error>> {
    let threads: Vec<_> = urls
        .into_iter()
        .map(|url| {
            thread::spawn(move || -> std::io::Result<Vec<Duration>> {
                let mut client = Client::connect(&url)?;
                let timed = |call| {
                    let begun = Instant::now();
                    client.ask(call).map(|()| begun.elapsed())
                };
                (0..CALLS).map(timed).collect()
            })
        })
        .collect();
    let mut times = Vec::new();
    for thread in threads {
        times.extend(thread.join().map_err(|_| "a client panicked")??);
    }
    times.sort();
    Ok(times)
}

/// A client that keeps its connection.
struct Client {
    stream: BufReader<TcpStream>,
    host: String,
    path: String,
}

impl Client {
    fn connect(url: &str) -> std::io::Result<Self> {
        let (host, path) = url.trim_start_matches("http://").split_once('/').unwrap_or((url, ""));
        let stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::new(stream),
            host: host.to_owned(),
            path: format!("/{path}/chat/completions"),
        })
    }

    fn ask(&mut self, call: usize) -> std::io::Result<()> {
        let history: Vec<String> = (0..20)
            .map(|n| {
                format!(r#"{{"role":"user","content":"message {n} of call {call}, as long as a usual one"}}"#)
            })
            .collect();
        let body = format!(r#"{{"model":"m","messages":[{}]}}"#, history.join(","));
        let request = format!(
            "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.path,
            self.host,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (head, _) = read(&mut self.stream)?;
        if head.starts_with("HTTP/1.1 200") { Ok(()) } else { Err(std::io::Error::other(head)) }
    }
}

/// The head and the body of a message.
fn read(stream: &mut BufReader<TcpStream>) -> std::io::Result<(String, Vec<u8>)> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok((head, body))
}

/// A server that gives one answer. Returns its address.
fn serve() -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || -> std::io::Result<()> {
                stream.set_nodelay(true)?;
                let mut reader = BufReader::new(stream);
                loop {
                    read(&mut reader)?;
                    let head = format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                        ANSWER.len()
                    );
                    reader.get_mut().write_all((head + ANSWER).as_bytes())?;
                }
            });
        }
    });
    Ok(address)
}
