//! Lines off a byte stream, with a bound on what one line may hold in memory.
//! The framing of the stdio transport on either side of it; no JSON here.

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// How much of either end of a line that is too long is kept, to find out whose answer it was.
const KEPT: usize = 64;

/// A line that has grown to this many times the bound is not waited for any longer.
const ENDLESS: usize = 16;

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A line without its end.
    Whole(Bytes),
    /// It ended, and was longer than the bound: its first and its last bytes.
    TooLong { start: Bytes, end: Bytes },
    /// It does not end.
    Endless,
    /// The stream ended. Half a line before that is no message.
    End,
}

/// Reads lines of at most `limit` bytes.
#[derive(Debug)]
pub struct LineReader<R> {
    source: R,
    line: BytesMut,
    /// The end of a line that is too long.
    end: BytesMut,
    /// Bytes of the present line that were dropped.
    dropped: usize,
    limit: usize,
}

impl<R: AsyncBufRead + Unpin> LineReader<R> {
    pub fn new(source: R, limit: usize) -> Self {
        Self { source, line: BytesMut::new(), end: BytesMut::new(), dropped: 0, limit }
    }

    pub fn limit(&self) -> u64 {
        self.limit as u64
    }

    /// The next line without its end. What was read stays when the future is dropped.
    pub async fn next(&mut self) -> std::io::Result<Line> {
        loop {
            let available = self.source.fill_buf().await?;
            if available.is_empty() {
                return Ok(Line::End);
            }
            let end = available.iter().position(|c| *c == b'\n');
            let taken = end.unwrap_or(available.len());
            if self.dropped > 0 || self.line.len() + taken > self.limit {
                if self.dropped == 0 {
                    self.end = self.line.split_off(self.line.len().min(KEPT));
                }
                let room = KEPT.saturating_sub(self.line.len()).min(taken);
                self.line.extend_from_slice(&available[..room]);
                self.end.extend_from_slice(&available[taken.saturating_sub(KEPT)..taken]);
                let surplus = self.end.len().saturating_sub(KEPT);
                self.end = self.end.split_off(surplus);
                self.dropped += taken.max(1);
            } else {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.source.consume(taken + usize::from(end.is_some()));
            let dropped = self.dropped;
            if end.is_some() {
                self.dropped = 0;
                let line = self.line.split().freeze();
                return Ok(if dropped > 0 {
                    Line::TooLong { start: line, end: self.end.split().freeze() }
                } else {
                    Line::Whole(line)
                });
            }
            if dropped > self.limit.saturating_mul(ENDLESS) {
                return Ok(Line::Endless);
            }
        }
    }
}

/// A JSON message as a line. A line end outside of strings is white space, and inside of them
/// JSON has none.
pub fn one_line(mut message: Vec<u8>) -> Vec<u8> {
    message.iter_mut().filter(|c| matches!(c, b'\n' | b'\r')).for_each(|c| *c = b' ');
    message.push(b'\n');
    message
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    async fn check(text: &str, expected: &[Line]) {
        for size in [1, 3, 64] {
            let mut reader = LineReader::new(BufReader::with_capacity(size, text.as_bytes()), 8);
            for line in expected {
                assert_eq!(reader.next().await.unwrap(), *line, "{text:?} in pieces of {size}");
            }
        }
    }

    fn whole(text: &'static str) -> Line {
        Line::Whole(Bytes::from_static(text.as_bytes()))
    }

    #[tokio::test]
    async fn lines_arrive_whole_and_long_ones_do_not_stop_the_next() {
        check("a\n\nbc\nhalf", &[whole("a"), whole(""), whole("bc"), Line::End]).await;
        check("12345678\nx\n", &[whole("12345678"), whole("x"), Line::End]).await;
        let long = |end: &'static str| Line::TooLong {
            start: Bytes::from_static(b"123456789"),
            end: Bytes::from_static(end.as_bytes()),
        };
        // How much of a short line stands at both ends depends on the pieces it came in.
        let mut reader = LineReader::new(BufReader::new(&b"123456789\nx\n"[..]), 8);
        assert_eq!(reader.next().await.unwrap(), long("123456789"));
        assert_eq!(reader.next().await.unwrap(), whole("x"));
        let text = format!("{}{}\nx\n", "a".repeat(500), "b".repeat(500));
        for size in [1, 7, 64, 2000] {
            let source = BufReader::with_capacity(size, text.as_bytes());
            let mut reader = LineReader::new(source, 100);
            match reader.next().await.unwrap() {
                Line::TooLong { start, end } => {
                    assert_eq!((start.len(), end.len()), (KEPT, KEPT), "pieces of {size}");
                    assert!(start.iter().all(|c| *c == b'a') && end.iter().all(|c| *c == b'b'));
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(reader.next().await.unwrap(), whole("x"));
        }
    }

    #[tokio::test]
    async fn a_line_without_end_is_given_up_with_bounded_memory() {
        let text = "x".repeat(1000);
        let mut reader = LineReader::new(BufReader::with_capacity(16, text.as_bytes()), 8);
        assert_eq!(reader.next().await.unwrap(), Line::Endless);
        assert!(reader.line.len() <= KEPT);
    }
}
