//! Memory that two processes share, where each writes its own and only reads the other's.
//!
//! Each side makes a memory file ([`create`]), maps it for writing, and seals it: it keeps its size
//! for ever, and no one else can map it for writing any more. The file's descriptor then goes to
//! the peer, which checks those seals and maps it for reading ([`PeerMemory::map`]). So a process
//! never reads back what another could have written into its own memory, and what it reads of the
//! other's memory may change at any moment but never disappears.
//!
//! The module contains `unsafe`, and is sound because:
//! - A [`Region`] is the only way to a range of one's own memory; regions of one mapping never
//!   overlap,
//!   so a region lends its bytes as Rust's references like any owned buffer.
//! - A [`PeerMemory`] is read with atomic loads only, word by word, so that a concurrent change is
//!   a
//!   value and not undefined behaviour. Its bytes become a slice only where the application has chosen
//!   to trust the peer not to change them ([`Trusted`]), see [`PeerMemory::view`].
//! - A mapping lives as long as any region, words or peer memory that is part of it.
//!
//! Where both ends live in one process, the two mappings of one file are different memory to the
//! language, and the reader's side treats the writer's like any other process's.
//!
//! Miri has no memory files and cannot run this; the code that it could check is kept small
//! instead.

mod mapping;
mod own;
mod peer;

pub use own::{Region, Words, create};
pub use peer::{OutOfRange, PeerMemory, Refused, Trusted};

use rustix::fs::SealFlags;

/// Seals that both sides require: no SIGBUS by truncation, no second writer, and no unsealing.
const SEALS: SealFlags = SealFlags::SHRINK
    .union(SealFlags::GROW)
    .union(SealFlags::FUTURE_WRITE)
    .union(SealFlags::SEAL);
