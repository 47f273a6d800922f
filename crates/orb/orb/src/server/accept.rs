//! Accepting connections, and finding threads to serve them.

use super::concurrency::begin_serving;
use super::connection::ServerConnection;
use super::host::Host;
use super::panics;
use crate::broker::Broker;
use crate::config::ListenEndpoint;
use crate::exception::SystemException;
use crate::lane::{Lane, OpenEndpoint, not_listening};
use crate::messaging::{self, Session};
use punctual_cdr::GiopVersion;
use punctual_exec::{Deadline, SpawnError};
use punctual_giop::MessageKind;
use punctual_link::{Cause, Connection, LinkError};
use std::sync::Arc;
use std::time::Duration;

/// Pause before accepting again when the operating system had no descriptor or memory to give.
const PAUSE: Duration = Duration::from_millis(50);

/// Listens at every configured endpoint of a lane; `false` where it does already.
pub(crate) fn listen(lane: &Arc<Lane>, host: impl Fn() -> Host) -> Result<bool, SystemException> {
    let begun = lane.listen(&|one| accept_at(lane, host(), one))?;
    if begun {
        panics::keep();
    }
    Ok(begun)
}

/// Listens at one more endpoint, and says where that is.
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
        .spawn("punctual-accept", move || {
            accept_all(&of, &host, &accepting)
        })
        .map_err(|error| not_listening(&endpoint.endpoint, &error))
}

fn accept_all(lane: &Arc<Lane>, host: &Host, at: &OpenEndpoint) {
    let mut failing = false;
    loop {
        match at.acceptor.accept() {
            Ok(link) => {
                failing = false;
                welcome(lane, host, at, link);
            }
            Err(LinkError {
                cause: Cause::Closed,
                ..
            }) => return,
            Err(error) => {
                // One line for each spell without descriptors, not one for each try.
                if !failing {
                    tracing::warn!(endpoint = %at.acceptor.address(), "{error}; trying again");
                }
                failing = true;
                std::thread::sleep(PAUSE);
            }
        }
    }
}

fn welcome(lane: &Arc<Lane>, host: &Host, at: &OpenEndpoint, link: Arc<dyn Connection>) {
    let session = at.pair.messaging.session();
    if lane.incoming.endpoints.is_closed() {
        turn_away(lane.broker(), &*link, &*session);
        return;
    }
    let spoken = (session.clone(), at.pair.messaging.abilities());
    let connection = ServerConnection::new((lane, host), link.clone(), spoken, at);
    let limit = lane.broker().config().max_connections;
    // Threads that receive for others count for themselves.
    let started = match lane.incoming.connections.len() >= limit {
        true => Err(SpawnError::Full { limit }),
        false => begin_serving(&connection),
    };
    if let Err(error) = started {
        let limit = matches!(error, SpawnError::Full { .. });
        let key = if limit { " (max_connections)" } else { "" };
        tracing::warn!(peer = %link.peer(), "the connection is refused: {error}{key}");
        turn_away(lane.broker(), &*link, &*session);
    }
}

/// Tells a peer, in good order, that it is not served here.
fn turn_away(broker: &Broker, link: &dyn Connection, session: &dyn Session) {
    let soon = Deadline::after(Duration::from_millis(100));
    let (kind, version) = (MessageKind::CloseConnection, GiopVersion::V1_0);
    // Whether it hears that or not, the connection ends.
    let _ = messaging::send_control(link, session, kind, version, broker.tracer(), soon);
    link.close();
}
