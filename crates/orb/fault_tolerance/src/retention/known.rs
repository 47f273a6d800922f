//! Clients that a thread has served, by their ids as encoded in FT_REQUEST: a request of one of them is recognised without
//! decoding its client's id, and without a search.
//!
//! Only a cache: what it says is compared with the request byte by byte, and with the table before it is used. Its places are
//! chosen by a few bytes of the ids, which a peer may have chosen equal: then the client is searched for.

use super::table::Caller;
use crate::request::{FtRequest, NATIVE};
use punctual_cdr::CdrError;
use std::cell::RefCell;
use std::sync::Arc;

/// Number of clients that a thread remembers, a power of two.
const MOST: usize = 16;
/// Position in the context of the bytes by which a place is chosen: the begin of the id.
const AT_ID: usize = 8;

struct Known {
    /// Bytes of the context before the retention id.
    begin: Box<[u8]>,
    /// Length of the whole context.
    length: usize,
    caller: Caller,
}

thread_local! {
    static KNOWN: RefCell<[Option<Known>; MOST]> =
        const { RefCell::new([const { None }; MOST]) };
}

/// Request as it arrived.
#[derive(Clone, Copy)]
pub(super) struct Arrived<'r> {
    data: &'r [u8],
    identity: &'r Arc<[u8]>,
}

impl<'r> Arrived<'r> {
    pub(super) fn new(data: &'r [u8], identity: &'r Arc<[u8]>) -> Self {
        Self { data, identity }
    }

    /// Returns the retention id, the expiration and the client, if the thread knows it.
    #[inline]
    pub(super) fn find(self) -> Option<(i32, u64, Caller)> {
        let place = self.place()?;
        let found = KNOWN.try_with(|known| {
            let known = known.borrow();
            let known = known.get(place)?.as_ref()?;
            let retention = self.data.strip_prefix(&*known.begin)?.first_chunk()?;
            let expires = self.data.last_chunk()?;
            let is_it = known.length == self.data.len() && known.caller.has(self.identity);
            is_it.then(|| {
                (
                    i32::from_ne_bytes(*retention),
                    u64::from_ne_bytes(*expires),
                    known.caller.clone(),
                )
            })
        });
        found.ok().flatten()
    }

    /// Decodes the context.
    ///
    /// # Errors
    /// Those of [`FtRequest::decode`].
    pub(super) fn decode(self) -> Result<FtRequest<'r>, CdrError> {
        FtRequest::decode(self.data)
    }

    /// Remembers the client of the request, which was decoded.
    pub(super) fn remember(self, caller: &Caller) {
        let Some(place) = self.place() else {
            return;
        };
        let Some(begin) = self.begin(caller) else {
            return;
        };
        let known = Known {
            begin: begin.into(),
            length: self.data.len(),
            caller: caller.clone(),
        };
        let _ = KNOWN.try_with(|all| {
            if let Some(there) = all.borrow_mut().get_mut(place) {
                *there = Some(known);
            }
        });
    }

    /// Returns the bytes before the retention id, if nothing follows the expiration.
    fn begin(self, caller: &Caller) -> Option<&'r [u8]> {
        // The length counts the id's NUL, which a peer may have left out: such ids are not remembered.
        let end = (AT_ID + caller.id_length() + 1).next_multiple_of(4);
        let length = (end + 4).next_multiple_of(8) + 8;
        let (begin, _) = self.data.split_at_checked(end)?;
        let stated = begin.get(4..AT_ID)?.first_chunk()?;
        let is_whole = u32::from_ne_bytes(*stated) as usize == caller.id_length() + 1;
        (is_whole && self.data.len() == length).then_some(begin)
    }

    /// Returns the place of a context in this machine's byte order; `None` for others, which are decoded.
    #[inline]
    fn place(self) -> Option<usize> {
        if self.data.first() != Some(&NATIVE) {
            return None;
        }
        let begin = u64::from_ne_bytes(*self.data.get(AT_ID..)?.first_chunk()?);
        let mixed = begin.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Some((mixed >> 60) as usize % MOST)
    }
}
