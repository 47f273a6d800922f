//! Sending of complete messages, in fragments if they are long.

use super::protocol::Session;
use super::trace::Tracer;
use crate::config::OrbConfig;
use punctual_cdr::{Block, ByteOrder, Coding, GiopVersion};
use punctual_exec::Deadline;
use punctual_giop::{MessageKind, split};
use punctual_link::{Connection, SendError};
use std::io::IoSlice;

/// Maximum number of fragments sent by one system call.
const GATHERED: usize = 32;

/// Condition on which a message is sent in fragments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragmenting {
    /// Maximum length of an unfragmented message, in bytes; 0 for no limit.
    size: usize,
    /// True if messages of GIOP 1.1 are fragmented, too.
    in_1_1: bool,
}

impl Fragmenting {
    /// Condition that is never met: messages are not fragmented.
    pub(crate) const NEVER: Self = Self {
        size: 0,
        in_1_1: false,
    };

    pub(crate) fn new(config: &OrbConfig) -> Self {
        Self {
            size: config.fragment_size,
            in_1_1: config.fragment_giop_1_1,
        }
    }

    #[inline]
    pub(crate) fn applies_to(self, message: &[u8]) -> bool {
        self.applies_to_long(message, message.len())
    }

    /// Returns whether a message of this length is sent in fragments; `message` is its begin.
    #[inline]
    pub(crate) fn applies_to_long(self, message: &[u8], length: usize) -> bool {
        self.size != 0 && length > self.size && self.applies_to_version_of(message)
    }

    fn applies_to_version_of(self, message: &[u8]) -> bool {
        const MINOR_VERSION: usize = 5;
        let old = message.get(MINOR_VERSION).is_some_and(|&minor| minor < 2);
        self.in_1_1 || !old
    }
}

/// Sends a message over a connection, whole or in GIOP fragments.
pub(crate) fn send(
    connection: &dyn Connection,
    message: &Block,
    fragmenting: Fragmenting,
    tracer: Tracer,
    deadline: Deadline,
) -> Result<(), SendError> {
    tracer.sent(connection, message);
    send_untraced(connection, message, fragmenting, deadline)
}

/// Sends a message that has already been printed by the tracer.
pub(crate) fn send_untraced(
    connection: &dyn Connection,
    message: &Block,
    fragmenting: Fragmenting,
    deadline: Deadline,
) -> Result<(), SendError> {
    if !message.lent().is_empty() {
        return connection.send(&stretches(message), deadline);
    }
    if !fragmenting.applies_to(message) {
        return connection.send(&[IoSlice::new(message)], deadline);
    }
    let pieces: Vec<_> = split(message, fragmenting.size).collect();
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

/// Calls `with` with the byte ranges to be sent for a message, whole or in fragments. A message with segments is sent whole.
pub(crate) fn with_parts<T>(
    message: &Block,
    fragmenting: Fragmenting,
    with: impl FnOnce(&[IoSlice<'_>]) -> T,
) -> T {
    if !message.lent().is_empty() {
        return with(&stretches(message));
    }
    if !fragmenting.applies_to(message) {
        return with(&[IoSlice::new(message)]);
    }
    let pieces: Vec<_> = split(message, fragmenting.size).collect();
    let parts = pieces
        .iter()
        .flat_map(|piece| [IoSlice::new(&piece.header), IoSlice::new(piece.body)]);
    let parts: Vec<IoSlice<'_>> = parts.collect();
    with(&parts)
}

/// Returns the byte ranges of a message with segments. A connection that has lent memory for them recognises them by their
/// addresses.
fn stretches(message: &Block) -> Vec<IoSlice<'_>> {
    let mut parts = Vec::with_capacity(2 * message.lent().len() + 1);
    message.for_each_stretch(|stretch| parts.push(IoSlice::new(stretch)));
    parts
}

/// Sends a message without a body: CloseConnection or MessageError.
pub(crate) fn send_control(
    connection: &dyn Connection,
    session: &dyn Session,
    kind: MessageKind,
    version: GiopVersion,
    tracer: Tracer,
    deadline: Deadline,
) -> Result<(), SendError> {
    match control(connection, session, kind, version) {
        Some(message) => send(connection, &message, Fragmenting::NEVER, tracer, deadline),
        // Closing the connection is enough.
        None => Ok(()),
    }
}

/// Makes a message without a body; returns `None` for a protocol that has no such messages.
pub(crate) fn control(
    connection: &dyn Connection,
    session: &dyn Session,
    kind: MessageKind,
    version: GiopVersion,
) -> Option<Block> {
    let coding = Coding {
        version,
        ..Coding::default()
    };
    let out = session.begin(connection.lend(0), kind, ByteOrder::NATIVE, coding);
    let mut message = out.into_block();
    session.finish(&mut message).ok()?;
    Some(message)
}
