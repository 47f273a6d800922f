//! References as text (CORBA 3.3 part 2, §7.6.9): `IOR:` and an encapsulation in hexadecimal.

use std::fmt;
use std::str::FromStr;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use punctual_cdr::{
    ByteOrder, CdrError, Char, Coding, Decoder, Encoder, GiopVersion, Limits, Marshal, Unmarshal,
};

use crate::error::IorError;
use crate::reference::Ior;

/// Limits for text, which is in memory already; a printed reference was accepted before.
const UNLIMITED: Limits = Limits {
    message: usize::MAX,
    string: usize::MAX,
    sequence: usize::MAX,
    ..Limits::DEFAULT
};

impl Ior {
    /// Encodes the reference to the bytes that `IOR:` text stands for, in this byte order.
    ///
    /// # Errors
    /// Those of an invalid type id ([`CdrError::InnerNul`], [`CdrError::CharacterNotInCodeSet`])
    /// and [`CdrError::LengthOverLimit`].
    pub fn to_encapsulation(&self, order: ByteOrder) -> Result<Vec<u8>, CdrError> {
        let coding = Coding::new(GiopVersion::V1_0, &UNLIMITED);
        Encoder::encapsulated(order, coding, |out| self.marshal(out))
    }

    /// Reads the bytes that `IOR:` text stands for.
    ///
    /// # Errors
    /// A [`CdrError`] if they are malformed.
    pub fn from_encapsulation(octets: &[u8]) -> Result<Self, CdrError> {
        let coding = Coding::new(GiopVersion::V1_0, &UNLIMITED);
        Self::unmarshal(&mut Decoder::of_encapsulation(octets, coding)?)
    }

    /// Returns the reference as `IOR:` text in this byte order; `to_string` uses the machine's.
    ///
    /// # Errors
    /// As [`Ior::to_encapsulation`].
    pub fn stringify(&self, order: ByteOrder) -> Result<String, CdrError> {
        let octets = self.to_encapsulation(order)?;
        Ok(format!("IOR:{}", HEXLOWER.encode(&octets)))
    }
}

/// Shows the reference as `IOR:` text in the machine's byte order. A character that a type id can't
/// have on the wire becomes a question mark.
impl fmt::Display for Ior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.stringify(ByteOrder::NATIVE).or_else(|_| {
            let sendable = |character| match character {
                '\0' => '?',
                _ => Char::try_from(character).map_or('?', char::from),
            };
            let sendable = Self {
                type_id: self.type_id.chars().map(sendable).collect(),
                profiles: self.profiles.clone(),
            };
            sendable.stringify(ByteOrder::NATIVE)
        });
        f.write_str(&text.map_err(|_| fmt::Error)?)
    }
}

/// Parses `IOR:` text; prefix and digits in upper or lower case, white space around it ignored.
impl FromStr for Ior {
    type Err = IorError;

    fn from_str(text: &str) -> Result<Self, IorError> {
        let text = text.trim_end();
        let start = text.len() - text.trim_start().len();
        let prefix = text.get(start..start + 4);
        if !prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case("IOR:")) {
            return Err(IorError::NoPrefix);
        }
        let digits = text.as_bytes().get(start + 4..).unwrap_or_default();
        if let Some(position) = digits.iter().position(|digit| !digit.is_ascii_hexdigit()) {
            let position = start + 4 + position;
            return Err(IorError::BadDigit { position });
        }
        let position = text.len();
        let octets = HEXLOWER_PERMISSIVE.decode(digits);
        let octets = octets.map_err(|_| IorError::OddDigits { position })?;
        Ok(Self::from_encapsulation(&octets)?)
    }
}
