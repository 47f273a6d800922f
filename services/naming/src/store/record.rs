//! How targets look in a file: one byte that says which kind, and what follows.
//!
//! ```text
//! 00 reference      an object
//! 01 number         a context of this store, 8 bytes, big-endian
//! 02 reference      a context of another server
//! ```

use super::Target;

const OBJECT: u8 = 0;
const CONTEXT: u8 = 1;
const FOREIGN: u8 = 2;

/// A target as bytes.
pub(super) fn encoded(target: &Target) -> Vec<u8> {
    let (tag, number);
    let body: &[u8] = match target {
        Target::Object(reference) => {
            tag = OBJECT;
            reference
        }
        Target::Context(context) => {
            (tag, number) = (CONTEXT, context.to_be_bytes());
            &number
        }
        Target::Foreign(reference) => {
            tag = FOREIGN;
            reference
        }
    };
    let mut bytes = Vec::with_capacity(1 + body.len());
    bytes.push(tag);
    bytes.extend_from_slice(body);
    bytes
}

/// The target that bytes stand for, if they do.
pub(super) fn decoded(bytes: &[u8]) -> Option<Target> {
    let (tag, body) = bytes.split_first()?;
    match *tag {
        OBJECT => Some(Target::Object(body.into())),
        CONTEXT => Some(Target::Context(u64::from_be_bytes(body.try_into().ok()?))),
        FOREIGN => Some(Target::Foreign(body.into())),
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
        ] {
            assert_eq!(decoded(&encoded(&target)), Some(target));
        }
        for bytes in [&[][..], &[3, 1], &[CONTEXT, 1, 2]] {
            assert_eq!(decoded(bytes), None);
        }
    }
}
