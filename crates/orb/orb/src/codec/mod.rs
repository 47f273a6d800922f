//! Encoding of values as bytes, for the data of service contexts and of tagged components:
//! `IOP::Codec` and its factory (CORBA 3.3 part 1, §16.6).
//!
//! There is one format, the CDR encapsulation: a byte order, then an Any (its type and its value),
//! or a value alone.

use crate::exception::SystemException;
use crate::orb::{Orb, OrbInitInfo};
use punctual_any::{Any, TypeCode};
use punctual_cdr::{
    ByteOrder, CdrError, CodeSets, Coding, Decoder, Encoder, GiopVersion, Marshal, Unmarshal,
};
use std::fmt;

/// Format of CDR encapsulations (`IOP::ENCODING_CDR_ENCAPS`).
pub const ENCODING_CDR_ENCAPS: i16 = 0;

/// Encoding used by a codec (`IOP::Encoding`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// Number of the encoding format, such as `ENCODING_CDR_ENCAPS`.
    pub format: i16,
    /// Major GIOP version whose CDR encoding the codec uses.
    pub major_version: u8,
    /// Minor GIOP version whose CDR encoding the codec uses.
    pub minor_version: u8,
}

/// Error for an encoding that no codec supports (`CodecFactory::UnknownEncoding`).
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no codec supports format {} in version {}.{}", .0.format, .0.major_version, .0.minor_version)]
pub struct UnknownEncoding(
    /// Encoding that was requested.
    pub Encoding,
);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for UnknownEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Error of encoding or decoding a value by a codec.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The encoding cannot represent the value: for example, wide text in version 1.0.
    #[error("the encoding cannot represent the value: {0}")]
    InvalidTypeForEncoding(CdrError),
    /// The bytes are not an encoding that a codec produces.
    #[error("the bytes are not an encapsulation of a value: {0}")]
    FormatMismatch(CdrError),
    /// The bytes are not a value of the type.
    #[error("the bytes are not a value of the type: {0}")]
    TypeMismatch(CdrError),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<CodecError> for SystemException {
    fn from(error: CodecError) -> Self {
        match error {
            CodecError::InvalidTypeForEncoding(error)
            | CodecError::FormatMismatch(error)
            | CodecError::TypeMismatch(error) => error.into(),
        }
    }
}

/// Factory of codecs for an ORB (`IOP::CodecFactory`).
#[derive(Clone, Debug)]
pub struct CodecFactory(Orb);

impl CodecFactory {
    /// Creates a codec of an encoding: CDR encapsulations of versions 1.0, 1.1 and 1.2.
    ///
    /// # Errors
    /// [`UnknownEncoding`].
    pub fn create_codec(&self, encoding: Encoding) -> Result<Codec, UnknownEncoding> {
        let version = GiopVersion::from_numbers(encoding.major_version, encoding.minor_version);
        let version = version.filter(|_| encoding.format == ENCODING_CDR_ENCAPS);
        Ok(Codec {
            orb: self.0.clone(),
            version: version.ok_or(UnknownEncoding(encoding))?,
        })
    }
}

/// Encoder and decoder of values as bytes. Text is encoded as UTF-8, wide text as UTF-16; before
/// version 1.1 there is no wide text. Decoded references belong to the codec's ORB.
#[derive(Clone)]
pub struct Codec {
    orb: Orb,
    version: GiopVersion,
}

impl Codec {
    /// Encodes a value with its type.
    ///
    /// # Errors
    /// [`CodecError::InvalidTypeForEncoding`].
    pub fn encode(&self, any: &Any) -> Result<Vec<u8>, CodecError> {
        self.written(|out| any.marshal(out))
    }

    /// Encodes a value without its type, which the decoder must know.
    ///
    /// # Errors
    /// [`CodecError::InvalidTypeForEncoding`].
    pub fn encode_value(&self, any: &Any) -> Result<Vec<u8>, CodecError> {
        self.written(|out| any.marshal_value(out))
    }

    /// Decodes bytes that were encoded by [`Codec::encode`], of this or another ORB.
    ///
    /// # Errors
    /// [`CodecError::FormatMismatch`].
    pub fn decode(&self, octets: &[u8]) -> Result<Any, CodecError> {
        let mut input = self.begin(octets).map_err(CodecError::FormatMismatch)?;
        let any = Any::unmarshal(&mut input).and_then(|any| ends(&input).map(|()| any));
        any.map_err(CodecError::FormatMismatch)
    }

    /// Decodes bytes that were encoded by [`Codec::encode_value`], of this or another ORB, as a
    /// value of this type.
    ///
    /// # Errors
    /// [`CodecError::FormatMismatch`] for octets without a byte order;
    /// [`CodecError::TypeMismatch`].
    pub fn decode_value(&self, octets: &[u8], type_code: &TypeCode) -> Result<Any, CodecError> {
        let mut input = self.begin(octets).map_err(CodecError::FormatMismatch)?;
        let mut any = Any::default();
        let read = any.unmarshal_as(type_code, &mut input);
        let read = read.and_then(|()| ends(&input));
        read.map_err(CodecError::TypeMismatch)?;
        Ok(any)
    }

    fn begin<'d>(&'d self, octets: &'d [u8]) -> Result<Decoder<'d>, CdrError> {
        Decoder::of_encapsulation(octets, self.coding())
    }

    fn coding(&self) -> Coding<'_> {
        Coding {
            version: self.version,
            code_sets: match self.version {
                GiopVersion::V1_0 => CodeSets::UNNEGOTIATED,
                _ => CodeSets::NATIVE,
            },
            limits: self.orb.broker().limits(),
            environment: Some(&self.orb),
        }
    }

    fn written(
        &self,
        write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
    ) -> Result<Vec<u8>, CodecError> {
        let written = Encoder::encapsulated(ByteOrder::NATIVE, self.coding(), |out| write(out));
        written.map_err(CodecError::InvalidTypeForEncoding)
    }
}

/// Checks that nothing but padding is left in the input.
fn ends(input: &Decoder<'_>) -> Result<(), CdrError> {
    match input.remaining() {
        0..8 => Ok(()),
        _ => Err(CdrError::Invalid("octets are left behind the value")),
    }
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codec")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl Orb {
    /// Returns the factory of codecs (the initial reference `CodecFactory` of the standard).
    #[must_use]
    pub fn codec_factory(&self) -> CodecFactory {
        CodecFactory(self.clone())
    }
}

impl OrbInitInfo<'_> {
    /// Returns the ORB's factory of codecs.
    #[must_use]
    pub fn codec_factory(&self) -> CodecFactory {
        self.orb.codec_factory()
    }
}
