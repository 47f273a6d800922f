//! What inputs cost that are made to be dear to whoever reads them.
//!
//! A [`Shape`] makes input of a decoder, as long as is asked for, of one of the kinds by which a short message costs
//! much: types that refer to one another, encapsulations in one another, elements without octets, lists of ids,
//! chunks in chunks, fragments of one octet. Memory is counted by an allocator ([`allocated_by`]), work in
//! instructions, by the program of this package under callgrind.

mod counting;
mod shapes;

pub use counting::{Allocated, allocated_by};
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
    pub read: fn(&[u8]),
    /// How many octets may be allocated for each one: [`TIMES`], but where there is a reason,
    pub times: usize,
    /// and how many beside: [`BESIDE`], but where there is a reason.
    pub beside: usize,
}

/// What reading so much has allocated, in octets.
#[must_use]
pub fn allocated(shape: &Shape, octets: usize) -> (usize, Allocated) {
    let input = (shape.make)(octets);
    // What is made once for a thread or the process is no input's.
    (shape.read)(&(shape.make)(64));
    (input.len(), allocated_by(|| (shape.read)(&input)))
}

impl Shape {
    /// One with the bounds of all.
    const fn new(
        decoder: &'static str,
        name: &'static str,
        make: fn(usize) -> Vec<u8>,
        read: fn(&[u8]),
    ) -> Self {
        Self {
            decoder,
            name,
            make,
            read,
            times: TIMES,
            beside: BESIDE,
        }
    }

    /// How many octets may be allocated for so many.
    #[must_use]
    pub const fn allowed(&self, received: usize) -> usize {
        received * self.times + self.beside
    }
}
