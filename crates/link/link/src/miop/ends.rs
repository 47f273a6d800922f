//! The two ends: a socket that sends to a group, and one that is a member of it.

use super::address::{NAME, group};
use super::assembly::{Assembly, MessageFilter};
use super::counts::Counters;
use super::options::MiopOptions;
use super::sending::Packets;
use crate::datagram::{self, DatagramConnection, Listening, Tally, dial, from_socket};
use crate::{Acceptor, Address, Connection, LinkError, Phase};
use punctual_sys::multicast;
use std::io;
use std::sync::Arc;
use std::time::Duration;

pub(super) fn connect(
    address: &Address,
    options: &MiopOptions,
    counters: &Arc<Counters>,
) -> Result<Arc<dyn Connection>, LinkError> {
    let group = group(address, Phase::Connect)?;
    let (ttl, loopback) = (options.ttl, options.loopback);
    let dialled = dial(group, |socket| {
        options.datagrams.apply(socket)?;
        multicast::set_sending(socket, group.ip(), &options.interface, ttl, loopback)
    });
    let (socket, local) = dialled.map_err(|error| LinkError::os(Phase::Connect, error))?;
    let ends = (
        from_socket(NAME, local),
        Address::new(NAME, address.place()),
    );
    let packets = Packets::new(options, counters.clone());
    let socket = (socket, options.datagrams.marking());
    Ok(Arc::new(DatagramConnection::new(socket, ends, packets)))
}

pub(super) fn listen(
    address: &Address,
    options: MiopOptions,
    filter: Option<MessageFilter>,
    (counters, tally): (Arc<Counters>, Tally),
) -> Result<Box<dyn Acceptor>, LinkError> {
    let group = group(address, Phase::Listen)?;
    let begin = || -> io::Result<Box<dyn Acceptor>> {
        let socket = multicast::bind(group, &options.interface)?;
        options.datagrams.apply(&socket)?;
        multicast::join(&socket, group.ip(), &options.interface, &options.sources)?;
        let listening = Listening {
            link: NAME,
            thread: "punctual-miop",
            address: from_socket(NAME, socket.local_addr()?),
            options: options.datagrams,
            look: (options.age / 4).max(Duration::from_millis(1)),
            answers: false,
            tally,
        };
        let assembly = Assembly::new(options, filter, counters);
        datagram::begin(socket, listening, assembly)
    };
    begin().map_err(|error| LinkError::os(Phase::Listen, error))
}
