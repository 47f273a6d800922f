//! Drivers for fuzzing: the code behind sockets and shared memory, fed with an input on the calling
//! thread.

pub use crate::diop::fuzzing::peers;
#[cfg(feature = "miop")]
pub use crate::miop::fuzzing::packets;
#[cfg(feature = "reliable")]
pub use crate::reliable::fuzzing::datagrams;
#[cfg(feature = "shared-memory")]
pub use crate::shmiop::fuzzing::hostile_writer;

/// Fuzzing input, read as steps and their arguments. Zeros follow after its end.
#[derive(Debug)]
pub(crate) struct Program<'i>(pub(crate) &'i [u8]);

impl<'i> Program<'i> {
    pub(crate) fn octet(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    pub(crate) fn number(&mut self) -> u32 {
        u32::from_le_bytes([self.octet(), self.octet(), self.octet(), self.octet()])
    }

    /// Takes as many bytes as the next byte says, or all that are left.
    pub(crate) fn some(&mut self) -> &'i [u8] {
        let length = usize::from(self.octet());
        let (some, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        some
    }
}
