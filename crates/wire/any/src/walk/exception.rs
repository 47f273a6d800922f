//! Exceptions in Anys, in both forms that there are.
//!
//! By the book an exception's members follow its repository id, as in a reply (CORBA 3.3 part 2, §9.3.5.5).
//! omniORB up to 4.2 leaves the id out. Whoever reads looks whether the octets begin with the very id that
//! the TypeCode has: members that do so by chance would have to begin with a string of that text.

use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Encoder, NarrowCodeSet};

/// Passes over the repository id, if it stands here. Whether it does.
pub(crate) fn pass_id(id: &str, input: &mut Decoder<'_>) -> bool {
    // A length of 0 is no id: some write an empty string like that, and an exception without a name whose members
    // begin with 0 would lose them.
    if input.peek_u32().is_none_or(|length| length == 0) {
        return false;
    }
    let mut ahead = input.ahead();
    let found = ahead.get_string_octets();
    // It is ISO 8859-1 there.
    let is_there = found.is_ok_and(|found| {
        let found = found.iter().map(|octet| char::from(*octet));
        found.eq(id.chars())
    });
    if is_there {
        input.catch_up(ahead);
    }
    is_there
}

/// Whether octets from a multiple of 4 on are read as those of an exception with its id.
pub(super) fn begins_with_id(id: &str, octets: &[u8], order: ByteOrder) -> bool {
    pass_id(id, &mut Decoder::new(octets, order, Coding::default()))
}

/// Writes the repository id, as is by the book.
pub(crate) fn marshal_id(id: &str, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    out.put_string_in(NarrowCodeSet::Iso8859_1, id)
}
