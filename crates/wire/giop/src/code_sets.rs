//! Negotiation of code sets (CORBA 3.3 part 2, §7.10.2): the server publishes its code sets in its
//! reference, the client chooses and tells the server on the first request of a connection.
//!
//! Ours are UTF-8 and UTF-16. As a client we convert to any of a server's code sets that
//! [`NarrowCodeSet`] and [`WideCodeSet`] know; as a server we announce ISO 8859-1 and UCS-2 in
//! addition to our own, so that references stay short, and read any of them.

use punctual_cdr::{ByteOrder, CdrError, CodeSets, Coding, Decoder, NarrowCodeSet, WideCodeSet};
use punctual_ior::{CodeSetComponent, CodeSetComponentInfo};
use thiserror::Error;

/// Code sets that a client chose, by their numbers in the OSF registry: the data of service context
/// 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeSetContext {
    /// Number of the code set for `char` and `string`.
    pub char_data: u32,
    /// Code set for `wchar` and `wstring`; 0 where none was agreed on.
    pub wchar_data: u32,
}

/// Error for a server without a narrow code set that we have: CODESET_INCOMPATIBLE.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[error("no common code set: the server's native one is {native:#010x}")]
pub struct Incompatible {
    /// Native narrow code set of the server.
    pub native: u32,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for Incompatible {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Error for a client that chose a narrow code set that we never published: CODESET_INCOMPATIBLE.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[error("code set {id:#010x} is not supported")]
pub struct Unsupported {
    /// Number of the code set in the OSF registry.
    pub id: u32,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl CodeSetContext {
    /// Reads the data of the context.
    ///
    /// # Errors
    /// A [`CdrError`] for malformed data.
    pub fn decode(data: &[u8]) -> Result<Self, CdrError> {
        let mut input = Decoder::of_encapsulation(data, Coding::default())?;
        Ok(Self {
            char_data: input.get_u32()?,
            wchar_data: input.get_u32()?,
        })
    }

    /// Returns the data of the context: an encapsulation in the machine's byte order.
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

/// Returns the component that we publish in our references, with this code set as the native one of
/// `char`; conversion to UTF-8 and ISO 8859-1 is always announced.
#[must_use]
pub fn our_component(native: NarrowCodeSet) -> CodeSetComponentInfo {
    let ours = [NarrowCodeSet::Utf8, NarrowCodeSet::Iso8859_1];
    let others = ours.into_iter().filter(|one| *one != native);
    CodeSetComponentInfo {
        char_data: CodeSetComponent {
            native: native.id(),
            conversion: others.map(NarrowCodeSet::id).collect(),
        },
        wchar_data: CodeSetComponent {
            native: WideCodeSet::Utf16.id(),
            conversion: vec![WideCodeSet::Ucs2.id()],
        },
    }
}

/// Chooses code sets for calls to a server that published these (§7.10.2.6). Our `native` one for
/// `char` and UTF-16 come first (UTF-8 loses nothing); then the server's native one, if we can
/// convert to it; then those that it converts to, in its order. With none of them, both sides fall
/// back to UTF-8 and UTF-16 where their native sets have characters in common.
///
/// A server that published nothing has ISO 8859-1 and no wide text; one that published no wide code
/// sets gets none, and only calls with wide text fail.
///
/// # Errors
/// [`Incompatible`] if there is no narrow code set in common, and none to fall back to.
pub fn negotiate(
    server: Option<&CodeSetComponentInfo>,
    native: NarrowCodeSet,
) -> Result<CodeSets, Incompatible> {
    let Some(server) = server else {
        return Ok(CodeSets::UNNEGOTIATED);
    };
    let narrow = agree(&server.char_data, native.id(), NarrowCodeSet::from_id);
    let wide = agree(
        &server.wchar_data,
        WideCodeSet::Utf16.id(),
        WideCodeSet::from_id,
    );
    Ok(CodeSets {
        narrow: narrow.ok_or(Incompatible {
            native: server.char_data.native,
        })?,
        wide,
    })
}

/// Returns the transmission code set, if both sides have one in common, or one to fall back to.
fn agree<S>(server: &CodeSetComponent, ours: u32, known: impl Fn(u32) -> Option<S>) -> Option<S> {
    let theirs = || std::iter::once(server.native).chain(server.conversion.iter().copied());
    theirs()
        .find(|id| *id == ours)
        .and_then(&known)
        .or_else(|| theirs().find_map(&known))
        .or_else(|| known(ours).filter(|_| has_letters(server.native)))
}

/// Returns whether a code set that we cannot convert has characters in common with Unicode: all
/// that the registry lists under an organization have at least the letters of ASCII.
fn has_letters(id: u32) -> bool {
    matches!(id >> 16, 0x0001..=0x000b | 0x0500..=0x0502 | 0x1000..=0x1004)
}

/// Returns the code sets that a client chose. For narrow text, the id 0 means ISO 8859-1, as if the
/// client had chosen none. An unsupported code set for wide text is no error here: clients announce
/// one with each request, and it is refused when wide text is used.
///
/// # Errors
/// [`Unsupported`] if the client chose an unsupported code set for narrow text, which nearly every
/// request contains.
pub fn from_context(context: CodeSetContext) -> Result<CodeSets, Unsupported> {
    let narrow = match context.char_data {
        0 => CodeSets::UNNEGOTIATED.narrow,
        id => NarrowCodeSet::from_id(id).ok_or(Unsupported { id })?,
    };
    let wide = match context.wchar_data {
        0 => None,
        id => Some(WideCodeSet::from_id(id).unwrap_or(WideCodeSet::Unsupported(id))),
    };
    Ok(CodeSets { narrow, wide })
}
