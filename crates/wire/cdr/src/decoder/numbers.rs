//! Reading of numbers: each is aligned to its size, and in the byte order of the message.

use super::Decoder;
use crate::error::CdrError;
use crate::order::ByteOrder;

impl Decoder<'_> {
    #[inline]
    fn get_aligned<const N: usize>(&mut self) -> Result<[u8; N], CdrError> {
        let padding = self.padding(N);
        let rest = self.bytes.get(self.at + padding..);
        match rest.and_then(<[u8]>::first_chunk) {
            Some(octets) => {
                self.at += padding + N;
                Ok(*octets)
            }
            None => self.get_aligned_at_end(),
        }
    }

    /// Reads as [`Decoder::get_aligned`] does, where `bytes` ends before the value does.
    #[cold]
    fn get_aligned_at_end<const N: usize>(&mut self) -> Result<[u8; N], CdrError> {
        self.cross_padding(N);
        if self.cross_chunk(N)? {
            self.cross_padding(N);
        }
        let needed = self.padding(N) + N;
        let octets = self.get_bytes(needed)?.last_chunk();
        octets
            .copied()
            .ok_or_else(|| CdrError::truncated(needed, self.remaining()))
    }

    /// Reads a boolean.
    ///
    /// # Errors
    /// [`CdrError::Truncated`]; [`CdrError::BadBoolean`] for an octet other than 0 and 1.
    #[inline]
    pub fn get_bool(&mut self) -> Result<bool, CdrError> {
        match self.get_u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(CdrError::BadBoolean(other)),
        }
    }

    /// Reads an octet.
    ///
    /// # Errors
    /// [`CdrError::Truncated`].
    #[inline]
    pub fn get_u8(&mut self) -> Result<u8, CdrError> {
        match self.bytes.get(self.at) {
            Some(octet) => {
                self.at += 1;
                Ok(*octet)
            }
            None => self.get_aligned_at_end().map(|[octet]| octet),
        }
    }

    /// Reads a signed octet (IDL `int8`).
    ///
    /// # Errors
    /// [`CdrError::Truncated`].
    #[inline]
    pub fn get_i8(&mut self) -> Result<i8, CdrError> {
        self.get_u8().map(u8::cast_signed)
    }
}

macro_rules! get_numbers {
    ($($name:ident $number:ty, $what:literal;)*) => {
        impl Decoder<'_> {$(
            #[doc = concat!("Reads ", $what, ", aligned to its size.")]
            ///
            /// # Errors
            /// [`CdrError::Truncated`].
            #[inline]
            pub fn $name(&mut self) -> Result<$number, CdrError> {
                let octets = self.get_aligned()?;
                Ok(match self.order {
                    ByteOrder::Big => <$number>::from_be_bytes(octets),
                    ByteOrder::Little => <$number>::from_le_bytes(octets),
                })
            }
        )*}
    };
}

get_numbers! {
    get_u16 u16, "an `unsigned short`";
    get_i16 i16, "a `short`";
    get_u32 u32, "an `unsigned long`";
    get_i32 i32, "a `long`";
    get_u64 u64, "an `unsigned long long`";
    get_i64 i64, "a `long long`";
    get_f32 f32, "a `float`, bit for bit";
    get_f64 f64, "a `double`, bit for bit";
}
