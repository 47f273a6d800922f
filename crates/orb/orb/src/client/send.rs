//! The stage that sends a request at once, or buffers it with others.

use super::failure::{Failed, buffer_full, not_sent};
use crate::lane::{ClientConnection, Lane, NotBuffered, Waiting};
use crate::policy::BufferTerms;
use punctual_cdr::{Block, CallerMemory};
use punctual_exec::Deadline;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sends a request of a protocol whose messages do not depend on the time of sending.
#[inline(always)]
pub(super) fn send_plainly(
    connection: &ClientConnection,
    request: &mut Block,
    out_of_band: bool,
    deadline: Deadline,
) -> Result<(), Failed> {
    let sent = connection.send_plainly(request, out_of_band, deadline);
    sent.map_err(|error| not_sent(connection.peer(), &error))
}

/// Sends a request, in a protocol whose messages do not depend on the time of sending, with the argument that it lacks.
#[inline(never)]
pub(super) fn send_from(
    connection: &ClientConnection,
    request: (&mut Block, &CallerMemory<'_>),
    out_of_band: bool,
    deadline: Deadline,
) -> Result<(), Failed> {
    let sent = connection.send_from(request, out_of_band, deadline);
    sent.map_err(|error| not_sent(connection.peer(), &error))
}

/// Sends a one-way of a protocol whose messages do not depend on the time of sending.
#[inline]
pub(super) fn send_one_way_plainly(
    (lane, connection): (&Lane, &Arc<ClientConnection>),
    request: &mut Block,
    out_of_band: bool,
    deadline: Deadline,
) -> Result<(), Failed> {
    let kept = connection.send_one_way(request, out_of_band, deadline);
    let kept = kept.map_err(|error| not_sent(connection.peer(), &error))?;
    flush_in_time((lane, connection), kept, deadline)
}

/// Sends the request of a deferred call, in a protocol whose messages do not depend on the time of
/// sending.
#[inline]
pub(super) fn send_deferred_plainly(
    (lane, connection): (&Lane, &Arc<ClientConnection>),
    request: &mut Block,
    out_of_band: bool,
    deadline: Deadline,
) -> Result<(), Failed> {
    let kept = connection.send_deferred(request, out_of_band, deadline);
    let kept = kept.map_err(|error| not_sent(connection.peer(), &error))?;
    flush_in_time((lane, connection), kept, deadline)
}

/// Sends a complete message over a connection, whatever the messaging protocol.
pub(super) fn send(
    connection: &ClientConnection,
    message: &mut Block,
    out_of_band: bool,
    deadline: Deadline,
) -> Result<(), Failed> {
    let sent = connection.send(message, out_of_band, deadline);
    sent.map_err(|error| not_sent(connection.peer(), &error))
}

/// Appends a request to the connection's buffer, for a protocol whose messages contain no number or
/// time that is assigned when they are sent.
pub(super) fn buffer_plainly(
    (lane, connection): (&Lane, &Arc<ClientConnection>),
    request: &Block,
    terms: &BufferTerms,
    deadline: Deadline,
) -> Result<(), Failed> {
    let at_once = || schedule_flush((lane, connection));
    let waits = connection.append(request, terms, (deadline, &at_once));
    let waits = waits.map_err(|error| not_buffered(connection, error))?;
    flush_in_time((lane, connection), waits, deadline)
}

/// Buffers a request on a connection, whatever the messaging protocol.
pub(super) fn buffer(
    (lane, connection): (&Lane, &Arc<ClientConnection>),
    request: Waiting,
    terms: &BufferTerms,
    deadline: Deadline,
) -> Result<(), Failed> {
    let at_once = || schedule_flush((lane, connection));
    let waits = connection.enqueue(request, terms, (deadline, &at_once));
    let waits = waits.map_err(|error| not_buffered(connection, error))?;
    flush_in_time((lane, connection), waits, deadline)
}

#[cold]
fn not_buffered(connection: &ClientConnection, error: NotBuffered) -> Failed {
    match error {
        NotBuffered::Full => Failed::Finally(buffer_full(connection.peer())),
        NotBuffered::NotSent(error) => not_sent(connection.peer(), &error),
    }
}

/// Schedules an immediate flush of the connection's buffer.
#[cold]
fn schedule_flush((lane, connection): (&Lane, &Arc<ClientConnection>)) {
    // Scheduling fails only while the ORB shuts down, which flushes all buffers.
    let _ = lane.flusher.schedule(Instant::now(), connection);
}

/// Schedules the flush of the connection's buffer for the time at which its requests are due.
fn flush_in_time(
    (lane, connection): (&Lane, &Arc<ClientConnection>),
    due: Option<Duration>,
    deadline: Deadline,
) -> Result<(), Failed> {
    if let Some(delay) = due
        && !lane.flusher.schedule(Instant::now() + delay, connection)
    {
        connection.set_unattended();
        connection.flush(deadline);
    }
    Ok(())
}
