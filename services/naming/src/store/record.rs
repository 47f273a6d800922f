//! Encoding of targets in stores: one byte for the kind, and its data.
//!
//! ```text
//! 00 reference      an object
//! 01 number         a context of this store, 8 bytes, big-endian
//! 02 reference      a context of another server
//! 03 ttl reference  an object for a time, in milliseconds: 4 bytes, big-endian
//! 04 choice number  a group: one byte, and the number of its context as above
//! ```

use punctual_groups::Choice;

use super::Ttl;
use super::change::Target;

const OBJECT: u8 = 0;
const CONTEXT: u8 = 1;
const FOREIGN: u8 = 2;
const TEMPORARY: u8 = 3;
const GROUP: u8 = 4;

/// Encodes the target of a binding as stored in a record.
pub(super) fn encoded(target: &Target) -> Vec<u8> {
    match target {
        Target::Object(reference) => tagged(OBJECT, &[], reference),
        Target::Context(context) => tagged(CONTEXT, &[], &context.to_be_bytes()),
        Target::Foreign(reference) => tagged(FOREIGN, &[], reference),
        Target::Temporary { reference, ttl } => {
            tagged(TEMPORARY, &ttl.millis().to_be_bytes(), reference)
        }
        Target::Group { context, choice } => {
            tagged(GROUP, &[*choice as u8], &context.to_be_bytes())
        }
    }
}

fn tagged(tag: u8, before: &[u8], body: &[u8]) -> Vec<u8> {
    [&[tag], before, body].concat()
}

/// Decodes a target; returns `None` if the bytes are not one.
pub(super) fn decoded(bytes: &[u8]) -> Option<Target> {
    let (tag, body) = bytes.split_first()?;
    match *tag {
        OBJECT => Some(Target::Object(body.into())),
        CONTEXT => Some(Target::Context(u64::from_be_bytes(body.try_into().ok()?))),
        FOREIGN => Some(Target::Foreign(body.into())),
        TEMPORARY => {
            let (millis, reference) = body.split_first_chunk()?;
            Some(Target::Temporary {
                ttl: Ttl::from_millis(u32::from_be_bytes(*millis))?,
                reference: reference.into(),
            })
        }
        GROUP => {
            let (choice, number) = body.split_first()?;
            Some(Target::Group {
                context: u64::from_be_bytes(number.try_into().ok()?),
                choice: Choice::from_number(*choice)?,
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read_as_they_were_written_and_other_bytes_are_none() {
        for target in [
            Target::Object((*b"ior").into()),
            Target::Context(7 << 40),
            Target::Foreign([].into()),
            Target::Temporary {
                reference: (*b"ior").into(),
                ttl: Ttl::from_millis(10_000).unwrap(),
            },
            Target::Group {
                context: 7 << 40,
                choice: Choice::LeastLoaded,
            },
        ] {
            assert_eq!(decoded(&encoded(&target)), Some(target));
        }
        let no_time = [TEMPORARY, 0, 0, 0, 1, 7];
        let no_choice = [GROUP, 9, 0, 0, 0, 0, 0, 0, 0, 1];
        for bytes in [
            &[][..],
            &[99, 1],
            &[CONTEXT, 1, 2],
            &[TEMPORARY, 0, 1],
            &no_time,
            &no_choice,
        ] {
            assert_eq!(decoded(bytes), None);
        }
    }
}
