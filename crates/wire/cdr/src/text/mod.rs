//! Text: `char`, `string`, `wchar` and `wstring` in the negotiated code sets.
//!
//! A string is an `unsigned long` that counts octets with the NUL, then the octets (CORBA 3.3 part
//! 2, §9.3.2.7), see `narrow`. Wide text differs by version, see `wide`. `values` lists the types
//! of Rust that are transmitted as text.

mod narrow;
mod values;
mod wide;

use crate::encoder::Encoder;
use crate::error::CdrError;

impl Encoder<'_> {
    /// Writes a length in characters plus `terminators`, checked against the limit on strings.
    #[inline]
    fn put_text_length(&mut self, length: usize, terminators: usize) -> Result<(), CdrError> {
        let limit = self.coding().limits.string;
        match u32::try_from(length.saturating_add(terminators)) {
            Ok(encoded) if length <= limit => {
                self.put_u32(encoded);
                Ok(())
            }
            _ => Err(CdrError::over_limit(length, limit)),
        }
    }
}
