//! Exceptions that an interface declares.

use punctual_cdr::{Marshal, Unmarshal};

/// A user exception, written by the IDL compiler. Marshaling it writes its members; its id goes ahead
/// of them.
pub trait UserException: Marshal + Unmarshal {
    /// Its repository id.
    const REPOSITORY_ID: &'static str;
}
