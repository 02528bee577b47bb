//! Server-sent events.

/// The most bytes of one event. Images and sounds travel in events.
const MAX_EVENT_BYTES: usize = 32 << 20;

const MAX_STREAM_BYTES: usize = 256 << 20;

#[derive(Debug, Default)]
pub(super) struct EventStream {
    line: Vec<u8>,
    name: String,
    data: Option<String>,
    read: usize,
}

#[derive(Debug, PartialEq)]
pub(super) struct Sent {
    /// The server's name of the event; mostly empty.
    pub(super) name: String,
    pub(super) data: String,
}

impl EventStream {
    /// Reads another piece, and adds the complete events. Fails if the body is no stream of events.
    pub(super) fn read(&mut self, piece: &[u8], events: &mut Vec<Sent>) -> Result<(), String> {
        self.read += piece.len();
        if self.read > MAX_STREAM_BYTES {
            return Err(format!("sent more than {} MiB", MAX_STREAM_BYTES >> 20));
        }
        let mut rest = piece;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            self.read_line(&line, events)?;
        }
        self.line.extend_from_slice(rest);
        self.check_size()
    }

    pub(super) fn end(mut self, events: &mut Vec<Sent>) -> Result<(), String> {
        let line = std::mem::take(&mut self.line);
        let is_cut = !line.is_empty();
        if is_cut {
            self.read_line(&line, events)?;
        }
        match self.data {
            Some(data) => Err(format!("ended in the middle of an event: {}", super::error::cut(&data))),
            None => Ok(()),
        }
    }

    fn check_size(&self) -> Result<(), String> {
        if self.line.len() + self.data.as_ref().map_or(0, String::len) > MAX_EVENT_BYTES {
            return Err(format!("sent an event of more than {} MiB", MAX_EVENT_BYTES >> 20));
        }
        Ok(())
    }

    fn read_line(&mut self, line: &[u8], events: &mut Vec<Sent>) -> Result<(), String> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line =
            std::str::from_utf8(line).map_err(|error| format!("sent text that is not UTF-8 ({error})"))?;
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            if let Some(data) = self.data.take() {
                events.push(Sent { name, data });
            }
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut self.name),
            // A comment, and fields for reconnecting.
            "" | "id" | "retry" => {}
            _ => return Err(format!("sent a line that is not of an event: {}", super::error::cut(line))),
        }
        self.check_size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&str]) -> Result<Vec<String>, String> {
        let (mut stream, mut events) = (EventStream::default(), Vec::new());
        for piece in pieces {
            stream.read(piece.as_bytes(), &mut events)?;
        }
        stream.end(&mut events)?;
        Ok(events.into_iter().map(|event| format!("{}/{}", event.name, event.data)).collect())
    }

    #[test]
    fn events_are_read_however_they_are_cut_into_pieces() {
        let text = ": hi\r\nid: 7\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nevent: error\ndata:no\n\n\n";
        let expected = ["/{\"a\":\n1}", "error/no"];
        assert_eq!(read(&[text]).unwrap(), expected);
        let letters: Vec<String> = text.chars().map(String::from).collect();
        assert_eq!(read(&letters.iter().map(String::as_str).collect::<Vec<_>>()).unwrap(), expected);
        assert_eq!(read(&[]).unwrap(), [""; 0]);
    }

    #[test]
    fn what_is_no_stream_of_events_is_an_error_with_the_words_of_the_server() {
        for (text, why) in [
            (
                "Error while running agent: no key\n",
                "sent a line that is not of an event: Error while running agent: no key",
            ),
            ("data: {\"a\"", "ended in the middle of an event: {\"a\""),
            ("data: {}\n", "ended in the middle of an event: {}"),
            ("<html>", "sent a line that is not of an event: <html>"),
        ] {
            assert_eq!(read(&[text]).unwrap_err(), why);
        }
        let mut stream = EventStream::default();
        assert!(stream.read(b"data: \xff\n", &mut Vec::new()).unwrap_err().contains("not UTF-8"));
    }

    #[test]
    fn events_and_streams_have_an_end() {
        let large = vec![b'x'; 1 << 20];
        let mut stream = EventStream::default();
        let endless = std::iter::repeat_with(|| stream.read(&large, &mut Vec::new())).find_map(Result::err);
        assert_eq!(endless.unwrap(), "sent an event of more than 32 MiB");
        let comment = [&b":"[..], &large, b"\n"].concat();
        let mut stream = EventStream::default();
        let endless = std::iter::repeat_with(|| stream.read(&comment, &mut Vec::new())).find_map(Result::err);
        assert_eq!(endless.unwrap(), "sent more than 256 MiB");
    }
}
