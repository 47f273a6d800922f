//! Accepting of connections, and their assignment to threads.

use super::concurrency::begin_serving;
use super::connection::ServerConnection;
use super::host::Host;
use super::panics;
use crate::broker::Broker;
use crate::budget::host_of;
use crate::config::ListenEndpoint;
use crate::exception::SystemException;
use crate::lane::{Lane, OpenEndpoint, not_listening};
use crate::messaging::{self, Session};
use punctual_cdr::GiopVersion;
use punctual_exec::{Deadline, Throttle, throttle};
use punctual_giop::MessageKind;
use punctual_link::{Cause, Connection, LinkError};
use punctual_sys::descriptors;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Pause before accepting again after the operating system had no descriptor or memory available.
const PAUSE: Duration = Duration::from_millis(50);

/// Time without a failed accept after which a period of failures is considered over.
const PATIENCE: Duration = Duration::from_secs(1);

/// Minimum number of file descriptors that accepted connections leave free. They also leave at
/// least 1/16 (the next constant) of all descriptors free.
const KEPT: usize = 32;
const KEPT_PART: usize = 16;
/// Limit of file descriptors below which none are reserved for other uses than connections.
const FEW: usize = 256;

/// Interval in which refused connections are logged at most once.
const REFUSALS: Duration = Duration::from_secs(1);

/// Listens at every configured endpoint of a lane; returns `false` if the lane already listens.
pub(crate) fn listen(lane: &Arc<Lane>, host: impl Fn() -> Host) -> Result<bool, SystemException> {
    let begun = lane.listen(&|one| accept_at(lane, host(), one))?;
    if begun {
        panics::keep();
    }
    Ok(begun)
}

/// Listens at one more endpoint, and returns it with its actual address.
pub(crate) fn listen_at(
    lane: &Arc<Lane>,
    host: &Host,
    endpoint: ListenEndpoint,
) -> Result<ListenEndpoint, SystemException> {
    lane.listen_at(endpoint, &|one| accept_at(lane, host.clone(), one))
}

fn accept_at(lane: &Arc<Lane>, host: Host, endpoint: &OpenEndpoint) -> Result<(), SystemException> {
    let (of, host, accepting) = (lane.clone(), host, endpoint.clone());
    lane.incoming
        .acceptors
        .spawn(lane.thread("punctual-accept"), move || {
            accept_all(&of, &host, &accepting)
        })
        .map_err(|error| not_listening(&endpoint.endpoint, &error))
}

fn accept_all(lane: &Arc<Lane>, host: &Host, at: &OpenEndpoint) {
    let mut spell: Option<Spell> = None;
    let refusals = Throttle::new(1, REFUSALS);
    loop {
        match at.acceptor.accept() {
            Ok(link) => welcome(lane, host, at, link, &refusals),
            Err(LinkError {
                cause: Cause::Closed,
                ..
            }) => return,
            Err(error) => {
                let now = Instant::now();
                let goes_on =
                    spell.filter(|one| now.saturating_duration_since(one.last) < PATIENCE);
                // One log line for each spell without descriptors, not one for each attempt.
                if goes_on.is_none() {
                    tracing::warn!(endpoint = %at.acceptor.address(), "{error}; trying again");
                }
                let since = goes_on.map_or(now, |one| one.since);
                spell = Some(Spell { since, last: now });
                // A momentary lack of descriptors must not cost the connection of a client that
                // uses it from time to time.
                if let Some(quiet) = lane.broker().config().timeouts.make_room
                    && now.saturating_duration_since(since) >= quiet
                    && matches!(&error.cause, Cause::Os(error) if descriptors::ran_out(error))
                {
                    lane.incoming.connections.close_some(quiet);
                }
                std::thread::sleep(PAUSE);
            }
        }
    }
}

/// Period in which accepting fails repeatedly, even if some connections are accepted in between.
#[derive(Clone, Copy)]
struct Spell {
    since: Instant,
    last: Instant,
}

fn welcome(
    lane: &Arc<Lane>,
    host: &Host,
    at: &OpenEndpoint,
    link: Arc<dyn Connection>,
    refusals: &Throttle,
) {
    let session = at.pair.messaging.session();
    if lane.incoming.endpoints.is_closed() {
        refuse(lane.broker(), &*link, &*session);
        return;
    }
    if let Err(reason) = take_in(lane, host, at, &link, &session) {
        if let Some(left_out) = refusals.lets_through() {
            let others = throttle::others(left_out);
            tracing::warn!(peer = %link.peer(), "the connection is refused: {reason}{others}");
        }
        refuse(lane.broker(), &*link, &*session);
    }
}

/// Returns the limit of connections for this number of descriptors: some are reserved for files and
/// for this process's own connections, and a ninth of the others for hosts with few connections. If
/// there are too few descriptors to reserve any, idle connections are closed once all descriptors
/// are in use.
fn most_connections(configured: usize, descriptors: usize) -> usize {
    if descriptors < FEW {
        return configured;
    }
    let kept = (descriptors / KEPT_PART).max(KEPT);
    let left = descriptors.saturating_sub(kept);
    configured.min(left - left / 9).max(1)
}

/// Reserves room and a thread for an accepted connection. The error names the exhausted resource.
fn take_in(
    lane: &Arc<Lane>,
    host: &Host,
    at: &OpenEndpoint,
    link: &Arc<dyn Connection>,
    session: &Arc<dyn Session>,
) -> Result<(), String> {
    let config = lane.broker().config();
    let limit = most_connections(config.max_connections, descriptors::limit());
    let from = host_of(&*at.pair.link, link.peer());
    let connections = &lane.incoming.connections;
    let room = connections.make_room(limit, &from, config.timeouts.make_room);
    room.map_err(|_| match limit < config.max_connections {
        false => format!("{limit} connections are open, none of them idle (max_connections)"),
        true => format!("{limit} connections are open, none of them idle, and no more descriptors are available (RLIMIT_NOFILE, `ulimit -n`)"),
    })?;
    let spoken = (session.clone(), at.pair.messaging.abilities());
    let connection = ServerConnection::new((lane, host), link.clone(), spoken, at);
    connection.join();
    begin_serving(&connection).map_err(|error| error.to_string())
}

/// Refuses a client's connection with the message CloseConnection.
fn refuse(broker: &Broker, link: &dyn Connection, session: &dyn Session) {
    let soon = Deadline::after(Duration::from_millis(100));
    let (kind, version) = (MessageKind::CloseConnection, GiopVersion::V1_0);
    // The connection ends whether the peer receives this or not.
    let _ = messaging::send_control(link, session, kind, version, broker.tracer(), soon);
    link.close();
}

#[cfg(test)]
mod tests {
    use super::most_connections;

    #[test]
    fn connections_leave_descriptors_for_others() {
        // With the additional eighth for hosts with few connections: 853 and 106 of 1,024.
        assert_eq!(most_connections(4096, 1024), 854);
        assert_eq!(most_connections(100, 1024), 100);
        assert_eq!(most_connections(4096, usize::MAX), 4096);
        assert_eq!(most_connections(4096, 256), 200);
        assert_eq!(most_connections(4096, 64), 4096);
    }
}
