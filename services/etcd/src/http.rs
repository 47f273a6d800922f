//! HTTP/1.1, as far as etcd's gateway needs it: a POST of JSON and its reply, whole or line by
//! line.
//!
//! Calls block their thread, at most until a time-out: no wait is longer than the limit with which
//! the connection was opened. The lengths of all data from a server are limited before the data is
//! stored.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;

use crate::stream::Stream;

/// Maximum length of a reply's head, in bytes; the constant below limits a line of a stream and a
/// whole reply.
const MOST_HEAD: u64 = 16 << 10;
const MOST_BODY: u64 = 64 << 20;

/// Connection to one server, for one request at a time.
pub(crate) struct Connection {
    stream: BufReader<Stream>,
    host: String,
    token: Option<String>,
}

/// Head of a reply: its status, and the length of its body.
struct Head {
    status: u16,
    length: Length,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Bytes(u64),
    Chunked,
}

/// Endless reply: a stream of lines, each of them JSON.
#[derive(Debug)]
pub struct Lines {
    connection: Connection,
    chunk: u64,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a connection to {}", self.host)
    }
}

impl Connection {
    /// Connects to `host:port`, with TLS if it is given. `patience` limits the connecting, and each
    /// later wait.
    pub(crate) fn open(
        host: &str,
        patience: Duration,
        tls: Option<&Arc<ClientConfig>>,
    ) -> io::Result<Self> {
        let stream = Stream::open(host, patience, tls)?;
        Ok(Self {
            stream: BufReader::new(stream),
            host: host.to_owned(),
            token: None,
        })
    }

    /// Returns the connection, which then sends an authentication token with each request.
    pub(crate) fn with_token(mut self, token: String) -> Self {
        self.token = Some(token);
        self
    }

    /// Posts JSON; returns the status and body of the reply.
    pub(crate) fn post(&mut self, path: &str, body: &[u8]) -> io::Result<(u16, Vec<u8>)> {
        self.send(path, body)?;
        let head = self.head()?;
        let mut reply = Vec::new();
        match head.length {
            Length::Bytes(length) => self.append(length, &mut reply)?,
            Length::Chunked => loop {
                let length = self.chunk()?;
                if length == 0 {
                    self.line(MOST_HEAD)?;
                    break;
                }
                self.append(length, &mut reply)?;
                self.line(MOST_HEAD)?;
            },
        }
        Ok((head.status, reply))
    }

    /// Posts JSON, and returns the reply as a stream.
    pub(crate) fn stream(mut self, path: &str, body: &[u8]) -> io::Result<Lines> {
        self.send(path, body)?;
        let head = self.head()?;
        match (head.status, head.length) {
            (200, Length::Chunked) => Ok(Lines {
                connection: self,
                chunk: 0,
            }),
            (status, _) => Err(broken(&format!("status {status} instead of a stream"))),
        }
    }

    fn send(&mut self, path: &str, body: &[u8]) -> io::Result<()> {
        let mut request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
            self.host,
            body.len()
        );
        if let Some(token) = &self.token {
            request.extend(["Authorization: ", token, "\r\n"]);
        }
        request.push_str("\r\n");
        let mut request = request.into_bytes();
        request.extend_from_slice(body);
        let stream = self.stream.get_mut();
        stream.write_all(&request)?;
        stream.flush()
    }

    /// Reads the status line and the header fields of an HTTP reply.
    fn head(&mut self) -> io::Result<Head> {
        let first = self.line(MOST_HEAD)?;
        let status = first.split(' ').nth(1).and_then(|word| word.parse().ok());
        let status = status.ok_or_else(|| broken("the reply is not HTTP"))?;
        let (mut length, mut room) = (Length::Bytes(0), MOST_HEAD);
        loop {
            let line = self.line(room)?;
            room = room.saturating_sub(line.len() as u64 + 2);
            if line.is_empty() {
                return Ok(Head { status, length });
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.trim();
            if name.eq_ignore_ascii_case("transfer-encoding") {
                length = Length::Chunked;
            } else if name.eq_ignore_ascii_case("content-length") && length != Length::Chunked {
                let bytes = value.parse().ok().filter(|bytes| *bytes <= MOST_BODY);
                length = Length::Bytes(bytes.ok_or_else(|| broken("the reply is too long"))?);
            }
        }
    }

    /// Reads the length of the next chunk of a chunked HTTP reply, in bytes.
    fn chunk(&mut self) -> io::Result<u64> {
        let line = self.line(MOST_HEAD)?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let length = u64::from_str_radix(digits, 16);
        let length = length.ok().filter(|length| *length <= MOST_BODY);
        length.ok_or_else(|| broken("a chunk is too long or malformed"))
    }

    fn append(&mut self, length: u64, to: &mut Vec<u8>) -> io::Result<()> {
        if to.len() as u64 + length > MOST_BODY {
            return Err(broken("the reply is too long"));
        }
        let read = self.stream.by_ref().take(length).read_to_end(to)?;
        match read as u64 == length {
            true => Ok(()),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Reads a line, and returns it without the line end.
    fn line(&mut self, most: u64) -> io::Result<String> {
        let mut line = Vec::new();
        self.stream
            .by_ref()
            .take(most)
            .read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            return Err(match line.len() as u64 + 1 >= most {
                true => broken("a line is too long"),
                false => io::ErrorKind::UnexpectedEof.into(),
            });
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        String::from_utf8(line).map_err(|_| broken("a line is not UTF-8"))
    }
}

impl Lines {
    /// Returns a handle of the socket. Shutting it down ends the stream.
    #[must_use]
    pub fn closer(&self) -> Option<TcpStream> {
        self.connection.stream.get_ref().tcp().try_clone().ok()
    }

    /// Reads the next line. Blocks until it has arrived, or until nothing has arrived for the
    /// connection's time limit.
    ///
    /// # Errors
    /// The stream has ended, or is malformed.
    #[allow(
        clippy::should_implement_trait,
        reason = "an iterator would end at an error"
    )]
    pub fn next(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        loop {
            if self.chunk == 0 {
                self.chunk = self.connection.chunk()?;
                if self.chunk == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            let before = line.len();
            let mut chunk = self.connection.stream.by_ref().take(self.chunk);
            chunk.read_until(b'\n', &mut line)?;
            let read = (line.len() - before) as u64;
            self.chunk -= read;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if self.chunk == 0 {
                self.connection.line(MOST_HEAD)?;
            }
            if line.last() == Some(&b'\n') {
                line.pop();
                return Ok(line);
            }
            if line.len() as u64 > MOST_BODY {
                return Err(broken("a line of the stream is too long"));
            }
        }
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Starts a server that reads a request and answers it with these bytes.
    fn answering(reply: &'static [u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            let (mut peer, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            assert!(peer.read(&mut request).unwrap() > 0);
            // The client may have gone, as it has read enough.
            let _ = peer.write_all(reply);
        });
        host
    }

    fn opened(reply: &'static [u8]) -> Connection {
        Connection::open(&answering(reply), Duration::from_secs(20), None).unwrap()
    }

    #[test]
    fn a_reply_is_read_by_its_length_or_in_chunks() {
        let by_length = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n{ }\n";
        assert_eq!(
            opened(by_length).post("/", b"{}").unwrap(),
            (200, b"{ }\n".to_vec())
        );
        let chunked =
            b"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
        assert_eq!(
            opened(chunked).post("/", b"{}").unwrap(),
            (404, b"abc".to_vec())
        );
    }

    #[test]
    fn a_stream_comes_line_by_line_however_it_is_cut_into_chunks() {
        let reply = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na\nb\r\n2\r\nc\n\r\n0\r\n\r\n";
        let mut lines = opened(reply).stream("/", b"{}").unwrap();
        assert_eq!(lines.next().unwrap(), b"a");
        assert_eq!(lines.next().unwrap(), b"bc");
        assert!(lines.next().is_err());
    }

    #[test]
    fn replies_that_are_cut_off_too_long_or_no_http_are_errors() {
        let replies: [&[u8]; 6] = [
            b"",
            b"nonsense\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
            b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ];
        for reply in replies {
            assert!(opened(reply).post("/", b"{}").is_err());
        }
    }
}
