//! `corbaname:` URLs (CosNaming 1.3, §2.5.3): a `corbaloc:` of a context, and a name in it.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::text::{NameComponent, StringifiedNameError, from_text, to_text};
use crate::corbaloc::{Corbaloc, CorbalocError, CorbalocPart, KeyMark, write_escaped};

const SCHEME: &str = "corbaname:";

/// Object key of the naming context in a `corbaname:` URL that gives none.
const DEFAULT_KEY: &str = "NameService";

/// Characters that RFC 2396 leaves unescaped in a name, in addition to letters and digits.
const UNESCAPED: &[u8] = b";/:?@&=+$,-_.!~*'()";

/// Parsed `corbaname:` URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Corbaname {
    /// Address and object key of the naming context.
    pub context: Corbaloc,
    /// Name in the context; empty where the URL means the context itself.
    pub name: Vec<NameComponent>,
}

/// Reason why a text is not a usable `corbaname:` URL.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CorbanameError {
    /// The URL does not begin with `corbaname:`.
    #[error("the URL does not begin with 'corbaname:'")]
    NotCorbaname,
    /// The text before the `#` is not a valid `corbaloc:`.
    #[error(transparent)]
    Context(CorbalocError),
    /// A percent sign is not followed by two hexadecimal digits, or the escaped bytes are not
    /// UTF-8.
    #[error(
        "the name behind the '#' has an escape that is not '%' and two hexadecimal digits, or is not UTF-8"
    )]
    BadEscape,
    /// The text after the `#`, its escapes resolved, is not a valid name.
    #[error("invalid name behind the '#': {0}")]
    Name(StringifiedNameError),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for CorbanameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl CorbanameError {
    /// Returns the part of the URL that is invalid.
    #[must_use]
    pub const fn part(&self) -> CorbalocPart {
        match self {
            Self::NotCorbaname => CorbalocPart::Scheme,
            Self::Context(error) => error.part(),
            Self::BadEscape | Self::Name(_) => CorbalocPart::SchemeSpecific,
        }
    }
}

impl FromStr for Corbaname {
    type Err = CorbanameError;

    fn from_str(url: &str) -> Result<Self, CorbanameError> {
        let rest = match url.get(..SCHEME.len()) {
            Some(scheme) if scheme.eq_ignore_ascii_case(SCHEME) => url.get(SCHEME.len()..),
            _ => None,
        };
        let rest = rest.ok_or(CorbanameError::NotCorbaname)?;
        let (context, name) = rest.split_once('#').unwrap_or((rest, ""));
        let context = context_at(context).map_err(CorbanameError::Context)?;
        let name = match name {
            "" => Vec::new(),
            name => from_text(&unescaped(name)?).map_err(CorbanameError::Name)?,
        };
        Ok(Self { context, name })
    }
}

/// Returns the context at these addresses, with the default key where they name none.
fn context_at(addresses: &str) -> Result<Corbaloc, CorbalocError> {
    let location = format!("corbaloc:{addresses}");
    match location.parse() {
        Err(CorbalocError::NoKey { behind }) => {
            let mark = match behind {
                KeyMark::Slash => '/',
                KeyMark::Bar => '|',
            };
            let addresses = location.strip_suffix(mark).unwrap_or(&location);
            format!("{addresses}{mark}{DEFAULT_KEY}").parse()
        }
        parsed => parsed,
    }
}

/// Resolves escapes. Characters beyond ASCII are accepted: no URL may contain them, but people type
/// them.
fn unescaped(name: &str) -> Result<String, CorbanameError> {
    let mut octets = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(octet) = rest.next() {
        if octet != b'%' {
            octets.push(octet);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let value = digit().zip(digit()).map(|(high, low)| high << 4 | low);
        let value = value.and_then(|value| u8::try_from(value).ok());
        octets.push(value.ok_or(CorbanameError::BadEscape)?);
    }
    String::from_utf8(octets).map_err(|_| CorbanameError::BadEscape)
}

/// Shows a URL that parses to the same value.
impl fmt::Display for Corbaname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let context = self.context.to_string();
        let addresses = context.strip_prefix("corbaloc:").unwrap_or(&context);
        write!(f, "{SCHEME}{addresses}")?;
        if self.name.is_empty() {
            return Ok(());
        }
        f.write_str("#")?;
        let components = self.name.iter();
        let text = to_text(components.map(|one| (one.id.as_str(), one.kind.as_str())));
        write_escaped(f, text.as_bytes(), UNESCAPED)
    }
}
