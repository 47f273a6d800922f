//! Events as datagrams, in the form of TAO's gateways for UDP and multicast: a message of any length is split
//! into fragments, each with a header of 32 octets.

mod assembler;
mod header;
mod split;
mod window;

pub use assembler::{Assembler, AssemblerOptions, Counts, Taken};
pub use header::{BadDatagram, FragmentHeader, HEADER};
pub use split::{Fragments, SplitError, split};
