//! A client: one connection that stays open, and answers read to their end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::Failure;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// A connection.
pub(crate) struct Client {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_mins(1)))?;
        Ok(Self { reader: BufReader::new(stream.try_clone()?), stream })
    }

    pub(crate) fn ask(&mut self, request: &[u8]) -> Result<Answer, Failure> {
        self.send(request)?;
        self.answer()
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.stream.write_all(bytes)?)
    }

    pub(crate) fn answer(&mut self) -> Result<Answer, Failure> {
        let line = self.line()?;
        let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let status = status.ok_or_else(|| format!("no answer: {line:?}"))?;
        let (mut length, mut chunked) = (None, false);
        loop {
            let line = self.line()?.to_ascii_lowercase();
            match line.trim_end().split_once(':') {
                None => break,
                Some(("content-length", value)) => length = Some(value.trim().parse()?),
                Some(("transfer-encoding", _)) => chunked = true,
                Some(_) => {}
            }
        }
        let body = match (length, chunked) {
            (Some(length), false) => self.bytes(length)?,
            (None, true) => self.chunks()?,
            _ => return Err("the answer has no length".into()),
        };
        Ok(Answer { status, body })
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        Ok(line)
    }

    fn bytes(&mut self, length: usize) -> Result<Vec<u8>, Failure> {
        let mut bytes = vec![0; length];
        self.reader.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn chunks(&mut self) -> Result<Vec<u8>, Failure> {
        let mut all = Vec::new();
        loop {
            let length = usize::from_str_radix(self.line()?.trim(), 16)?;
            all.extend(self.bytes(length)?);
            self.line()?;
            if length == 0 {
                return Ok(all);
            }
        }
    }
}
