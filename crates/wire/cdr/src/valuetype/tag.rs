//! Tag of a value: its first `long`.

use crate::error::CdrError;

/// Tag of a null value.
pub(super) const NULL: u32 = 0;

/// Marker of an indirection, to an earlier value, id, list of ids or codebase.
pub(super) const INDIRECTION: u32 = 0xffff_ffff;

/// Smallest tag of a value: numbers from here on, and below `0x8000_0000`, are tags. Smaller ones
/// are sizes of chunks.
pub(super) const FIRST_TAG: u32 = 0x7fff_ff00;

const LAST_TAG: u32 = 0x7fff_ffff;
const HAS_CODEBASE: u32 = 0x01;
const TYPE_INFORMATION: u32 = 0x06;
const ONE_ID: u32 = 0x02;
const LIST_OF_IDS: u32 = 0x06;
const CHUNKED: u32 = 0x08;

/// Type information in the header of an encoded value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeInformation {
    /// No type information: the value has the expected type.
    None,
    /// Repository id of the value's own type only.
    One,
    /// Ids of the value's own type, and of types that it may be truncated to.
    List,
}

/// Tag of a value that is encoded at this position, without an indirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueTag {
    pub(super) has_codebase: bool,
    pub(super) types: TypeInformation,
    pub(super) is_chunked: bool,
}

impl ValueTag {
    /// Returns whether the number is the tag of a value that begins here.
    pub(super) fn is_tag(number: u32) -> bool {
        (FIRST_TAG..=LAST_TAG).contains(&number)
    }

    /// Parses a tag.
    ///
    /// # Errors
    /// [`CdrError::Invalid`] for any other number.
    pub(super) fn parse(number: u32) -> Result<Self, CdrError> {
        if !Self::is_tag(number) || number & 0xf0 != 0 {
            return Err(CdrError::Invalid("a value does not begin with a tag"));
        }
        let types = match number & TYPE_INFORMATION {
            0 => TypeInformation::None,
            ONE_ID => TypeInformation::One,
            LIST_OF_IDS => TypeInformation::List,
            _ => {
                return Err(CdrError::Invalid(
                    "a value's tag has invalid flags of type information",
                ));
            }
        };
        Ok(Self {
            has_codebase: number & HAS_CODEBASE != 0,
            types,
            is_chunked: number & CHUNKED != 0,
        })
    }

    pub(super) fn number(self) -> u32 {
        let types = match self.types {
            TypeInformation::None => 0,
            TypeInformation::One => ONE_ID,
            TypeInformation::List => LIST_OF_IDS,
        };
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        FIRST_TAG | flag(self.has_codebase, HAS_CODEBASE) | types | flag(self.is_chunked, CHUNKED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_read_as_it_was_written() {
        for number in [0x7fff_ff00, 0x7fff_ff03, 0x7fff_ff0a, 0x7fff_ff0e] {
            assert_eq!(ValueTag::parse(number).unwrap().number(), number);
        }
    }

    #[test]
    fn other_numbers_are_no_tags() {
        for number in [0, 17, 0x7fff_fe00, 0x7fff_ff04, 0x7fff_ff10, 0x8000_0000] {
            assert!(ValueTag::parse(number).is_err(), "{number:#x}");
        }
    }
}
