//! Paths of sockets, in profiles and components.

use std::borrow::Cow;

use punctual_cdr::{CdrError, Decoder, Encoder, NarrowCodeSet};

/// Reads a path. To the operating system a path is bytes: no code set is converted, so only UTF-8
/// passes.
pub(crate) fn get_path(input: &mut Decoder<'_>) -> Result<String, CdrError> {
    let path = input.get_string_in(NarrowCodeSet::Utf8);
    path.map(Cow::into_owned)
}

/// Encodes the path of a Unix domain socket as a string in UTF-8.
pub(crate) fn put_path(out: &mut Encoder<'_>, path: &str) -> Result<(), CdrError> {
    out.put_string_in(NarrowCodeSet::Utf8, path)
}
