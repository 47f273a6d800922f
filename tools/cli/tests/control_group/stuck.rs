//! Replies that wait in their server, as their clients read nothing.
//!
//! The kernel's buffers on both sides are small. A reply that is longer than both together waits in the
//! server from its first byte on, until its client reads.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use punctual_giop::MessageHeader;
use rustix::net::sockopt::set_socket_recv_buffer_size;
use rustix::net::{AddressFamily, SocketType, connect as connect_to, socket};

use crate::services::Served;

/// Size of each side's buffer, in bytes. The kernel doubles it.
pub(crate) const BUFFER: usize = 32 << 10;
/// Bytes that both buffers have room for at most.
const ROOM: usize = 2 * 2 * BUFFER;

/// State of a connection that neither end has closed, in `/proc/net/tcp`.
const ESTABLISHED: &str = "01";

/// Interval between two looks at the connections.
const LOOKS: Duration = Duration::from_millis(10);

/// Connects with a small buffer for what is received.
///
/// # Errors
/// If no server listens there.
pub(crate) fn connect(place: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    set_socket_recv_buffer_size(&socket, BUFFER)?;
    connect_to(&socket, &place)?;
    Ok(TcpStream::from(socket))
}

/// Waits until the server has replies that it cannot send, and returns their number.
pub(crate) fn wait_until_some_are(clients: &[TcpStream], served: &Served) -> usize {
    loop {
        assert!(served.is_alive(), "{}", served.end());
        let is_stuck = |client: &&TcpStream| is_stuck(client, served.place.address);
        match clients.iter().filter(is_stuck).count() {
            0 => std::thread::sleep(LOOKS),
            stuck => return stuck,
        }
    }
}

/// Returns `true` if a part of a reply to the client is still in the server's memory, and stays there.
fn is_stuck(client: &TcpStream, server: SocketAddr) -> bool {
    let mut received = vec![0; ROOM];
    let Ok(count) = client.peek(&mut received) else {
        return false;
    };
    let Some((length, end)) = last_message(&received[..count]) else {
        return false;
    };
    let here = client.local_addr().ok();
    let sent = here.and_then(|here| send_queue(server, here));
    // What is received and not acknowledged counts twice, so that there is at least this much more.
    length > ROOM && sent.is_some_and(|sent| end > count + sent)
}

/// Returns the length of the last message that has begun, and where it ends.
fn last_message(received: &[u8]) -> Option<(usize, usize)> {
    let mut last = None;
    let mut rest = received;
    while let Some(header) = rest.first_chunk() {
        let length = MessageHeader::parse(header).unwrap().message_len();
        last = Some((length, received.len() - rest.len() + length));
        rest = rest.get(length..).unwrap_or_default();
    }
    last
}

/// Returns the number of bytes that the kernel has sent without an acknowledgement, or has to send;
/// `None` without such a connection, or if one end has closed it.
fn send_queue(from: SocketAddr, to: SocketAddr) -> Option<usize> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port = |place: &str| u16::from_str_radix(place.split_once(':')?.1, 16).ok();
    table.lines().find_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let ends = [port(fields.next()?), port(fields.next()?)];
        let (state, queues) = (fields.next()?, fields.next()?);
        if ends != [Some(from.port()), Some(to.port())] || state != ESTABLISHED {
            return None;
        }
        usize::from_str_radix(queues.split_once(':')?.0, 16).ok()
    })
}
