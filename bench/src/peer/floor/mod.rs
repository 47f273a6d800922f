//! Baselines without an ORB: the operating system's cost of exchanging messages of equal length.
//!
//! A two-way call is one send and one receive on each side. Each message begins with its own length
//! and the length of the reply that it asks for (0: none), 4 octets each in the machine's byte
//! order. The transport is a [`socket`], which blocks or spins, or [`memory`] that two processes
//! share.

pub(super) mod memory;
pub(crate) mod socket;

use crate::Result;
use crate::case::{Case, Lengths};

/// Size in bytes of the two length fields at the start of each message.
const HEAD: usize = 8;
/// Upper bound of a message, in bytes.
const LONGEST: usize = 64 << 20;

/// Writes the request of a case: its two lengths, then zeros.
pub(crate) fn request_of(case: Case, request: &mut Vec<u8>) -> Result<Lengths> {
    let lengths = case.lengths();
    request.clear();
    for length in [lengths.request, lengths.reply] {
        let length = u32::try_from(length)?;
        request.extend_from_slice(&length.to_ne_bytes());
    }
    request.resize(lengths.request, 0);
    Ok(lengths)
}

/// Returns the lengths at the start of a message, if they have arrived.
fn head(octets: &[u8]) -> Option<Lengths> {
    let (lengths, _) = octets.first_chunk::<HEAD>()?.as_chunks();
    let [request, reply] = lengths else {
        return None;
    };
    Some(Lengths {
        request: u32::from_ne_bytes(*request) as usize,
        reply: u32::from_ne_bytes(*reply) as usize,
    })
}
