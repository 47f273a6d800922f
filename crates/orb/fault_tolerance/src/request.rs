//! Service contexts of requests to object groups (CORBA 3.0, §23.2.7 and §23.2.8).
//!
//! ```text
//! FT_REQUEST:       encapsulation { string client_id; long retention_id; TimeT expiration_time; }
//! FT_GROUP_VERSION: encapsulation { unsigned long object_group_ref_version; }
//! ```

use crate::time;
use punctual_cdr::{CdrError, Coding, Decoder};
use punctual_giop::service_context::FT_REQUEST;
use punctual_orb::RequestContext;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Length of an ORB's client id: 128 random bits in hexadecimal.
const ID: usize = 32;
/// Begin of the client id in FT_REQUEST: after the byte order, padding and the length.
const AT_ID: usize = 8;
/// Begin of the retention id: after the client id, its NUL and padding.
const AT_RETENTION: usize = 44;
/// Begin of the expiration.
const AT_EXPIRATION: usize = 48;
/// Length of FT_REQUEST as this ORB sends it.
const LENGTH: usize = 56;

/// First byte of an encapsulation in this machine's byte order.
pub(crate) const NATIVE: u8 = cfg!(target_endian = "little") as u8;

/// Longest client id that is accepted, in bytes.
pub(crate) const LONGEST_CLIENT: u32 = 256;

/// Identity of an ORB as a client, and the numbers of its requests.
#[derive(Debug)]
pub(crate) struct ClientId {
    text: String,
    retention: AtomicU32,
}

impl ClientId {
    /// Makes a random id.
    ///
    /// # Errors
    /// The operating system gives no random numbers.
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut random = [0; ID / 2];
        getrandom::fill(&mut random)?;
        let digits = random.iter().map(|octet| format!("{octet:02x}"));
        Ok(Self {
            text: digits.collect(),
            retention: AtomicU32::new(0),
        })
    }

    /// Returns the id as text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// Service context FT_REQUEST of calls that last for a time. It is filled in once for a call.
#[derive(Debug)]
pub(crate) struct RequestIdentity {
    client: Arc<ClientId>,
    /// Duration of calls in units of a TimeT.
    duration: u64,
    /// The context without the fields that differ between calls.
    template: [u8; LENGTH],
}

impl RequestIdentity {
    pub(crate) fn new(client: Arc<ClientId>, duration: Duration) -> Self {
        let mut template = [0; LENGTH];
        if let Some(order) = template.first_mut() {
            *order = NATIVE;
        }
        let length = (ID + 1) as u32;
        put(&mut template, AT_ID - 4, &length.to_ne_bytes());
        put(&mut template, AT_ID, client.text.as_bytes());
        Self {
            client,
            duration: time::units(duration),
            template,
        }
    }
}

impl RequestContext for RequestIdentity {
    fn id(&self) -> u32 {
        FT_REQUEST
    }

    fn length(&self) -> usize {
        LENGTH
    }

    fn fill(&self, data: &mut [u8]) {
        // Relaxed: only uniqueness matters.
        let retention = self.client.retention.fetch_add(1, Ordering::Relaxed);
        let expiration = time::now().saturating_add(self.duration);
        if let Some(data) = data.first_chunk_mut::<LENGTH>() {
            *data = self.template;
            put(data, AT_RETENTION, &retention.to_ne_bytes());
            put(data, AT_EXPIRATION, &expiration.to_ne_bytes());
        }
    }
}

#[inline]
fn put(data: &mut [u8; LENGTH], at: usize, value: &[u8]) {
    if let Some(place) = data.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}

/// Contents of FT_REQUEST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FtRequest<'r> {
    pub(crate) client: &'r [u8],
    pub(crate) retention: i32,
    /// Time until which the reply is kept.
    pub(crate) expires: u64,
}

impl<'r> FtRequest<'r> {
    /// Reads the data of the context.
    ///
    /// # Errors
    /// [`CdrError::LengthOverLimit`] for a client id of more than 256 bytes, and those of malformed data.
    pub(crate) fn decode(data: &'r [u8]) -> Result<Self, CdrError> {
        let mut input = Decoder::of_encapsulation(data, Coding::default())?;
        let length = input.get_u32()?;
        if length > LONGEST_CLIENT {
            return Err(CdrError::LengthOverLimit {
                length,
                limit: LONGEST_CLIENT,
            });
        }
        let client = input.get_bytes(length as usize)?;
        let client = client.strip_suffix(b"\0").unwrap_or(client);
        if client.is_empty() {
            return Err(CdrError::Invalid("FT_REQUEST has no client id"));
        }
        Ok(Self {
            client,
            retention: input.get_i32()?,
            expires: input.get_u64()?,
        })
    }
}

/// Reads the data of FT_GROUP_VERSION.
///
/// # Errors
/// Those of malformed data.
#[inline]
pub(crate) fn group_version(data: &[u8]) -> Result<u32, CdrError> {
    if let Some([NATIVE, _, _, _, version @ ..]) = data.first_chunk::<8>() {
        return Ok(u32::from_ne_bytes(*version));
    }
    Decoder::of_encapsulation(data, Coding::default())?.get_u32()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(identity: &RequestIdentity) -> Vec<u8> {
        let mut data = vec![0; identity.length()];
        identity.fill(&mut data);
        data
    }

    #[test]
    fn what_is_written_is_read_and_each_call_has_a_number_of_its_own() {
        let client = Arc::new(ClientId::random().unwrap());
        let identity = RequestIdentity::new(client.clone(), Duration::from_secs(3));
        let before = time::now();
        let (first, second) = (filled(&identity), filled(&identity));
        let read = FtRequest::decode(&first).unwrap();
        assert_eq!(read.client, client.text().as_bytes());
        assert!(read.expires >= before + time::units(Duration::from_secs(3)));
        let next = FtRequest::decode(&second).unwrap().retention;
        assert_eq!((read.retention, next), (0, 1));
    }

    #[test]
    fn ids_of_two_orbs_differ_and_have_one_length() {
        let (one, other) = (ClientId::random().unwrap(), ClientId::random().unwrap());
        assert_ne!(one.text(), other.text());
        assert_eq!((one.text().len(), other.text().len()), (ID, ID));
    }

    #[test]
    fn contexts_cut_short_or_too_long_are_refused() {
        let client = Arc::new(ClientId::random().unwrap());
        let data = filled(&RequestIdentity::new(client, Duration::from_secs(3)));
        for end in 0..data.len() {
            assert!(FtRequest::decode(&data[..end]).is_err(), "{end}");
        }
        let huge = [&[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff][..], &[7; 64]].concat();
        let error = FtRequest::decode(&huge).unwrap_err();
        assert!(matches!(error, CdrError::LengthOverLimit { .. }));
        let nameless = [&[0, 0, 0, 0, 0, 0, 0, 1, 0][..], &[0; 64]].concat();
        assert!(FtRequest::decode(&nameless).is_err());
        assert!(group_version(&[1, 0, 0, 0, 5, 0]).is_err());
        assert_eq!(group_version(&[1, 0, 0, 0, 5, 0, 0, 0]), Ok(5));
    }
}
