//! Whole messages onto a connection, in fragments where they are long.

use super::trace::{Direction, Tracer};
use punctual_cdr::{ByteOrder, GiopVersion};
use punctual_exec::Deadline;
use punctual_giop::{MessageHeader, MessageKind, split};
use punctual_link::{Connection, SendError};
use std::io::IoSlice;

/// Fragments that go out with one system call.
const GATHERED: usize = 32;

/// Sends a message, whole up to `fragment_size` octets (0: always whole), else in fragments.
pub(crate) fn send(
    connection: &dyn Connection,
    message: &[u8],
    fragment_size: usize,
    tracer: Tracer,
    deadline: Deadline,
) -> Result<(), SendError> {
    tracer.show(Direction::Sent, connection.peer(), message);
    if fragment_size == 0 || message.len() <= fragment_size {
        return connection.send(&[IoSlice::new(message)], deadline);
    }
    let pieces: Vec<_> = split(message, fragment_size).collect();
    let mut sent = 0;
    for group in pieces.chunks(GATHERED) {
        let parts: Vec<IoSlice<'_>> = group
            .iter()
            .flat_map(|piece| [IoSlice::new(&piece.header), IoSlice::new(piece.body)])
            .collect();
        connection
            .send(&parts, deadline)
            .map_err(|error| SendError {
                sent: sent + error.sent,
                error: error.error,
            })?;
        sent += parts.iter().map(|part| part.len()).sum::<usize>();
    }
    Ok(())
}

/// Sends a message that is nothing but a header: CloseConnection or MessageError.
pub(crate) fn send_control(
    connection: &dyn Connection,
    kind: MessageKind,
    version: GiopVersion,
    tracer: Tracer,
    deadline: Deadline,
) -> Result<(), SendError> {
    let bytes = MessageHeader::new(version, ByteOrder::NATIVE, kind, 0).to_octets();
    tracer.show(Direction::Sent, connection.peer(), &bytes);
    connection.send(&[IoSlice::new(&bytes)], deadline)
}
