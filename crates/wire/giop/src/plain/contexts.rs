//! Service contexts of plain requests.

use super::limits::{LONGEST_CONTEXT, MOST_CONTEXTS};
use crate::numbers::either;
use crate::service_context;

/// What is cached of the contexts of a request: their number, and the lengths of the first one's data, without padding
/// (`length`) and with it (`room`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum KnownContexts {
    #[default]
    None,
    One {
        length: usize,
        room: usize,
    },
    /// The others are read at each request, as their lengths may differ.
    Several {
        count: usize,
        room: usize,
    },
}

impl KnownContexts {
    /// Reads id and length of the first context, which are then removed from `rest`. Returns `None` if they are not a plain
    /// request's.
    pub(super) fn read(count: u32, rest: &mut &[u8], native: bool) -> Option<Self> {
        if count == 0 {
            return Some(Self::None);
        }
        let count = usize::try_from(count).ok();
        let count = count.filter(|count| *count <= MOST_CONTEXTS)?;
        let (length, behind) = short(rest, native)?;
        *rest = behind;
        let room = length.next_multiple_of(4);
        Some(match count {
            1 => Self::One { length, room },
            _ => Self::Several { count, room },
        })
    }
}

/// Returns the contexts of a request with several, of which the first one's id and length are known: `octets` without what
/// follows the last one's padding. `None` if they are not a plain request's.
// Not part of the functions that read requests with none or one.
#[inline(never)]
pub(super) fn several(
    (count, first): (usize, usize),
    octets: &[u8],
    native: bool,
) -> Option<&[u8]> {
    let mut rest = octets.get(8 + first..)?;
    for _ in 1..count {
        let (length, behind) = short(rest, native)?;
        let room = length.next_multiple_of(4);
        // Behind the last one, without a body, there may be no padding, or part of it.
        let is_whole = length <= behind.len();
        rest = behind.get(room.min(behind.len())..).filter(|_| is_whole)?;
    }
    octets.get(..octets.len() - rest.len())
}

/// Reads id and length of a context that the fast path handles; returns the length, and what follows.
#[inline]
fn short(octets: &[u8], native: bool) -> Option<(usize, &[u8])> {
    let (id, rest) = octets.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let length = either(*length, native) as usize;
    (!is_read_by_orb(either(*id, native)) && length <= LONGEST_CONTEXT).then_some((length, rest))
}

/// Returns whether the ORB itself reads the context, which the fast path does not do.
const fn is_read_by_orb(id: u32) -> bool {
    matches!(
        id,
        service_context::CODE_SETS
            | service_context::INVOCATION_POLICIES
            | service_context::BI_DIR_IIOP
    )
}
