//! Endpoints at which a client listens, announced in the service context BI_DIR_IIOP (CORBA 3.3
//! part 2, §9.8.1): the server may call objects at these endpoints over the client's connection
//! instead of opening new ones.
//!
//! ```text
//! BiDirIIOPServiceContext, an encapsulation:  sequence<{ string host; unsigned short port }>
//! ```
//! For an endpoint without a port, such as a path of `uiop`, the address takes the place of the
//! host, and the port is 0.

use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Encoder};
use punctual_link::Address;

/// Maximum number of listen points remembered for one connection.
const MOST: usize = 64;
/// Minimum encoded length: a string's length and terminator, and a port.
const LEAST: usize = 6;

/// Host and port at which a client listens (bidirectional GIOP).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListenPoint {
    host: String,
    port: u16,
}

impl ListenPoint {
    /// Returns the listen point of an address in a reference.
    pub(crate) fn of(address: &Address) -> Self {
        let (host, port) = address.host_and_port().unwrap_or((address.place(), 0));
        Self {
            host: host.to_owned(),
            port,
        }
    }
}

/// Maximum length of a host's name, in bytes (RFC 1123, §2.1).
const LONGEST_HOST: usize = 255;

/// Encodes listen points as data of the service context BI_DIR_IIOP.
pub(crate) fn encode(points: &[ListenPoint]) -> Result<Vec<u8>, CdrError> {
    Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), |out| {
        out.put_length(points.len())?;
        for point in points {
            out.put_string(&point.host)?;
            out.put_u16(point.port);
        }
        Ok(())
    })
}

/// Decodes the listen points of a context, up to the number that is remembered.
///
/// # Errors
/// If the data cannot be decoded.
pub(crate) fn decode(data: &[u8]) -> Result<Vec<ListenPoint>, CdrError> {
    let mut input = Decoder::of_encapsulation(data, Coding::default())?;
    let count = input.get_length(LEAST)?;
    let mut points = Vec::new();
    for _ in 0..count.min(MOST) {
        let host = input.get_string()?;
        // The host is kept as long as its connection, so its length is limited.
        if host.len() > LONGEST_HOST {
            return Err(CdrError::Invalid(
                "a host's name of a listen point is too long",
            ));
        }
        points.push(ListenPoint {
            host: host.into_owned(),
            port: input.get_u16()?,
        });
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_host_has_are_not_kept() {
        let point = |length: usize| ListenPoint {
            host: "h".repeat(length),
            port: 1,
        };
        assert!(decode(&encode(&[point(LONGEST_HOST)]).unwrap()).is_ok());
        assert!(decode(&encode(&[point(LONGEST_HOST + 1)]).unwrap()).is_err());
    }

    #[test]
    fn listen_points_are_read_as_they_were_written() {
        let points = [
            ListenPoint::of(&Address::iiop("host.example", 2809)),
            ListenPoint::of(&Address::iiop("::1", 7)),
            ListenPoint::of(&Address::new("uiop", "/run/orb")),
        ];
        let data = encode(&points).unwrap();
        assert_eq!(decode(&data).unwrap(), points);
        for length in 0..data.len() {
            assert!(decode(&data[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn it_is_the_standards_encoding() {
        let data = encode(&[ListenPoint::of(&Address::iiop("10.0.0.1", 2809))]).unwrap();
        let expected = [
            &[u8::from(cfg!(target_endian = "little")), 0, 0, 0][..],
            &1_u32.to_ne_bytes(),
            &9_u32.to_ne_bytes(),
            b"10.0.0.1\0",
            &[0],
            &2809_u16.to_ne_bytes(),
        ];
        assert_eq!(data, expected.concat());
    }
}
