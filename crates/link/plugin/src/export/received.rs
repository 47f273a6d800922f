//! What a link received, on its way into the host's buffer.

use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_link::{Connection, LinkError};

/// A block of the link's, and how much of it the host has. Empty but while more came than the host's
/// buffer holds.
#[derive(Debug, Default)]
pub(super) struct Received {
    block: Option<Block>,
    taken: usize,
}

impl Received {
    /// Whether the host has everything.
    pub(super) fn is_empty(&self) -> bool {
        self.left() == 0
    }

    fn left(&self) -> usize {
        let held = self.block.as_ref().map_or(0, Block::len);
        held.saturating_sub(self.taken)
    }

    /// Receives into a block that the link lends, of which the host wants so many octets.
    pub(super) fn refill(
        &mut self,
        connection: &dyn Connection,
        wanted: usize,
        deadline: Deadline,
    ) -> Result<(), LinkError> {
        *self = Self::default();
        // Not more room than the link thinks right: what is wanted is a peer's claim.
        let mut block = connection.lend(0);
        connection.receive(&mut block, wanted, deadline)?;
        if !block.lent().is_empty() {
            block = flat(&block);
        }
        self.block = Some(block);
        Ok(())
    }

    /// At most `room` octets that the host does not have yet: it has them then.
    pub(super) fn take(&mut self, room: usize) -> &[u8] {
        let begin = self.taken;
        self.taken += self.left().min(room);
        let octets = self.block.as_deref().unwrap_or_default();
        octets.get(begin..self.taken).unwrap_or_default()
    }

    /// How many octets are left; the block goes home if none are.
    pub(super) fn settle(&mut self) -> usize {
        let left = self.left();
        if left == 0 {
            *self = Self::default();
        }
        left
    }
}

/// The block with what it has received beside its octets, of memory that does not cross, in line.
fn flat(block: &Block) -> Block {
    let mut octets = Vec::with_capacity(block.full_len());
    block.for_each_stretch(|stretch| octets.extend_from_slice(stretch));
    Block::from_vec(octets)
}
