//! The floor: what the operating system alone takes to carry messages of like lengths there and back.
//!
//! Blocking sockets, one send and one receive a side. Each message begins with its own length and the
//! length of the reply that it wants, 4 octets each in the machine's byte order.

use super::operation::Operation;
use super::peer::{Timed, nanoseconds_since};
use punctual_bench::Result;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::Instant;

/// A message's two lengths.
const HEAD: usize = 8;
/// No message is longer than this.
const LONGEST: usize = 32 << 20;
/// What a server receives at a time, unless a message is longer.
const BUFFER: usize = 64 << 10;

/// Which sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Raw {
    Tcp,
    Unix,
}

impl Raw {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Unix => "unix",
        }
    }
}

trait Stream: Read + Write + Send {}
impl<S: Read + Write + Send> Stream for S {}

/// Serves one connection on a thread of its own, and returns the address. `folder` has room for a
/// socket's file.
pub(super) fn serve(raw: Raw, folder: &Path) -> Result<String> {
    match raw {
        Raw::Tcp => {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let address = listener.local_addr()?.to_string();
            serve_one(move || {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(stream)
            })?;
            Ok(address)
        }
        Raw::Unix => {
            let path = folder.join("floor");
            let listener = UnixListener::bind(&path)?;
            serve_one(move || Ok(listener.accept()?.0))?;
            Ok(path.display().to_string())
        }
    }
}

fn serve_one<S: Stream>(accept: impl FnOnce() -> io::Result<S> + Send + 'static) -> io::Result<()> {
    // Bare thread: what the machine can do without the ORB is measured without it.
    std::thread::Builder::new()
        .name("floor".to_owned())
        .spawn(move || accept().and_then(answer))
        .map(drop)
}

/// Answers until the other end closes.
fn answer(mut stream: impl Stream) -> io::Result<()> {
    let (mut buffer, mut reply) = (vec![0; BUFFER], Vec::new());
    loop {
        let Some(wanted) = receive(&mut stream, &mut buffer)? else {
            return Ok(());
        };
        if reply.len() < wanted {
            reply.resize(wanted, 0);
        }
        stream.write_all(&reply[..wanted])?;
    }
}

/// Receives one message and returns the length of the reply that it wants; `None` at the end.
fn receive(stream: &mut impl Read, buffer: &mut Vec<u8>) -> io::Result<Option<usize>> {
    let mut filled = 0;
    loop {
        match stream.read(&mut buffer[filled..])? {
            0 => return Ok(None),
            read => filled += read,
        }
        let Some((request, reply)) = lengths(&buffer[..filled]) else {
            continue;
        };
        if request > LONGEST || reply > LONGEST || filled > request {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if filled == request {
            return Ok(Some(reply));
        }
        if buffer.len() < request {
            buffer.resize(request, 0);
        }
    }
}

fn lengths(octets: &[u8]) -> Option<(usize, usize)> {
    let (request, rest) = octets.split_first_chunk::<4>()?;
    let (reply, _) = rest.split_first_chunk::<4>()?;
    let length = |octets: &[u8; 4]| u32::from_ne_bytes(*octets) as usize;
    Some((length(request), length(reply)))
}

/// A connection.
pub(super) struct Client {
    stream: Box<dyn Stream>,
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl Client {
    pub(super) fn new(raw: Raw, address: &str) -> Result<Self> {
        let stream: Box<dyn Stream> = match raw {
            Raw::Tcp => {
                let stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
            Raw::Unix => Box::new(UnixStream::connect(address)?),
        };
        Ok(Self {
            stream,
            request: Vec::new(),
            reply: Vec::new(),
        })
    }

    pub(super) fn prepare(&mut self, operation: Operation) -> Result<Timed<'_>> {
        let lengths = operation.like().lengths();
        let request = lengths.request.max(HEAD);
        self.request.clear();
        for length in [request, lengths.reply] {
            let length = u32::try_from(length)?;
            self.request.extend_from_slice(&length.to_ne_bytes());
        }
        self.request.resize(request, 0);
        self.reply.resize(lengths.reply, 0);
        Ok(Box::new(|| {
            let began = Instant::now();
            self.stream.write_all(&self.request)?;
            self.stream.read_exact(&mut self.reply)?;
            Ok(nanoseconds_since(began))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::operation::{FIGURE_16, LENT};
    use super::*;

    #[test]
    fn every_operation_is_answered_over_either_socket() {
        for raw in [Raw::Tcp, Raw::Unix] {
            let folder = tempfile::tempdir().unwrap();
            let address = serve(raw, folder.path()).unwrap();
            let mut client = Client::new(raw, &address).unwrap();
            for operation in FIGURE_16.into_iter().chain(LENT) {
                let mut call = client.prepare(operation).unwrap();
                for _ in 0..3 {
                    assert!(call().unwrap() > 0);
                }
            }
        }
    }

    #[test]
    fn a_message_that_claims_too_much_ends_its_connection() {
        let mut buffer = vec![0; BUFFER];
        for lengths in [[u32::MAX, 8], [8, u32::MAX], [4, 8]] {
            let octets: Vec<u8> = lengths.iter().flat_map(|one| one.to_ne_bytes()).collect();
            let refused = receive(&mut octets.as_slice(), &mut buffer).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
        }
        assert_eq!(
            receive(&mut [0_u8; 3].as_slice(), &mut buffer).unwrap(),
            None
        );
    }
}
