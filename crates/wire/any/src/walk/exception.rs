//! Exceptions in Anys, in both existing encodings.
//!
//! By the standard an exception's members follow its repository id, as in a reply (CORBA 3.3 part
//! 2, §9.3.5.5). omniORB up to 4.2 omits the id. A reader checks whether the value begins with
//! exactly the id of the TypeCode: members that do so by chance would have to begin with a string
//! of that text.

use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Encoder, NarrowCodeSet};

/// Skips the repository id, if it comes next; returns whether it did.
pub(crate) fn pass_id(id: &str, input: &mut Decoder<'_>) -> bool {
    // A length of 0 is not an id: some ORBs write an empty string like that, and an exception
    // without a name whose members begin with 0 would lose them.
    if input.peek_u32().is_none_or(|length| length == 0) {
        return false;
    }
    let mut ahead = input.ahead();
    let found = ahead.get_string_octets();
    // There it is in ISO 8859-1.
    let is_there = found.is_ok_and(|found| {
        let found = found.iter().map(|octet| char::from(*octet));
        found.eq(id.chars())
    });
    if is_there {
        input.catch_up(ahead);
    }
    is_there
}

/// Returns whether bytes, from a multiple of 4 on, are read as those of an exception with its id.
pub(super) fn begins_with_id(id: &str, octets: &[u8], order: ByteOrder) -> bool {
    pass_id(id, &mut Decoder::new(octets, order, Coding::default()))
}

/// Writes the repository id of an exception, as the standard requires.
pub(crate) fn marshal_id(id: &str, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    out.put_string_in(NarrowCodeSet::Iso8859_1, id)
}
