//! Cost of inputs that are made to be expensive for their reader.
//!
//! A [`Shape`] is a kind of input by which a short message may cost a decoder much: types that
//! refer to one another, nested encapsulations, elements without octets, lists of ids, nested
//! chunks, fragments of one octet. It makes inputs of any length. An allocator counts the memory
//! (`punctual_heap::bytes_of`); the program of this package counts the work, in instructions, under
//! callgrind.
//!
//! Input that is refused early costs nothing. So each shape says how the reading of its inputs
//! ends: at the input's end, or with a [`Refusal`] at a certain place. A count is valid only if the
//! reading ended in this way.

mod outcome;
mod shapes;

use punctual_heap::{Bytes, bytes_of};

pub use outcome::{End, Outcome, Refusal};
pub use shapes::{SHAPES, shape};

/// Default of the bytes that a decoder may allocate for each byte of input.
pub const TIMES: usize = 16;
/// Default of the bytes that a decoder may allocate for any input, in addition to [`TIMES`] times
/// its length.
pub const BESIDE: usize = 64 * 1024;

/// Shape: a kind of expensive input, with the function that reads it and the cost that is allowed.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Name of the decoder under test.
    pub decoder: &'static str,
    /// Name of this kind of expensive input.
    pub name: &'static str,
    /// Function that makes input of about the given number of bytes.
    pub make: fn(usize) -> Vec<u8>,
    /// Function that reads the input until its end or an error.
    pub read: fn(&[u8]) -> Outcome,
    /// Expected end of the reading: the input's end, or a refusal.
    pub end: End,
    /// Bytes that may be allocated for each byte of input: [`TIMES`] unless there is a reason for
    /// more.
    pub times: usize,
    /// Bytes that may be allocated in addition, whatever the length: [`BESIDE`] unless there is a
    /// reason for more.
    pub beside: usize,
    /// Measure of memory to which the allowed cost applies.
    pub counted: Counted,
}

/// Measure of allocated memory to which a cost limit applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Sum of all allocations, whether or not they are freed again.
    InAll,
    /// Largest amount held at any time; for input whose parts are decoded and dropped one after the
    /// other.
    AtATime,
}

/// Measured cost of decoding one input.
#[derive(Debug)]
pub struct Cost {
    /// Length of the input, in bytes.
    pub received: usize,
    /// Memory allocated while the input was decoded.
    pub allocated: Bytes,
    /// Outcome of decoding the input.
    pub outcome: Outcome,
}

impl Shape {
    /// Makes a shape with the default bounds, whose input is expected to be read to its end.
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

    /// Returns this kind of input with `end` as the expected end of its reading: a refusal.
    const fn refused(self, end: End) -> Self {
        Self { end, ..self }
    }

    /// Reads an input of about `octets` bytes, and counts the allocations.
    #[must_use]
    pub fn cost(&self, octets: usize) -> Cost {
        let input = (self.make)(octets);
        // State that is made once for a thread or the process is not part of an input's cost.
        let _ = (self.read)(&(self.make)(64));
        let mut outcome = Ok(());
        let allocated = bytes_of(|| outcome = (self.read)(&input));
        Cost {
            received: input.len(),
            allocated,
            outcome,
        }
    }

    /// Returns the allocated bytes to which the shape's bound applies.
    #[must_use]
    pub const fn bounded(&self, allocated: Bytes) -> usize {
        match self.counted {
            Counted::InAll => allocated.total,
            Counted::AtATime => allocated.peak,
        }
    }

    /// Returns the number of bytes that may be allocated for an input of `received` bytes.
    #[must_use]
    pub const fn allowed(&self, received: usize) -> usize {
        received * self.times + self.beside
    }
}
