//! Object ids: octets that name an object within its adapter (CORBA 3.3 part 1, §15.3.1.1).

use std::fmt;
use std::fmt::Write as _;

/// Object id, which identifies an object within its object adapter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(Box<[u8]>);

impl ObjectId {
    /// Returns the octets of the object id.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for ObjectId {
    fn from(octets: &[u8]) -> Self {
        Self(octets.into())
    }
}

impl<const N: usize> From<&[u8; N]> for ObjectId {
    fn from(octets: &[u8; N]) -> Self {
        Self(octets.as_slice().into())
    }
}

impl From<Vec<u8>> for ObjectId {
    fn from(octets: Vec<u8>) -> Self {
        Self(octets.into())
    }
}

/// Converts text to an object id, as `PortableServer::string_to_ObjectId` does.
impl From<&str> for ObjectId {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl From<String> for ObjectId {
    fn from(text: String) -> Self {
        text.into_bytes().into()
    }
}

/// Writes the printable ASCII octets as text, and escapes all others.
impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for octet in &self.0 {
            match octet {
                b'\\' => f.write_str("\\\\")?,
                0x20..=0x7e => f.write_char(char::from(*octet))?,
                other => write!(f, "\\x{other:02x}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_shows_text_as_text_and_other_octets_escaped() {
        assert_eq!(ObjectId::from("pump 7").to_string(), "pump 7");
        assert_eq!(
            ObjectId::from(&[0, 0x41, 0x5c, 0xff]).to_string(),
            r"\x00A\\\xff"
        );
    }
}
