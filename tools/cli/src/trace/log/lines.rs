//! Parsing of the lines of a trace.

use punctual_cdr::{ByteOrder, CodeSets, GiopVersion};
use punctual_giop::ReplyStatus;
use punctual_giop::code_sets::{CodeSetContext, from_context};

use super::message::{Head, Peer};

/// Maximum length of the names of peers and operations; longer ones are not from a trace.
const LONGEST_NAME: usize = 1000;

/// Number of bytes in one row of a dump.
pub(super) const ROW: usize = 16;

/// Contents of the line before a message.
pub(super) struct Start {
    pub(super) sent: bool,
    pub(super) peer: Peer,
    pub(super) seams: Vec<usize>,
}

/// Parses `giop -> to PEER, socket 9, joined at 1024 2048`.
pub(super) fn start(line: &str) -> Option<Start> {
    let (sent, rest) = match line.strip_prefix("giop -> to ") {
        Some(rest) => (true, rest),
        None => (false, line.strip_prefix("giop <- from ")?),
    };
    let (rest, seams) = last(rest, ", joined at ", |seams| {
        let seams = seams.split(' ').map(|seam| seam.parse().ok());
        seams.collect::<Option<Vec<usize>>>()
    });
    let (address, socket) = last(rest, ", socket ", |socket| socket.parse().ok());
    if address.len() > LONGEST_NAME {
        return None;
    }
    Some(Start {
        sent,
        peer: Peer {
            address: address.to_owned(),
            socket,
        },
        seams: seams.unwrap_or_default(),
    })
}

/// Parses the text behind the last `word` of a line, if possible; also returns the text before it.
fn last<'l, T>(
    line: &'l str,
    word: &str,
    read: impl Fn(&str) -> Option<T>,
) -> (&'l str, Option<T>) {
    let parts = line.rsplit_once(word);
    let found = parts.and_then(|(before, behind)| Some((before, read(behind)?)));
    match found {
        Some((before, found)) => (before, Some(found)),
        None => (line, None),
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) version: GiopVersion,
    pub(super) order: ByteOrder,
    pub(super) size: usize,
    pub(super) more_fragments: bool,
    pub(super) is_short: bool,
}

impl Header {
    /// Parses `GIOP 1.2 Request, Little-endian, 76 octets after the header, more fragments follow;
    /// only 60 are there`.
    pub(super) fn read(line: &str) -> Option<Self> {
        let (version, rest) = line.strip_prefix("GIOP ")?.split_once(' ')?;
        let mut parts = rest.splitn(3, ", ");
        let (_kind, order, size) = (parts.next()?, parts.next()?, parts.next()?);
        let (size, rest) = size.split_once(" octets after the header")?;
        Some(Self {
            version: match version {
                "1.0" => GiopVersion::V1_0,
                "1.1" => GiopVersion::V1_1,
                "1.2" => GiopVersion::V1_2,
                _ => return None,
            },
            order: match order {
                "Big-endian" => ByteOrder::Big,
                "Little-endian" => ByteOrder::Little,
                _ => return None,
            },
            size: size.parse::<u32>().ok()? as usize,
            more_fragments: rest.contains("more fragments follow"),
            is_short: rest.contains("; only "),
        })
    }
}

/// Returns `true` if a header is that of a fragment.
pub(super) fn is_of_fragment(line: &str) -> bool {
    let kind = line.split(' ').nth(2);
    kind == Some("Fragment,")
}

/// Parses `request 5, operation "find", a reply is expected (flags 0x03)`.
pub(super) fn request(line: &str) -> Option<Head> {
    let (id, rest) = line
        .strip_prefix("request ")?
        .split_once(", operation \"")?;
    let (operation, rest) = rest.rsplit_once("\", ")?;
    if operation.len() > LONGEST_NAME {
        return None;
    }
    Some(Head::Request {
        id: id.parse().ok()?,
        operation: operation.to_owned(),
        reply_expected: !rest.starts_with("no reply"),
    })
}

/// Parses `reply to request 5: NoException`.
pub(super) fn reply(line: &str) -> Option<Head> {
    let (id, status) = line.strip_prefix("reply to request ")?.split_once(": ")?;
    let number = |number| ReplyStatus::from_number(number, GiopVersion::V1_2);
    let mut all = (0..).map_while(number);
    Some(Head::Reply {
        id: id.parse().ok()?,
        status: all.find(|one| format!("{one:?}") == status)?,
    })
}

/// Parses `76 octets`.
pub(super) fn octets_of(text: &str) -> Option<usize> {
    text.strip_suffix(" octets")?.parse().ok()
}

/// Parses `0x5010001 (UTF-8), 0x10109 (UTF-16)`; returns `None` for unknown code sets.
pub(super) fn code_sets(text: &str) -> Option<CodeSets> {
    let mut numbers = text
        .split([' ', ','])
        .filter_map(|word| word.strip_prefix("0x"))
        .map(|digits| u32::from_str_radix(digits, 16).ok());
    let context = CodeSetContext {
        char_data: numbers.next()??,
        wchar_data: numbers.next()??,
    };
    from_context(context).ok()
}

/// Parses `00000010  47 49 4f 50 01 02 01 00  4c 00 00 00 05 00 00 00   GIOP....L.......`; returns
/// the position and the bytes.
pub(super) fn row(line: &str) -> Option<(usize, Vec<u8>)> {
    /// End of the digits: each byte takes three columns, and a gap one.
    const END: usize = 9 + 3 * ROW + 1;
    let (at, rest) = line.split_at_checked(8)?;
    if !at.bytes().all(|digit| digit.is_ascii_hexdigit()) || !rest.starts_with("  ") {
        return None;
    }
    let at = usize::from_str_radix(at, 16).ok()?;
    let digits = line.get(9..END.min(line.len()))?;
    let octets = digits.split_ascii_whitespace().map(|octet| {
        let is_one = octet.len() == 2 && octet.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_one.then(|| u8::from_str_radix(octet, 16).ok())?
    });
    // A row that ends within a byte has fewer of them.
    Some((at, octets.map_while(|octet| octet).collect()))
}
