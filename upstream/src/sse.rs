//! Reads server-sent events off a byte stream, with a bound on each.
//! Written here because what MCP needs is small and the known readers have no bound.

use bytes::{Bytes, BytesMut};

use crate::UpstreamError;

/// Collects bytes and gives back the data of whole events.
#[derive(Debug)]
pub(crate) struct SseReader {
    buffer: BytesMut,
    /// Bytes at the front of `buffer` known to hold no line end.
    scanned: usize,
    data: BytesMut,
    has_data: bool,
    limit: usize,
}

impl SseReader {
    pub(crate) fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), scanned: 0, data: BytesMut::new(), has_data: false, limit }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// The next whole event's data, if one has arrived. Events without data are passed over.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>, UpstreamError> {
        while let Some(line) = self.line() {
            if line.is_empty() {
                if std::mem::take(&mut self.has_data) {
                    return Ok(Some(self.data.split().freeze()));
                }
                continue;
            }
            let Some(value) = line.strip_prefix(b"data:") else { continue };
            let value = value.strip_prefix(b" ").unwrap_or(value);
            if self.has_data {
                self.data.extend_from_slice(b"\n");
            }
            self.has_data = true;
            self.data.extend_from_slice(value);
            self.check_size()?;
        }
        self.check_size()?;
        Ok(None)
    }

    fn check_size(&self) -> Result<(), UpstreamError> {
        // `scanned` is the length of the line that has not ended yet.
        if self.data.len().max(self.scanned) > self.limit {
            return Err(UpstreamError::TooLarge(self.limit as u64));
        }
        Ok(())
    }

    /// The next line without its end: LF, CRLF or CR. A CR at the very end of what has arrived
    /// waits for what follows it.
    fn line(&mut self) -> Option<BytesMut> {
        let end = self.buffer[self.scanned..].iter().position(|c| matches!(c, b'\n' | b'\r'));
        let Some(end) = end.map(|at| at + self.scanned) else {
            self.scanned = self.buffer.len();
            return None;
        };
        let terminator = match (self.buffer[end], self.buffer.get(end + 1)) {
            (b'\r', None) => {
                self.scanned = end;
                return None;
            }
            (b'\r', Some(b'\n')) => 2,
            _ => 1,
        };
        self.scanned = 0;
        let mut line = self.buffer.split_to(end + terminator);
        line.truncate(end);
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        for size in [1, 2, 7, text.len()] {
            let mut reader = SseReader::new(1024);
            let mut events = Vec::new();
            for chunk in text.as_bytes().chunks(size) {
                reader.push(chunk);
                while let Some(event) = reader.next().unwrap() {
                    events.push(String::from_utf8(event.to_vec()).unwrap());
                }
            }
            assert_eq!(events, expected, "{text:?} in pieces of {size}");
        }
    }

    #[test]
    fn events_arrive_whole_however_they_are_cut() {
        check("data: {\"a\":1}\n\n", &["{\"a\":1}"]);
        check("event: message\r\nid: 1\r\ndata:x\r\n\r\ndata: y\r\n\r\n", &["x", "y"]);
        check(": keep-alive\n\nid: 7\ndata:\n\ndata: a\ndata: b\n\n", &["", "a\nb"]);
        check("data: unfinished\n", &[]);
    }

    #[test]
    fn an_event_without_end_is_refused_at_the_bound() {
        for piece in ["x", "data: x\n"] {
            let mut reader = SseReader::new(1024);
            reader.push(b"data: ");
            let refused = (0..4096).any(|_| {
                reader.push(piece.as_bytes());
                reader.next().is_err()
            });
            assert!(refused, "{piece:?}");
            assert!(reader.buffer.len() + reader.data.len() < 4096);
        }
    }
}
