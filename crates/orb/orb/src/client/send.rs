//! The stage that lets a request leave: at once, or buffered with others.

use super::failure::{Failed, not_sent};
use crate::lane::{ClientConnection, Lane, Waiting};
use crate::policy::Buffering;
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::SendError;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sends a request that is the same whenever it leaves.
#[inline(always)]
pub(super) fn send_plainly(
    connection: &ClientConnection,
    request: &mut Block,
    deadline: Deadline,
) -> Result<(), Failed> {
    let sent = connection.send_plainly(request, deadline);
    sent.map_err(|error| not_sent(connection.peer(), &error))
}

/// Sends a one-way that is the same whenever it leaves.
#[inline]
pub(super) fn send_one_way_plainly(
    (lane, connection): (&Lane, &Arc<ClientConnection>),
    request: &mut Block,
    deadline: Deadline,
) -> Result<(), Failed> {
    let kept = connection.send_one_way(request, deadline);
    flush_in_time((lane, connection), kept, deadline)
}

/// Sends any message.
pub(super) fn send(
    connection: &ClientConnection,
    message: &mut Block,
    deadline: Deadline,
) -> Result<(), Failed> {
    let sent = connection.send(message, deadline);
    sent.map_err(|error| not_sent(connection.peer(), &error))
}

/// Lets a request wait for others that is the same whenever it leaves.
pub(super) fn buffer_plainly(
    (lane, connection): (&Lane, &Arc<ClientConnection>),
    request: &Block,
    when: Buffering,
    deadline: Deadline,
) -> Result<(), Failed> {
    let waits = connection.append(request, when, deadline);
    flush_in_time((lane, connection), waits, deadline)
}

/// Lets any request wait for others.
pub(super) fn buffer(
    (lane, connection): (&Lane, &Arc<ClientConnection>),
    request: Waiting,
    when: Buffering,
    deadline: Deadline,
) -> Result<(), Failed> {
    let waits = connection.enqueue(request, when, deadline);
    flush_in_time((lane, connection), waits, deadline)
}

/// Has what waits sent when its time has come.
fn flush_in_time(
    (lane, connection): (&Lane, &Arc<ClientConnection>),
    waits: Result<Option<Duration>, SendError>,
    deadline: Deadline,
) -> Result<(), Failed> {
    let due = waits.map_err(|error| not_sent(connection.peer(), &error))?;
    if let Some(delay) = due
        && !lane.flusher.schedule(Instant::now() + delay, connection)
    {
        connection.is_not_looked_after();
        connection.flush(deadline);
    }
    Ok(())
}
