//! Messages split into fragments.

use super::header::{FragmentHeader, HEADER};
use punctual::stub::ByteOrder;
use std::fmt;
use thiserror::Error;

/// Reason why a message cannot be sent as datagrams.
#[derive(Clone, PartialEq, Eq, Error)]
pub enum SplitError {
    /// The message has no octets, or too many.
    #[error("a message of {0} octets cannot be sent as datagrams")]
    Length(usize),
    /// A datagram of this length has no room for a fragment.
    #[error("a datagram of {0} octets has no room behind a header of 32")]
    Datagram(usize),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for SplitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Fragments of a message, in order: headers, and octets of the message.
#[derive(Clone, Debug)]
pub struct Fragments<'m> {
    header: FragmentHeader,
    message: &'m [u8],
    room: usize,
    has_checksum: bool,
}

/// Splits a message into fragments for datagrams of at most `datagram` octets.
///
/// # Errors
/// The message is empty or above 4 GiB; a datagram has no room for a fragment.
pub fn split(
    number: u32,
    order: ByteOrder,
    message: &[u8],
    datagram: usize,
    has_checksum: bool,
) -> Result<Fragments<'_>, SplitError> {
    let room = datagram.saturating_sub(HEADER);
    if room == 0 {
        return Err(SplitError::Datagram(datagram));
    }
    let length = || SplitError::Length(message.len());
    let message_size = u32::try_from(message.len()).map_err(|_| length())?;
    let count = u32::try_from(message.len().div_ceil(room)).map_err(|_| length())?;
    if count == 0 {
        return Err(length());
    }
    let header = FragmentHeader {
        order,
        message: number,
        message_size,
        size: 0,
        offset: 0,
        number: 0,
        count,
    };
    Ok(Fragments {
        header,
        message,
        room,
        has_checksum,
    })
}

impl<'m> Iterator for Fragments<'m> {
    type Item = ([u8; HEADER], &'m [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.message.get(self.header.offset as usize..)?;
        let fragment = rest
            .get(..rest.len().min(self.room))
            .filter(|it| !it.is_empty())?;
        // The message's length fits, and so does a part of it.
        self.header.size = u32::try_from(fragment.len()).ok()?;
        let head = self.header.encode(fragment, self.has_checksum);
        self.header.offset += self.header.size;
        self.header.number += 1;
        Some((head, fragment))
    }
}
