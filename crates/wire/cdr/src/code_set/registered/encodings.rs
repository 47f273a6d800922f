//! Code sets and their tables, which are those of `encoding_rs`.

use super::{Row, row};
use crate::error::CdrError;
use encoding_rs::Encoding;
use std::borrow::Cow;

/// Meaning of the bytes from 0x80 on in a code set.
pub(super) enum Octets {
    /// Bytes from 0x80 on are invalid, as in ASCII.
    Ascii,
    /// Bytes from 0x80 on have their meaning in this encoding.
    As(&'static Encoding),
    /// Characters of the encoding, except that 0x80 to 0x9f are control characters, as in all parts
    /// of ISO 8859.
    WithControls(&'static Encoding),
}

use Octets::{As, Ascii, WithControls};

/// Table of the code sets. A code set is an index into it, so new ones are added at the end.
pub(super) static ROWS: [Row; 29] = [
    row("ISO 646", &[0x0001_0020], Ascii),
    row("ISO 8859-2", &[0x0001_0002], As(encoding_rs::ISO_8859_2)),
    row("ISO 8859-3", &[0x0001_0003], As(encoding_rs::ISO_8859_3)),
    row("ISO 8859-4", &[0x0001_0004], As(encoding_rs::ISO_8859_4)),
    row("ISO 8859-5", &[0x0001_0005], As(encoding_rs::ISO_8859_5)),
    row("ISO 8859-6", &[0x0001_0006], As(encoding_rs::ISO_8859_6)),
    row("ISO 8859-7", &[0x0001_0007], As(encoding_rs::ISO_8859_7)),
    row("ISO 8859-8", &[0x0001_0008], As(encoding_rs::ISO_8859_8)),
    row(
        "ISO 8859-9",
        &[0x0001_0009],
        WithControls(encoding_rs::WINDOWS_1254),
    ),
    row("ISO 8859-10", &[0x0001_000a], As(encoding_rs::ISO_8859_10)),
    row(
        "ISO 8859-11",
        &[0x0001_000b],
        WithControls(encoding_rs::WINDOWS_874),
    ),
    row("ISO 8859-13", &[0x0001_000d], As(encoding_rs::ISO_8859_13)),
    row("ISO 8859-14", &[0x0001_000e], As(encoding_rs::ISO_8859_14)),
    row("ISO 8859-15", &[0x0001_000f], As(encoding_rs::ISO_8859_15)),
    row("ISO 8859-16", &[0x0001_0010], As(encoding_rs::ISO_8859_16)),
    row(
        "Windows-1250",
        &[0x1002_04e2],
        As(encoding_rs::WINDOWS_1250),
    ),
    row(
        "Windows-1251",
        &[0x1002_04e3],
        As(encoding_rs::WINDOWS_1251),
    ),
    row(
        "Windows-1252",
        &[0x1002_04e4],
        As(encoding_rs::WINDOWS_1252),
    ),
    row(
        "Windows-1253",
        &[0x1002_04e5],
        As(encoding_rs::WINDOWS_1253),
    ),
    row(
        "Windows-1254",
        &[0x1002_04e6],
        As(encoding_rs::WINDOWS_1254),
    ),
    row(
        "Windows-1255",
        &[0x1002_04e7],
        As(encoding_rs::WINDOWS_1255),
    ),
    row(
        "Windows-1256",
        &[0x1002_04e8],
        As(encoding_rs::WINDOWS_1256),
    ),
    row(
        "Windows-1257",
        &[0x1002_04e9],
        As(encoding_rs::WINDOWS_1257),
    ),
    row(
        "Windows-1258",
        &[0x1002_04ea],
        As(encoding_rs::WINDOWS_1258),
    ),
    row(
        "EUC-JP",
        &[0x0003_0010, 0x0500_0010, 0x0502_0001],
        As(encoding_rs::EUC_JP),
    ),
    // Numbers of OSF, the Japanese vendors and IBM-943.
    row(
        "Shift-JIS",
        &[0x0500_0011, 0x0502_0002, 0x1002_03af],
        As(encoding_rs::SHIFT_JIS),
    ),
    // The registry is older than GB18030; this is the number of IBM-1392.
    row("GB18030", &[0x1002_0570], As(encoding_rs::GB18030)),
    row("EUC-KR", &[0x0004_000a], As(encoding_rs::EUC_KR)),
    // The number of IBM-950.
    row("Big5", &[0x1002_03b6], As(encoding_rs::BIG5)),
];

impl Octets {
    /// Encodes a text that is not ASCII alone.
    pub(super) fn encode<'t>(&self, text: &'t str) -> Result<Cow<'t, [u8]>, CdrError> {
        match *self {
            Ascii => Err(CdrError::CharacterNotInCodeSet),
            As(encoding) => match encoding.encode(text) {
                (octets, _, false) => Ok(octets),
                _ => Err(CdrError::CharacterNotInCodeSet),
            },
            WithControls(encoding) => {
                let octets: Result<_, _> = text
                    .chars()
                    .map(|character| encode_beside_controls(encoding, character))
                    .collect();
                octets.map(Cow::Owned)
            }
        }
    }

    /// Decodes a text that is not ASCII alone; `None` if it is not valid.
    pub(super) fn decode<'o>(&self, octets: &'o [u8]) -> Option<Cow<'o, str>> {
        match *self {
            Ascii => None,
            As(encoding) => encoding.decode_without_bom_handling_and_without_replacement(octets),
            WithControls(encoding) => octets
                .iter()
                .map(|octet| decode_beside_controls(encoding, *octet))
                .collect::<Option<String>>()
                .map(Cow::Owned),
        }
    }
}

fn is_control(octet: u8) -> bool {
    (0x80..0xa0).contains(&octet)
}

fn encode_beside_controls(encoding: &'static Encoding, character: char) -> Result<u8, CdrError> {
    if let Ok(octet) = u8::try_from(u32::from(character))
        && (octet.is_ascii() || is_control(octet))
    {
        return Ok(octet);
    }
    match encoding.encode(character.encode_utf8(&mut [0; 4])) {
        (octets, _, false) => match *octets {
            [octet] if !is_control(octet) => Ok(octet),
            _ => Err(CdrError::CharacterNotInCodeSet),
        },
        _ => Err(CdrError::CharacterNotInCodeSet),
    }
}

fn decode_beside_controls(encoding: &'static Encoding, octet: u8) -> Option<char> {
    if octet.is_ascii() || is_control(octet) {
        return Some(octet.into());
    }
    let octets = [octet];
    let text = encoding.decode_without_bom_handling_and_without_replacement(&octets)?;
    text.chars().next()
}
