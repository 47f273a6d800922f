//! TAO's endpoints component: further endpoints of an object, and the priority at which each of
//! them serves.
//!
//! ```text
//! in profiles of IIOP, SHMIOP, DIOP: encapsulation { sequence<struct { string host; short port; short priority; }> }
//! in profiles of UIOP, and our own:  encapsulation { sequence<struct { string rendezvous_point; short priority; }> }
//! ```
//!
//! The profile's own endpoint is the first. A port is unsigned, though it is encoded as a `short`.

use punctual_cdr::{CdrError, Coding, Decoder, NarrowCodeSet, marshal_each, unmarshal_each};

use crate::endpoint::Endpoint;
use crate::path::{get_path, put_path};
use crate::tagged::{TaggedComponent, encapsulate};
use crate::tags::{component as tag, profile};

/// Endpoint in TAO's TAG_ENDPOINTS component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaoEndpoint {
    /// Address of the endpoint.
    pub place: TaoPlace,
    /// CORBA priority at which the endpoint's requests are served.
    pub priority: i16,
}

/// Address of an endpoint in TAO's TAG_ENDPOINTS component.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TaoPlace {
    /// Host and port of an IIOP, SHMIOP or DIOP endpoint.
    Host(Endpoint),
    /// Path of the Unix domain socket of a UIOP endpoint.
    Path(String),
}

impl TaggedComponent {
    /// Makes TAO's endpoints component; the endpoints of one profile are all hosts or all paths.
    ///
    /// # Errors
    /// Text or lengths that cannot be encoded.
    pub fn of_tao_endpoints(endpoints: &[TaoEndpoint]) -> Result<Self, CdrError> {
        let data = encapsulate(|out| {
            marshal_each(endpoints, out, |one, out| {
                match &one.place {
                    TaoPlace::Host(at) => {
                        out.put_string_in(NarrowCodeSet::Iso8859_1, &at.host)?;
                        out.put_u16(at.port);
                    }
                    TaoPlace::Path(path) => put_path(out, path)?,
                }
                out.put_i16(one.priority);
                Ok(())
            })
        });
        Ok(Self {
            tag: tag::TAO_ENDPOINTS,
            data: data?,
        })
    }

    /// Decodes TAO's endpoints component in a profile of this tag; returns `None` for another
    /// component, and in a profile where its form is unknown.
    ///
    /// # Errors
    /// A [`CdrError`] if the data does not have that form.
    pub fn tao_endpoints(&self, profile: u32) -> Result<Option<Vec<TaoEndpoint>>, CdrError> {
        let place = match profile {
            _ if self.tag != tag::TAO_ENDPOINTS => return Ok(None),
            profile::INTERNET_IOP | profile::TAO_SHMIOP | profile::TAO_DIOP => host,
            profile::TAO_UIOP | profile::PUNCTUAL_PAIR => path,
            _ => return Ok(None),
        };
        let mut input = Decoder::of_encapsulation(&self.data, Coding::default())?;
        let endpoint = |input: &mut Decoder<'_>| {
            Ok(TaoEndpoint {
                place: place(input)?,
                priority: input.get_i16()?,
            })
        };
        // Least size: a length, the NUL of the text and the priority.
        unmarshal_each(&mut input, 8, endpoint).map(Some)
    }
}

fn host(input: &mut Decoder<'_>) -> Result<TaoPlace, CdrError> {
    Ok(TaoPlace::Host(Endpoint {
        host: input.get_string_in(NarrowCodeSet::Iso8859_1)?.into_owned(),
        port: input.get_u16()?,
    }))
}

fn path(input: &mut Decoder<'_>) -> Result<TaoPlace, CdrError> {
    get_path(input).map(TaoPlace::Path)
}
