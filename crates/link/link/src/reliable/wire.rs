//! Datagrams of the protocol. All numbers are big-endian.
//!
//! ```text
//! 0        2         3      4                12
//! | "Pr"   | version | kind | connection id  | what the kind adds
//!
//! 1 hello   client id 8, zeros up to 32         asks for a cookie; longer than the answer
//! 2 cookie  stamp 4, cookie 8
//! 3 open    client id 8, stamp 4, cookie 8, window 4
//! 4 accept  server id 8, window 4
//! 5 data    offset 8, flags 1, ack 8, window 4, octets
//! 6 ack     ack 8, window 4, ranges 1, for each: from 8, to 8
//! 7 ping                                        answered with an ack
//! 8 reset                                       the connection is no more
//! 9 gone                                        no connection has this id
//! ```
//!
//! The id is the receiver's own, 64 random bits that it gave its peer: an attacker that cannot read
//! the traffic cannot interfere with it. Hello and open have none yet; gone echoes the unknown one.

/// Size of the header that all datagrams share, in bytes.
const HEADER: usize = 12;
/// Size of a data datagram without its payload, in bytes.
pub(super) const DATA_OVERHEAD: usize = HEADER + 21;
/// Length of a hello: no shorter than its answer.
const HELLO: usize = 32;
/// Upper bound of the number of ranges in an acknowledgement.
pub(super) const RANGES: usize = 8;
const VERSION: u8 = 1;
const FINISH: u8 = 1;

/// Decoded datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Datagram<'d> {
    Hello {
        client: u64,
    },
    Cookie {
        stamp: u32,
        cookie: u64,
    },
    Open {
        client: u64,
        stamp: u32,
        cookie: u64,
        window: u32,
    },
    Accept {
        server: u64,
        window: u32,
    },
    Data {
        offset: u64,
        finish: bool,
        ack: u64,
        window: u32,
        octets: &'d [u8],
    },
    Ack {
        ack: u64,
        window: u32,
        ranges: Ranges<'d>,
    },
    Ping,
    Reset,
    Gone,
}

/// Ranges of bytes that arrived beyond the acknowledged offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ranges<'d> {
    octets: &'d [u8],
}

impl Ranges<'_> {
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.octets.chunks_exact(16).filter_map(|chunk| {
            let mut rest = Rest(chunk);
            Some((rest.number()?, rest.number()?))
        })
    }
}

/// Decodes a datagram's id and content; returns `None` for one that is not of this protocol.
pub(super) fn decode(octets: &[u8]) -> Option<(u64, Datagram<'_>)> {
    let mut rest = Rest(octets);
    let [b'P', b'r', VERSION, kind] = rest.array::<4>()? else {
        return None;
    };
    let id = rest.number()?;
    let datagram = match kind {
        1 => {
            let client = rest.number()?;
            rest = Rest(rest.0.get(HELLO - HEADER - 8..)?);
            Datagram::Hello { client }
        }
        2 => Datagram::Cookie {
            stamp: rest.short()?,
            cookie: rest.number()?,
        },
        3 => Datagram::Open {
            client: rest.number()?,
            stamp: rest.short()?,
            cookie: rest.number()?,
            window: rest.short()?,
        },
        4 => Datagram::Accept {
            server: rest.number()?,
            window: rest.short()?,
        },
        5 => Datagram::Data {
            offset: rest.number()?,
            finish: rest.array::<1>()? == [FINISH],
            ack: rest.number()?,
            window: rest.short()?,
            octets: std::mem::take(&mut rest.0),
        },
        6 => {
            let (ack, window) = (rest.number()?, rest.short()?);
            let [count] = rest.array::<1>()?;
            let octets = std::mem::take(&mut rest.0);
            let count = usize::from(count);
            if count > RANGES || octets.len() != 16 * count {
                return None;
            }
            let ranges = Ranges { octets };
            Datagram::Ack {
                ack,
                window,
                ranges,
            }
        }
        7 => Datagram::Ping,
        8 => Datagram::Reset,
        9 => Datagram::Gone,
        _ => return None,
    };
    rest.0.is_empty().then_some((id, datagram))
}

struct Rest<'d>(&'d [u8]);

impl Rest<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    fn short(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }
}

fn begin(out: &mut Vec<u8>, kind: u8, id: u64) {
    out.clear();
    out.extend_from_slice(&[b'P', b'r', VERSION, kind]);
    out.extend_from_slice(&id.to_be_bytes());
}

pub(super) fn hello(out: &mut Vec<u8>, client: u64) {
    begin(out, 1, 0);
    out.extend_from_slice(&client.to_be_bytes());
    out.resize(HELLO, 0);
}

pub(super) fn cookie(out: &mut Vec<u8>, client: u64, stamp: u32, cookie: u64) {
    begin(out, 2, client);
    out.extend_from_slice(&stamp.to_be_bytes());
    out.extend_from_slice(&cookie.to_be_bytes());
}

pub(super) fn open(out: &mut Vec<u8>, client: u64, stamp: u32, cookie: u64, window: u32) {
    begin(out, 3, 0);
    out.extend_from_slice(&client.to_be_bytes());
    out.extend_from_slice(&stamp.to_be_bytes());
    out.extend_from_slice(&cookie.to_be_bytes());
    out.extend_from_slice(&window.to_be_bytes());
}

pub(super) fn accept(out: &mut Vec<u8>, id: u64, server: u64, window: u32) {
    begin(out, 4, id);
    out.extend_from_slice(&server.to_be_bytes());
    out.extend_from_slice(&window.to_be_bytes());
}

/// Writes the header of a data datagram; the application's bytes go after it.
pub(super) fn data(out: &mut Vec<u8>, id: u64, offset: u64, finish: bool, ack: u64, window: u32) {
    begin(out, 5, id);
    out.extend_from_slice(&offset.to_be_bytes());
    out.push(if finish { FINISH } else { 0 });
    out.extend_from_slice(&ack.to_be_bytes());
    out.extend_from_slice(&window.to_be_bytes());
}

/// Writes an acknowledgement with as many of `ranges` as fit.
pub(super) fn ack(out: &mut Vec<u8>, id: u64, ack: u64, window: u32, ranges: &[(u64, u64)]) {
    let ranges = ranges.get(..RANGES).unwrap_or(ranges);
    begin(out, 6, id);
    out.extend_from_slice(&ack.to_be_bytes());
    out.extend_from_slice(&window.to_be_bytes());
    out.push(u8::try_from(ranges.len()).unwrap_or_default());
    for (from, to) in ranges {
        out.extend_from_slice(&from.to_be_bytes());
        out.extend_from_slice(&to.to_be_bytes());
    }
}

pub(super) fn ping(out: &mut Vec<u8>, id: u64) {
    begin(out, 7, id);
}

pub(super) fn reset(out: &mut Vec<u8>, id: u64) {
    begin(out, 8, id);
}

pub(super) fn gone(out: &mut Vec<u8>, unknown: u64) {
    begin(out, 9, unknown);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Vec<u8>> {
        let writers: [fn(&mut Vec<u8>); 9] = [
            |out| hello(out, 7),
            |out| cookie(out, 7, 1, 2),
            |out| open(out, 7, 1, 2, 3),
            |out| accept(out, 7, 8, 9),
            |out| {
                data(out, 7, 10, true, 11, 12);
                out.extend_from_slice(b"octets");
            },
            |out| ack(out, 7, 1, 2, &[(3, 4), (5, 6)]),
            |out| ping(out, 7),
            |out| reset(out, 7),
            |out| gone(out, 7),
        ];
        writers
            .iter()
            .map(|write| {
                let mut out = b"what was there before".to_vec();
                write(&mut out);
                out
            })
            .collect()
    }

    #[test]
    fn each_kind_is_read_as_it_was_written() {
        let written = all();
        let read: Vec<_> = written.iter().map(|octets| decode(octets)).collect();
        assert_eq!(read[0], Some((0, Datagram::Hello { client: 7 })));
        let expected = Datagram::Data {
            offset: 10,
            finish: true,
            ack: 11,
            window: 12,
            octets: b"octets",
        };
        assert_eq!(read[4], Some((7, expected)));
        let Some((7, Datagram::Ack { ranges, .. })) = read[5] else {
            panic!("{:?}", read[5]);
        };
        assert_eq!(ranges.iter().collect::<Vec<_>>(), [(3, 4), (5, 6)]);
        assert!(read.iter().all(Option::is_some));
    }

    #[test]
    fn what_is_cut_short_or_too_long_is_none_of_ours() {
        for octets in all() {
            let is_data = octets[3] == 5;
            for length in 0..octets.len() {
                let whole = is_data && length >= DATA_OVERHEAD;
                assert_eq!(decode(&octets[..length]).is_some(), whole);
            }
            let longer = [&octets[..], b"x"].concat();
            assert_eq!(decode(&longer).is_some(), is_data);
        }
    }

    #[test]
    fn a_cookie_is_no_longer_than_what_asks_for_it() {
        let mut out = Vec::new();
        cookie(&mut out, 1, 2, 3);
        assert!(out.len() <= HELLO);
    }

    #[test]
    fn more_ranges_than_fit_are_left_out() {
        let many: Vec<(u64, u64)> = (0..20).map(|n| (2 * n, 2 * n + 1)).collect();
        let mut out = Vec::new();
        ack(&mut out, 1, 0, 0, &many);
        let Some((1, Datagram::Ack { ranges, .. })) = decode(&out) else {
            panic!("an ack was not read");
        };
        assert_eq!(ranges.iter().count(), RANGES);
    }
}
