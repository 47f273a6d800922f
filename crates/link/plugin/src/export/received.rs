//! Data that a link received, on its way into the host's buffer.

use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::{Connection, LinkError};

/// Block of the link with received data, and the number of its bytes that the host has taken. Empty
/// unless more was received than the host's buffer holds.
#[derive(Debug, Default)]
pub(super) struct Received {
    block: Option<Block>,
    taken: usize,
}

impl Received {
    /// Returns whether the host has taken all received data.
    pub(super) fn is_empty(&self) -> bool {
        self.left() == 0
    }

    fn left(&self) -> usize {
        let held = self.block.as_ref().map_or(0, Block::len);
        held.saturating_sub(self.taken)
    }

    /// Receives into a block that the link lends, of which the host wants `wanted` bytes.
    pub(super) fn refill(
        &mut self,
        connection: &dyn Connection,
        wanted: usize,
        deadline: Deadline,
    ) -> Result<(), LinkError> {
        *self = Self::default();
        // Not more room than the link chooses: `wanted` is a peer's claim.
        let mut block = connection.lend(0);
        connection.receive(&mut block, wanted, deadline)?;
        if !block.lent().is_empty() {
            block = flat(&block);
        }
        self.block = Some(block);
        Ok(())
    }

    /// Takes at most `room` received bytes, to be copied into the host's buffer.
    pub(super) fn take(&mut self, room: usize) -> &[u8] {
        let begin = self.taken;
        self.taken += self.left().min(room);
        let octets = self.block.as_deref().unwrap_or_default();
        octets.get(begin..self.taken).unwrap_or_default()
    }

    /// Returns the number of bytes left; returns the block to the link if none are.
    pub(super) fn bytes_left_or_release(&mut self) -> usize {
        let left = self.left();
        if left == 0 {
            *self = Self::default();
        }
        left
    }
}

/// Returns the block with its attached segments, whose memory cannot cross the boundary, copied in
/// line.
fn flat(block: &Block) -> Block {
    let mut octets = Vec::with_capacity(block.full_len());
    block.for_each_stretch(|stretch| octets.extend_from_slice(stretch));
    Block::from_vec(octets)
}
