//! Records without a socket, for fuzzing.

use crate::flow::{Incoming, Sending, take_plaintext};
use punctual_cdr::Block;
use punctual_link::Cause;

/// Feeds ciphertext to TLS's state as a connection does, and appends the plaintext; returns `true`
/// at the peer's `close_notify`.
///
/// # Errors
/// The error of the ciphertext.
pub fn feed(
    tls: &mut rustls::Connection,
    ciphertext: &[u8],
    block: &mut Block,
) -> Result<bool, Cause> {
    let mut incoming = Incoming::default();
    incoming.clear();
    incoming.octets.extend_from_slice(ciphertext);
    loop {
        if take_plaintext(tls, block)? {
            return Ok(true);
        }
        if !incoming.feed(tls)? {
            return take_plaintext(tls, block);
        }
    }
}

/// Returns the pending output of TLS's state, as a connection sends it; nothing after an error,
/// which breaks the connection off.
pub fn say(tls: &mut rustls::Connection, is_broken: bool) -> Vec<u8> {
    let mut sending = Sending::default();
    if sending.take(tls).is_err() || is_broken {
        sending.break_off();
    }
    let said = sending.rest().unwrap_or_default().to_vec();
    sending.clear();
    said
}
