//! Profiles and components as encoded, by their tags: what a reference consists of, whatever it
//! means.

use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Encoder, Marshal, Unmarshal};

/// Profile as encoded: `struct { ulong tag; sequence<octet> data; }`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaggedProfile {
    /// Profile tag, which identifies the type of the profile.
    pub tag: u32,
    /// Profile data as received, nearly always an encapsulation.
    pub data: Vec<u8>,
}

/// Component as encoded: `struct { ulong tag; sequence<octet> data; }`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaggedComponent {
    /// Component tag, which identifies the type of the component.
    pub tag: u32,
    /// Component data as received, nearly always an encapsulation.
    pub data: Vec<u8>,
}

impl Marshal for TaggedProfile {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_u32(self.tag);
        out.put_octets(&self.data)
    }
}

impl Unmarshal for TaggedProfile {
    const MIN_SIZE: usize = 8;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            tag: input.get_u32()?,
            data: input.get_octets()?.to_vec(),
        })
    }
}

impl Marshal for TaggedComponent {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_u32(self.tag);
        out.put_octets(&self.data)
    }
}

impl Unmarshal for TaggedComponent {
    const MIN_SIZE: usize = 8;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            tag: input.get_u32()?,
            data: input.get_octets()?.to_vec(),
        })
    }
}

/// Encodes the data of a tagged component or profile as an encapsulation.
pub(crate) fn encapsulate(
    content: impl FnOnce(&mut Encoder<'static>) -> Result<(), CdrError>,
) -> Result<Vec<u8>, CdrError> {
    Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), content)
}
