//! The floor: what the operating system alone takes for messages of the same lengths.
//!
//! Blocking TCP sockets with `TCP_NODELAY`; one send and one receive a side for a two-way. Each
//! message begins with its own length and the length of the reply that it wants (0: none), 4 octets
//! each in the machine's byte order.

use super::{Caller, serve_until_the_end};
use crate::Result;
use crate::case::{Case, Lengths, Operation};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// What a server receives at a time, unless a message is longer.
const BUFFER: usize = 64 << 10;
/// A message's two lengths.
const HEAD: usize = 8;

/// Serves each connection on a thread of its own until the input ends.
pub(super) fn serve() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::Builder::new()
        .name("acceptor".to_owned())
        .spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = std::thread::Builder::new().name("connection".to_owned());
                // Who is not served sees the connection close.
                let _ = server.spawn(move || answer(stream));
            }
        })?;
    serve_until_the_end(address.to_string())
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; BUFFER];
    let mut reply = vec![0; BUFFER];
    let mut filled = 0;
    loop {
        let read = stream.read(&mut buffer[filled..])?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let mut start = 0;
        while let Some(lengths) = head(&buffer[start..filled]) {
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
            stream.write_all(&reply[..lengths.reply])?;
        }
        buffer.copy_within(start..filled, 0);
        filled -= start;
    }
}

fn head(octets: &[u8]) -> Option<Lengths> {
    let (lengths, _) = octets.first_chunk::<HEAD>()?.as_chunks();
    let [request, reply] = lengths else {
        return None;
    };
    Some(Lengths {
        request: u32::from_ne_bytes(*request) as usize,
        reply: u32::from_ne_bytes(*reply) as usize,
    })
}

/// A connection.
pub(super) struct Client {
    stream: TcpStream,
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl Client {
    pub(super) fn new(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            request: Vec::new(),
            reply: Vec::new(),
        })
    }
}

impl Caller for Client {
    fn prepare<'c>(&'c mut self, case: Case) -> Result<Box<dyn FnMut() -> Result<()> + 'c>> {
        let lengths = case.lengths();
        self.request.clear();
        for length in [lengths.request, lengths.reply] {
            let length = u32::try_from(length)?;
            self.request.extend_from_slice(&length.to_ne_bytes());
        }
        self.request.resize(lengths.request, 0);
        self.reply.resize(lengths.reply, 0);
        Ok(Box::new(|| {
            self.stream.write_all(&self.request)?;
            self.stream.read_exact(&mut self.reply)?;
            Ok(())
        }))
    }

    fn settle(&mut self) -> Result<()> {
        self.prepare(Case::plain(Operation::CubeVoid))?()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ways_are_answered_and_one_ways_are_not_whatever_their_length() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = std::thread::spawn(move || answer(listener.accept().unwrap().0));
        let mut client = Client::new(&address).unwrap();
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
        drop(client);
        server.join().unwrap().unwrap();
    }
}
