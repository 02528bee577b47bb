//! Sends one request again and again, and counts the answers: `load HOST:PORT SECONDS CONNECTIONS FILE WANTED`.
//!
//! The file holds the request, headers and all. Each answer must have the status 200 and hold the wanted text. Prints how
//! many answers came, and how many a second, as JSON.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write, stdout};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, seconds, connections, file, wanted] = arguments.as_slice() else {
        return Err("usage: load HOST:PORT SECONDS CONNECTIONS FILE WANTED".into());
    };
    let (seconds, connections): (f64, usize) = (seconds.parse()?, connections.parse()?);
    let request = std::fs::read(file)?;
    let begin = Instant::now();
    let end = begin + Duration::from_secs_f64(seconds);
    let answers = thread::scope(|scope| {
        let client = || scope.spawn(|| send(address, &request, wanted, end));
        let clients: Vec<_> = (0..connections).map(|_| client()).collect();
        let counts = clients
            .into_iter()
            .map(|client| client.join().map_err(|_| Failure::from("a client panicked"))?);
        counts.sum::<Result<u64, Failure>>()
    })?;
    #[expect(clippy::cast_precision_loss, reason = "there are not so many answers")]
    let rate = answers as f64 / begin.elapsed().as_secs_f64();
    writeln!(stdout(), "{{\"answers\": {answers}, \"rate\": {rate:.1}}}")?;
    Ok(())
}

/// Sends the request on one connection until the end; how many answers came.
fn send(address: &str, request: &[u8], wanted: &str, end: Instant) -> Result<u64, Failure> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut answers, mut body) = (0, Vec::new());
    while Instant::now() < end {
        stream.write_all(request)?;
        let length = head(&mut reader)?;
        body.resize(length, 0);
        reader.read_exact(&mut body)?;
        if !body.windows(wanted.len()).any(|window| window == wanted.as_bytes()) {
            return Err(format!("a wrong answer: {}", String::from_utf8_lossy(&body)).into());
        }
        answers += 1;
    }
    Ok(answers)
}

/// Reads the head of an answer; the length of its body.
fn head(reader: &mut impl BufRead) -> Result<usize, Failure> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    if !line.starts_with("HTTP/1.1 200") {
        return Err(format!("no answer: {line}").into());
    }
    let mut length = None;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            return length.ok_or_else(|| "the answer has no length".into());
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = Some(value.trim().parse()?);
        }
    }
}
