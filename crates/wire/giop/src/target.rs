//! Addressing of a request's object (CORBA 3.3 part 2, §9.4.2.3).

use punctual_cdr::{CdrError, Decoder, Encoder, GiopVersion, Marshal, Unmarshal};
use punctual_ior::Ior;

/// Object that a request is for. GIOP 1.0 and 1.1 know object keys only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target<'m> {
    /// Object key, from the selected profile of the object's reference.
    ObjectKey(&'m [u8]),
    /// Selected profile of the object's reference, in encoded form.
    Profile {
        /// Tag of the selected profile.
        tag: u32,
        /// Encoded data of the selected profile.
        data: &'m [u8],
    },
    /// Complete object reference, with the profile that was selected from it.
    Reference {
        /// Index of the selected profile in the reference.
        selected: u32,
        /// Complete reference of the object.
        ior: Box<Ior>,
    },
}

/// Way in which a server wants to be addressed; the body of a NEEDS_ADDRESSING_MODE reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressingDisposition {
    /// KeyAddr: requests are addressed by the object key.
    Key,
    /// ProfileAddr: requests are addressed by a profile of the reference.
    Profile,
    /// ReferenceAddr: requests are addressed by the complete reference.
    Reference,
}

impl AddressingDisposition {
    /// Returns the number of the addressing disposition in GIOP.
    #[must_use]
    pub const fn number(self) -> u16 {
        match self {
            Self::Key => 0,
            Self::Profile => 1,
            Self::Reference => 2,
        }
    }
}

impl Marshal for AddressingDisposition {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_u16(self.number());
        Ok(())
    }
}

impl Unmarshal for AddressingDisposition {
    const MIN_SIZE: usize = 2;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        match input.get_u16()? {
            0 => Ok(Self::Key),
            1 => Ok(Self::Profile),
            2 => Ok(Self::Reference),
            other => Err(CdrError::UnknownEnumerator(other.into())),
        }
    }
}

impl<'m> Target<'m> {
    #[inline]
    pub(crate) fn decode(input: &mut Decoder<'m>) -> Result<Self, CdrError> {
        if input.coding().version != GiopVersion::V1_2 {
            return input.get_octets().map(Self::ObjectKey);
        }
        Ok(match input.get_u16()? {
            0 => Self::ObjectKey(input.get_octets()?),
            1 => Self::Profile {
                tag: input.get_u32()?,
                data: input.get_octets()?,
            },
            2 => Self::Reference {
                selected: input.get_u32()?,
                ior: Box::new(Ior::unmarshal(input)?),
            },
            _ => return Err(CdrError::UnknownDiscriminator),
        })
    }

    #[inline]
    pub(crate) fn encode(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        let has_union = out.coding().version == GiopVersion::V1_2;
        match self {
            Self::ObjectKey(key) => {
                if has_union {
                    out.put_u16(AddressingDisposition::Key.number());
                }
                out.put_octets(key)
            }
            _ if !has_union => Err(CdrError::Invalid(
                "before GIOP 1.2 an object is addressed by its key",
            )),
            Self::Profile { tag, data } => {
                out.put_u16(AddressingDisposition::Profile.number());
                out.put_u32(*tag);
                out.put_octets(data)
            }
            Self::Reference { selected, ior } => {
                out.put_u16(AddressingDisposition::Reference.number());
                out.put_u32(*selected);
                ior.marshal(out)
            }
        }
    }
}
