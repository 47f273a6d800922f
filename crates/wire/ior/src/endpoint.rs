//! Host and port, in profiles and components.

use std::borrow::Cow;
use std::fmt;

use punctual_cdr::{CdrError, Decoder, Encoder, Marshal, NarrowCodeSet, Unmarshal};

/// Host and port of a network endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// Host name or IP address; an IPv6 address has no brackets here.
    pub host: String,
    /// Port number of the endpoint.
    pub port: u16,
}

/// Formats the endpoint as `host:port`, with an IPv6 address in brackets.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl Marshal for Endpoint {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_string_in(NarrowCodeSet::Iso8859_1, &self.host)?;
        out.put_u16(self.port);
        Ok(())
    }
}

impl Unmarshal for Endpoint {
    const MIN_SIZE: usize = 6;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            host: input
                .get_string_in(NarrowCodeSet::Iso8859_1)
                .map(Cow::into_owned)?,
            port: input.get_u16()?,
        })
    }
}
