//! Raw stream sockets, TCP with `TCP_NODELAY` or Unix, blocking or spinning.

use super::{LONGEST, head, request_of};
use crate::Result;
use crate::case::{Case, Operation};
use crate::peer::{Caller, race, serve_until_the_end};
use crate::protocol::References;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// Size of a server's receive buffer in bytes, unless a message is longer.
const BUFFER: usize = 64 << 10;
/// Time for which a spinning side spins before it blocks: longer than any call, and short enough to
/// leave the processor to others when it is not its turn.
const SPIN: Duration = Duration::from_millis(2);
/// Number of spins between two readings of the clock.
const LOOKS: u32 = 64;

/// Kind of sockets: their address family, and whether their readers block or spin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) link: Link,
    pub(crate) spins: bool,
}

/// Address family of the baseline's sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    Tcp,
    Unix,
}

/// Serves each connection on a thread of its own until the input ends.
pub(in crate::peer) fn serve(kind: Kind) -> Result<()> {
    // The folder holds the Unix socket's file, and is removed with it.
    let folder = tempfile::tempdir()?;
    let listener = Listener::bind(kind.link, &folder)?;
    let address = listener.address(&folder)?;
    std::thread::Builder::new()
        .name("acceptor".to_owned())
        .spawn(move || {
            while let Ok(socket) = listener.accept(kind.spins) {
                let server = std::thread::Builder::new().name("connection".to_owned());
                // A client whose connection gets no thread sees it close.
                let _ = server.spawn(move || answer(&socket));
            }
        })?;
    serve_until_the_end(address)
}

/// Listening socket.
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    pub(crate) fn bind(link: Link, folder: &tempfile::TempDir) -> io::Result<Self> {
        Ok(match link {
            Link::Tcp => Self::Tcp(TcpListener::bind("127.0.0.1:0")?),
            Link::Unix => Self::Unix(UnixListener::bind(folder.path().join("floor"))?),
        })
    }

    /// Returns the address that clients connect to.
    pub(crate) fn address(&self, folder: &tempfile::TempDir) -> io::Result<String> {
        Ok(match self {
            Self::Tcp(listener) => listener.local_addr()?.to_string(),
            Self::Unix(_) => folder.path().join("floor").display().to_string(),
        })
    }

    pub(crate) fn accept(&self, spins: bool) -> io::Result<Socket> {
        Ok(match self {
            Self::Tcp(listener) => Socket::tcp(listener.accept()?.0, spins)?,
            Self::Unix(listener) => Socket::new(listener.accept()?.0.into(), spins),
        })
    }
}

/// Connected socket.
#[derive(Debug)]
pub(crate) struct Socket {
    descriptor: OwnedFd,
    spins: bool,
}

impl Socket {
    fn new(descriptor: OwnedFd, spins: bool) -> Self {
        Self { descriptor, spins }
    }

    fn tcp(stream: TcpStream, spins: bool) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self::new(stream.into(), spins))
    }

    pub(crate) fn connect(kind: Kind, address: &str) -> io::Result<Self> {
        match kind.link {
            Link::Tcp => Self::tcp(TcpStream::connect(address)?, kind.spins),
            Link::Unix => Ok(Self::new(UnixStream::connect(address)?.into(), kind.spins)),
        }
    }

    /// Limits the time that a receive waits; one that takes longer fails.
    pub(crate) fn limit_receiving(&self, limit: Duration) -> io::Result<()> {
        Ok(rustix::net::sockopt::set_socket_timeout(
            &self.descriptor,
            rustix::net::sockopt::Timeout::Recv,
            Some(limit),
        )?)
    }

    /// Receives the available data, and waits until there is some; returns 0 at the end of the
    /// stream.
    fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.spins
            && let Some(received) = self.spin(buffer)?
        {
            return Ok(received);
        }
        loop {
            match rustix::net::recv(&self.descriptor, &mut *buffer, RecvFlags::empty()) {
                Ok((received, _)) => return Ok(received),
                Err(Errno::INTR) => {}
                Err(failed) => return Err(failed.into()),
            }
        }
    }

    /// Spins until data arrive; returns `None` if none have arrived within the spin time.
    fn spin(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let began = Instant::now();
        loop {
            for _ in 0..LOOKS {
                match rustix::net::recv(&self.descriptor, &mut *buffer, RecvFlags::DONTWAIT) {
                    Ok((received, _)) => return Ok(Some(received)),
                    Err(Errno::AGAIN | Errno::INTR) => std::hint::spin_loop(),
                    Err(failed) => return Err(failed.into()),
                }
            }
            if began.elapsed() > SPIN {
                return Ok(None);
            }
        }
    }

    /// Receives bytes from the socket until the buffer is full.
    pub(crate) fn read_exact(&self, buffer: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.receive(&mut buffer[filled..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                received => filled += received,
            }
        }
        Ok(())
    }

    pub(crate) fn send_all(&self, mut octets: &[u8]) -> io::Result<()> {
        while !octets.is_empty() {
            match rustix::net::send(&self.descriptor, octets, SendFlags::NOSIGNAL) {
                Ok(sent) => octets = &octets[sent..],
                Err(Errno::INTR) => {}
                Err(failed) => return Err(failed.into()),
            }
        }
        Ok(())
    }
}

/// Answers messages on the socket until the other end closes it.
fn answer(socket: &Socket) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    let mut reply = vec![0; BUFFER];
    let mut filled = 0;
    loop {
        let read = socket.receive(&mut buffer[filled..])?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let mut start = 0;
        while let Some(lengths) = head(&buffer[start..filled]) {
            if lengths.request > LONGEST || lengths.reply > LONGEST {
                return Err(io::ErrorKind::InvalidData.into());
            }
            if buffer.len() < lengths.request {
                buffer.resize(lengths.request, 0);
            }
            if filled - start < lengths.request {
                break;
            }
            start += lengths.request;
            if reply.len() < lengths.reply {
                reply.resize(lengths.reply, 0);
            }
            socket.send_all(&reply[..lengths.reply])?;
        }
        buffer.copy_within(start..filled, 0);
        filled -= start;
    }
}

/// Client's end of a raw-socket connection, without an ORB.
pub(in crate::peer) struct Client {
    kind: Kind,
    address: String,
    socket: Socket,
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl Client {
    pub(in crate::peer) fn new(kind: Kind, address: &str) -> Result<Self> {
        Ok(Self {
            kind,
            address: address.to_owned(),
            socket: Socket::connect(kind, address)?,
            request: Vec::new(),
            reply: Vec::new(),
        })
    }

    fn exchange(socket: &Socket, request: &[u8], reply: &mut [u8]) -> Result<()> {
        socket.send_all(request)?;
        Ok(socket.read_exact(reply)?)
    }
}

impl Caller for Client {
    fn prepare<'c>(&'c mut self, case: Case) -> Result<Box<dyn FnMut() -> Result<()> + 'c>> {
        let lengths = request_of(case, &mut self.request)?;
        self.reply.resize(lengths.reply, 0);
        Ok(Box::new(|| {
            Self::exchange(&self.socket, &self.request, &mut self.reply)
        }))
    }

    fn settle(&mut self) -> Result<()> {
        self.prepare(Case::plain(Operation::CubeVoid))?()
    }

    /// Makes calls by several threads, each with a connection of its own, whether they share a
    /// reference or not.
    fn flood(&mut self, threads: u32, calls: u32, _: References) -> Result<Duration> {
        let lengths = request_of(Case::plain(Operation::CubeVoid), &mut self.request)?;
        let request = &self.request;
        let callers = (0..threads).map(|_| {
            let socket = Socket::connect(self.kind, &self.address)?;
            let mut reply = vec![0; lengths.reply];
            Ok(move || Self::exchange(&socket, request, &mut reply))
        });
        race(callers.collect::<Result<_>>()?, calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_server(kind: Kind, check: impl FnOnce(Client)) {
        let folder = tempfile::tempdir().unwrap();
        let listener = Listener::bind(kind.link, &folder).unwrap();
        let address = listener.address(&folder).unwrap();
        let server = std::thread::spawn(move || answer(&listener.accept(kind.spins).unwrap()));
        check(Client::new(kind, &address).unwrap());
        server.join().unwrap().unwrap();
    }

    #[test]
    fn two_ways_are_answered_and_one_ways_are_not_whatever_their_length() {
        for link in [Link::Tcp, Link::Unix] {
            for spins in [false, true] {
                with_server(Kind { link, spins }, |mut client| {
                    for (operation, units) in [
                        (Operation::EchoOctets, 1),
                        (Operation::ThrowBinStructs, 1024),
                        (Operation::ThrowOctets, 3),
                        (Operation::EchoOctets, 1 << 20),
                        (Operation::TakeBinStructs, 7),
                    ] {
                        let mut call = client.prepare(Case::sized(operation, units)).unwrap();
                        for _ in 0..10 {
                            call().unwrap();
                        }
                    }
                    client.settle().unwrap();
                });
            }
        }
    }

    #[test]
    fn a_message_that_claims_too_much_ends_its_connection() {
        let (client, server) = UnixStream::pair().unwrap();
        let client = Socket::new(client.into(), false);
        let octets: Vec<u8> = [u32::MAX, 8]
            .iter()
            .flat_map(|one| one.to_ne_bytes())
            .collect();
        client.send_all(&octets).unwrap();
        let refused = answer(&Socket::new(server.into(), false)).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
    }
}
