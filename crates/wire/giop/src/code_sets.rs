//! Agreement on code sets (CORBA 3.3 part 2, §7.10.2): the server publishes what it has in its
//! reference, the client chooses and tells the server on the first request of a connection.
//!
//! Ours are UTF-8 and UTF-16; we convert to and from ISO 8859-1 and UCS-2.

use punctual_cdr::{ByteOrder, CdrError, CodeSets, Coding, Decoder, NarrowCodeSet, WideCodeSet};
use punctual_ior::{CodeSetComponent, CodeSetComponentInfo};
use thiserror::Error;

/// The code sets that a client chose, by their numbers in the OSF registry: the data of service
/// context 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeSetContext {
    /// For `char` and `string`.
    pub char_data: u32,
    /// For `wchar` and `wstring`; 0 where none was agreed on.
    pub wchar_data: u32,
}

/// A server has no narrow code set that we have: CODESET_INCOMPATIBLE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no common code set: the server's native one is {native:#010x}")]
pub struct Incompatible {
    /// The server's native narrow code set.
    pub native: u32,
}

/// A client chose a code set that we never published: CODESET_INCOMPATIBLE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("code set {id:#010x} is not supported")]
pub struct Unsupported {
    /// The code set.
    pub id: u32,
}

impl CodeSetContext {
    /// Reads the data of the context.
    ///
    /// # Errors
    /// A [`CdrError`] that tells what is malformed.
    pub fn decode(data: &[u8]) -> Result<Self, CdrError> {
        let mut input = Decoder::of_encapsulation(data, Coding::default())?;
        Ok(Self {
            char_data: input.get_u32()?,
            wchar_data: input.get_u32()?,
        })
    }

    /// The data of the context: an encapsulation in the machine's byte order.
    #[must_use]
    pub const fn encode(self) -> [u8; 12] {
        let [c0, c1, c2, c3] = self.char_data.to_ne_bytes();
        let [w0, w1, w2, w3] = self.wchar_data.to_ne_bytes();
        let order = ByteOrder::NATIVE.flag();
        [order, 0, 0, 0, c0, c1, c2, c3, w0, w1, w2, w3]
    }
}

impl From<CodeSets> for CodeSetContext {
    fn from(agreed: CodeSets) -> Self {
        Self {
            char_data: agreed.narrow.id(),
            wchar_data: agreed.wide.map_or(0, WideCodeSet::id),
        }
    }
}

/// What we publish in our references.
#[must_use]
pub fn our_component() -> CodeSetComponentInfo {
    CodeSetComponentInfo {
        char_data: CodeSetComponent {
            native: NarrowCodeSet::Utf8.id(),
            conversion: vec![NarrowCodeSet::Iso8859_1.id()],
        },
        wchar_data: CodeSetComponent {
            native: WideCodeSet::Utf16.id(),
            conversion: vec![WideCodeSet::Ucs2.id()],
        },
    }
}

/// Chooses code sets for calls to a server that published these. UTF-8 and UTF-16 come first, as
/// they lose nothing. A server that published nothing has ISO 8859-1 and no wide text (§7.10.2.6);
/// one without a wide code set that we have gets none, and only calls with wide text fail.
///
/// # Errors
/// [`Incompatible`] if there is no narrow code set in common.
pub fn negotiate(server: Option<&CodeSetComponentInfo>) -> Result<CodeSets, Incompatible> {
    let Some(server) = server else {
        return Ok(CodeSets::UNNEGOTIATED);
    };
    let narrow = [NarrowCodeSet::Utf8, NarrowCodeSet::Iso8859_1]
        .into_iter()
        .find(|ours| has(&server.char_data, ours.id()))
        .ok_or(Incompatible {
            native: server.char_data.native,
        })?;
    let wide = [WideCodeSet::Utf16, WideCodeSet::Ucs2]
        .into_iter()
        .find(|ours| has(&server.wchar_data, ours.id()));
    Ok(CodeSets { narrow, wide })
}

/// The code sets that a client chose.
///
/// # Errors
/// [`Unsupported`] if it chose one that we don't have.
pub fn from_context(context: CodeSetContext) -> Result<CodeSets, Unsupported> {
    let unsupported = |id| Unsupported { id };
    Ok(CodeSets {
        narrow: NarrowCodeSet::from_id(context.char_data)
            .ok_or_else(|| unsupported(context.char_data))?,
        wide: match context.wchar_data {
            0 => None,
            id => Some(WideCodeSet::from_id(id).ok_or_else(|| unsupported(id))?),
        },
    })
}

fn has(theirs: &CodeSetComponent, id: u32) -> bool {
    theirs.native == id || theirs.conversion.contains(&id)
}
