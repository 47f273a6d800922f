//! What inputs cost that are made to be dear to whoever reads them.
//!
//! A [`Shape`] makes input of a decoder, as long as is asked for, of one of the kinds by which a short message costs
//! much: types that refer to one another, encapsulations in one another, elements without octets, lists of ids,
//! chunks in chunks, fragments of one octet. Memory is counted by an allocator ([`allocated_by`]), work in
//! instructions, by the program of this package under callgrind.
//!
//! What is refused early costs nothing. So each shape says how reading it ends, at the input's end or with a
//! [`Refusal`] at a certain place, and what is counted counts only if it ended so.

mod counting;
mod outcome;
mod shapes;

pub use counting::{Allocated, allocated_by};
pub use outcome::{End, Outcome, Refusal};
pub use shapes::{SHAPES, shape};

/// Octets that may be allocated for each octet that came,
pub const TIMES: usize = 16;
/// and beside them.
pub const BESIDE: usize = 64 * 1024;

/// A kind of input, and what reads it.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// What reads it.
    pub decoder: &'static str,
    /// What it is made of.
    pub name: &'static str,
    /// Input of about so many octets.
    pub make: fn(usize) -> Vec<u8>,
    /// Reads it, as far as it can be read.
    pub read: fn(&[u8]) -> Outcome,
    /// How that ends.
    pub end: End,
    /// How many octets may be allocated for each one: [`TIMES`], but where there is a reason,
    pub times: usize,
    /// and how many beside: [`BESIDE`], but where there is a reason.
    pub beside: usize,
    /// Which of them.
    pub counted: Counted,
}

/// What of that which is allocated is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// All of it, freed again or not.
    InAll,
    /// What is held at once: of what one part after the other is looked at and gone again.
    AtATime,
}

/// What reading an input has come to.
#[derive(Debug)]
pub struct Cost {
    /// The octets of the input.
    pub received: usize,
    /// What was allocated for them.
    pub allocated: Allocated,
    /// How reading ended.
    pub outcome: Outcome,
}

impl Shape {
    /// One with the bounds of all, that is read whole.
    const fn new(
        decoder: &'static str,
        name: &'static str,
        make: fn(usize) -> Vec<u8>,
        read: fn(&[u8]) -> Outcome,
    ) -> Self {
        Self {
            decoder,
            name,
            make,
            read,
            end: End::Whole,
            times: TIMES,
            beside: BESIDE,
            counted: Counted::InAll,
        }
    }

    /// The same, but that it is refused.
    const fn refused(self, end: End) -> Self {
        Self { end, ..self }
    }

    /// Reads an input of about so many octets, and counts what that allocates.
    #[must_use]
    pub fn cost(&self, octets: usize) -> Cost {
        let input = (self.make)(octets);
        // What is made once for a thread or the process is no input's.
        let _ = (self.read)(&(self.make)(64));
        let mut outcome = Ok(());
        let allocated = allocated_by(|| outcome = (self.read)(&input));
        Cost {
            received: input.len(),
            allocated,
            outcome,
        }
    }

    /// What of that is bounded.
    #[must_use]
    pub const fn bounded(&self, allocated: Allocated) -> usize {
        match self.counted {
            Counted::InAll => allocated.total,
            Counted::AtATime => allocated.peak,
        }
    }

    /// How many octets may be allocated for so many.
    #[must_use]
    pub const fn allowed(&self, received: usize) -> usize {
        received * self.times + self.beside
    }
}
