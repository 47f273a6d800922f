//! Long runs of a message that are sent from the caller's memory, without a copy in the message.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::block::Block;
use crate::lend::{Lender, Segment};

/// Memory that a caller keeps unchanged until its message has been sent. Set as an encoder's lender, it leaves out of the
/// message the first long run of bytes that lies in it: the message is then sent in parts ([`CallerMemory::parts`]), or
/// completed ([`CallerMemory::complete`]).
pub struct CallerMemory<'m> {
    memory: &'m [u8],
    run: OnceLock<Run>,
}

/// Run that a message lacks.
#[derive(Clone, Copy)]
struct Run {
    /// Number of the message's own bytes before the run.
    at: usize,
    /// Offset of the run in the memory.
    begin: usize,
    length: usize,
}

impl<'m> CallerMemory<'m> {
    /// Length in bytes of the shortest run that is left out: copying shorter ones costs less than sending a message in parts.
    pub const LEAST: usize = 32 * 1024;

    /// Makes the lender for one message.
    #[must_use]
    pub fn new(memory: &'m [u8]) -> Self {
        Self {
            memory,
            run: OnceLock::new(),
        }
    }

    /// Returns the number of bytes that the message lacks.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.run.get().map_or(0, |run| run.length)
    }

    /// Returns what is to be sent for a message, in order; `block` is the message without the run.
    #[must_use]
    pub fn parts<'b>(&'b self, block: &'b [u8]) -> [&'b [u8]; 3] {
        let Some(run) = self.run.get() else {
            return [block, &[], &[]];
        };
        let (before, after) = block.split_at(run.at.min(block.len()));
        [before, self.octets(*run), after]
    }

    /// Copies the run into the message, which then is whole.
    pub fn complete(&self, block: &mut Block) {
        if let Some(run) = self.run.get() {
            let at = run.at.min(block.len());
            let run = self.octets(*run).iter().copied();
            block.as_mut_vec().splice(at..at, run);
        }
    }

    fn octets(&self, run: Run) -> &'m [u8] {
        let end = run.begin + run.length;
        self.memory.get(run.begin..end).unwrap_or_default()
    }
}

impl Lender for CallerMemory<'_> {
    fn threshold(&self) -> usize {
        Self::LEAST
    }

    fn lend(&self, _octets: &[u8]) -> Option<Arc<dyn Segment>> {
        None
    }

    fn leaves_out(&self, octets: &[u8], at: usize) -> bool {
        let begin = octets
            .as_ptr()
            .addr()
            .checked_sub(self.memory.as_ptr().addr());
        let Some(begin) = begin else {
            return false;
        };
        let length = octets.len();
        let room = self.memory.len().checked_sub(begin);
        room.is_some_and(|room| length <= room) && self.run.set(Run { at, begin, length }).is_ok()
    }
}

impl fmt::Debug for CallerMemory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The length only: the contents may be secret.
        f.debug_struct("CallerMemory")
            .field("len", &self.memory.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ByteOrder, Coding, Encoder, InMemory, Marshal, SharedEncoding};

    /// Returns a message in native order, and the same in parts with `memory` for the run.
    fn both_ways(
        memory: &[u8],
        write: impl Fn(&mut Encoder<'_>),
    ) -> (Vec<u8>, [Vec<u8>; 3], Vec<u8>) {
        let encoder = || Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
        let mut whole = encoder();
        write(&mut whole);
        let memory = CallerMemory::new(memory);
        let mut out = encoder();
        out.set_lender(Some(&memory));
        write(&mut out);
        let mut block = out.into_block();
        let parts = memory.parts(&block).map(<[u8]>::to_vec);
        memory.complete(&mut block);
        (whole.into_block().into_vec(), parts, block.into_vec())
    }

    #[test]
    fn a_long_run_in_the_memory_is_left_out_and_what_follows_is_aligned_as_if_it_were_there() {
        let values: Vec<i16> = (0..20_001)
            .collect::<Vec<u16>>()
            .iter()
            .map(|&n| n as i16)
            .collect();
        let (whole, parts, completed) = both_ways(values.octets(), |out| {
            out.put_u8(1);
            values[..].marshal(out).unwrap();
            out.put_u64(2);
        });
        assert_eq!(parts[1], values.octets());
        assert!(parts[0].len() == 8 && parts[2].len() < 16, "{parts:?}");
        assert_eq!(parts.concat(), whole);
        assert_eq!(completed, whole);
    }

    #[test]
    fn a_part_of_the_memory_is_left_out_too_and_only_the_first_run() {
        let octets = vec![7; 3 * CallerMemory::LEAST];
        let half = &octets[100..100 + CallerMemory::LEAST];
        let (whole, parts, completed) = both_ways(&octets, |out| {
            half.marshal(out).unwrap();
            octets[..].marshal(out).unwrap();
        });
        assert_eq!(
            parts.each_ref().map(Vec::len),
            [4, half.len(), 4 + octets.len()]
        );
        assert_eq!(parts.concat(), whole);
        assert_eq!(completed, whole);
    }

    #[test]
    fn short_runs_other_memory_and_encapsulations_are_copied() {
        let (octets, other) = (vec![7; CallerMemory::LEAST], vec![8; CallerMemory::LEAST]);
        let (whole, parts, _) = both_ways(&octets, |out| {
            octets[1..].marshal(out).unwrap();
            other[..].marshal(out).unwrap();
            out.encapsulation(|out| octets[..].marshal(out)).unwrap();
        });
        assert_eq!(parts, [whole, Vec::new(), Vec::new()]);
    }

    #[test]
    fn an_encoding_for_several_messages_is_not_kept_without_its_run() {
        let octets = vec![7; CallerMemory::LEAST];
        let mut shared = SharedEncoding::default();
        for _ in 0..2 {
            let memory = CallerMemory::new(&octets);
            let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
            out.set_lender(Some(&memory));
            shared.put(&mut out, |out| octets[..].marshal(out)).unwrap();
            let block = out.into_block();
            assert_eq!(memory.parts(&block).concat().len(), 4 + octets.len());
        }
    }
}
