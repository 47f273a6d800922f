//! Buffers that an application borrows from a connection to fill them itself.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Memory that backs a [`Loan`].
pub trait LoanMemory: Send {
    /// Returns the lent memory for reading.
    fn as_slice(&self) -> &[u8];
    /// Returns the lent memory for writing.
    fn as_mut_slice(&mut self) -> &mut [u8];
}

/// Buffer that a connection lent to the application (Schmidt et al. 2001, §3.4.1: zero-copy).
///
/// Its bytes, passed as an argument over that connection, travel without a copy where the link
/// shares memory with its peer; over any other connection they are copied like any bytes. Returned
/// when dropped, and lent again once the peer has finished with it.
pub struct Loan {
    memory: Box<dyn LoanMemory>,
}

impl Loan {
    /// Makes a loan that is backed by the given memory.
    #[must_use]
    pub fn new(memory: Box<dyn LoanMemory>) -> Self {
        Self { memory }
    }

    /// Makes a loan from the heap, for links that share no memory.
    #[must_use]
    pub fn from_heap(length: usize) -> Self {
        Self::new(Box::new(vec![0; length]))
    }
}

impl LoanMemory for Vec<u8> {
    fn as_slice(&self) -> &[u8] {
        self
    }

    fn as_mut_slice(&mut self) -> &mut [u8] {
        self
    }
}

impl Deref for Loan {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.memory.as_slice()
    }
}

impl DerefMut for Loan {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.memory.as_mut_slice()
    }
}

impl fmt::Debug for Loan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
