//! Channels and connections that a store has kept: they are made again when the service is served. What cannot be made then
//! stays in the store, and is tried again from time to time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::channels::Channels;
use crate::kept::{Channel, Connection, EventInterface};
use crate::obtain;
use crate::refusal::Refusal;
use crate::storage::{Change, Kept};
use crate::typed;

/// Time after which what could not be made is tried again; each further time is twice as long, up to the longest.
const RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// Records of which nothing is served yet.
struct Records {
    /// Channels with their numbers, and whether they are typed.
    channels: Vec<(u64, Channel, bool)>,
    connections: Vec<(u64, Connection)>,
    /// Interfaces of typed proxies, by the proxies' numbers.
    interfaces: HashMap<u64, EventInterface>,
}

/// Makes the channels and proxies that were kept. What cannot be made is reported, and tried again.
pub(crate) fn restore(channels: &Arc<Channels>, kept: Kept) {
    let untyped = kept.channels.into_iter();
    let untyped = untyped.map(|(number, channel)| (number, channel, false));
    let typed = kept.typed_channels.into_iter();
    let typed = typed.map(|(number, channel)| (number, channel, true));
    let records = Records {
        channels: untyped.chain(typed).collect(),
        connections: kept.connections,
        interfaces: kept.interfaces,
    };
    attempt(channels, records, RETRY, true);
}

/// Makes what can be made, and has the rest tried again after a time.
fn attempt(channels: &Arc<Channels>, mut records: Records, again: Duration, is_first: bool) {
    let mut interfaces = HashMap::new();
    records.channels.retain(|(number, channel, is_typed)| {
        let made = channels.restore(*number, channel, *is_typed);
        is_left(made, "a channel", is_first)
    });
    let (waiting, of_typed) = (&records.channels, &records.interfaces);
    records.connections.retain(|(number, connection)| {
        let has_channel = channels.get(connection.channel).is_some();
        if !has_channel && waiting.iter().all(|(of, ..)| *of != connection.channel) {
            tracing::warn!("a connection that was kept has no channel, and is removed");
            let _ = channels.common.keep(Change::Connection(*number, None));
            return false;
        }
        let interface = of_typed.get(number);
        let interface = interface.map(|record| shared(&mut interfaces, record));
        let made = connect(channels, (*number, connection), interface);
        is_left(made, "a connection", is_first)
    });
    channels
        .common
        .note_waiting(!records.connections.is_empty());
    if !records.channels.is_empty() || !records.connections.is_empty() {
        try_later(channels, records, again);
    }
}

fn try_later(channels: &Arc<Channels>, records: Records, time: Duration) {
    let own = Arc::downgrade(channels);
    let next = time.saturating_mul(2).min(LONGEST_RETRY);
    channels.common.timetable.after(time, move || {
        // At the end of the service, all stays for the next start.
        let own = own.upgrade();
        let Some(channels) = own.filter(|channels| !channels.common.is_ending()) else {
            return;
        };
        // Making a proxy may call an Interface Repository.
        let checks = channels.clone();
        checks
            .common
            .checks
            .run(move || attempt(&channels, records, next, false));
    });
}

/// Makes the proxy of a connection, and connects it.
fn connect(
    channels: &Channels,
    (number, connection): (u64, &Connection),
    interface: Option<Arc<typed::Interface>>,
) -> Result<(), Refusal> {
    let channel = channels.get(connection.channel).ok_or(Refusal::Destroyed)?;
    let peer = match connection.peer.as_str() {
        "" => None,
        text => {
            let peer = channels.orb().string_to_object(text);
            Some(peer.map_err(|exception| Refusal::NoResources(exception.to_string()))?)
        }
    };
    match interface {
        None => obtain::restored(&channel, number, connection.kind, peer),
        Some(interface) => typed::restored(&channel, number, (connection.kind, interface), peer),
    }
}

/// Returns whether something could not be made, which is reported the first time.
fn is_left(made: Result<(), Refusal>, what: &str, is_first: bool) -> bool {
    if let Err(refusal) = &made
        && is_first
    {
        tracing::warn!(
            "{what} that was kept is not served, stays in the store, and is tried again: {refusal}"
        );
    }
    made.is_err()
}

/// Returns the interface of a record, which proxies with equal records share.
fn shared(
    known: &mut HashMap<String, Arc<typed::Interface>>,
    record: &EventInterface,
) -> Arc<typed::Interface> {
    match known.get(&record.id) {
        Some(interface) if interface.record() == record => interface.clone(),
        _ => {
            let interface = Arc::new(typed::Interface::new(record.clone()));
            known.insert(record.id.clone(), interface.clone());
            interface
        }
    }
}
