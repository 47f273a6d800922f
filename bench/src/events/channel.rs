//! Channel's process of `latency`: an event service, or raw sockets that send each message back.

use super::priorities::SUPPLIER;
use super::setup::{Remote, Through};
use crate::Result;
use crate::case::{Case, Operation};
use crate::peer::serve_until_the_end;
use crate::peer::socket::{Listener, Socket};
use punctual::{Orb, RootPoa};
use punctual_rtevent::{
    ChannelOptions, Dispatching, Overflow, QueueOptions, Threads, ThreadsOptions,
};
use punctual_rtevent_service::{EventService, ServiceOptions};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Time that a supplier waits for room in a queue: long, for busy machines.
const LONGEST: Duration = Duration::from_secs(30);

/// Bytes of an event in a message besides its payload: type, source, ttl, three times, an empty
/// `any`, and padding.
const EVENT: usize = 48;

/// Returns the length of a raw message: that of a push with one event.
pub(super) fn message(octets: usize) -> usize {
    let octets = u32::try_from(octets).unwrap_or(u32::MAX);
    Case::sized(Operation::ThrowOctets, octets)
        .lengths()
        .request
        + EVENT
}

/// Serves until the input ends.
///
/// # Errors
/// The endpoint or a thread cannot be made, or the scheduling is not granted.
pub(super) fn serve(setup: &Remote) -> Result<()> {
    punctual_sys::scheduling::set_own(setup.policy.at(SUPPLIER))?;
    match setup.through {
        Through::Floor => send_back(setup),
        Through::Reactive => serve_channel(setup, Dispatching::Reactive),
        Through::Threads => {
            let threads = Threads::new(ThreadsOptions::default())?;
            serve_channel(setup, Dispatching::Queued(Arc::new(threads)))
        }
    }
}

fn serve_channel(setup: &Remote, dispatching: Dispatching) -> Result<()> {
    let service = EventService::new(ServiceOptions {
        channel: ChannelOptions {
            dispatching,
            ..ChannelOptions::default()
        },
        // Nothing is lost in `throughput`.
        queue: QueueOptions {
            overflow: Overflow::Block(LONGEST),
            ..QueueOptions::default()
        },
        ..ServiceOptions::default()
    })?;
    let orb = Orb::builder().listen(setup.link.endpoint()?).build()?;
    let poa = orb.root_poa()?;
    let channel = service.serve(&poa)?;
    let reference = orb.object_to_string(&channel)?;
    poa.manager().activate()?;
    serve_until_the_end(reference)?;
    Ok(orb.shutdown(true)?)
}

/// Accepts a connection, and sends its messages back.
fn send_back(setup: &Remote) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let listener = Listener::bind(setup.link.sockets().link, &folder)?;
    let address = listener.address(&folder)?;
    let length = message(setup.octets);
    let acceptor = std::thread::Builder::new().name("floor".to_owned());
    acceptor.spawn(move || echo(&listener.accept(false)?, length))?;
    serve_until_the_end(address)
}

/// Sends messages of a length back until the other end closes the connection.
fn echo(socket: &Socket, length: usize) -> io::Result<()> {
    let mut message = vec![0; length];
    loop {
        socket.read_exact(&mut message)?;
        socket.send_all(&message)?;
    }
}
