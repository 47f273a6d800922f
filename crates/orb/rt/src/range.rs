//! RTCorbaPriorityRange, the service context that announces the band of a connection to a server
//! (Real-time CORBA 1.2, §5.12.3), and the bands that a server accepts.
//!
//! ```text
//! encapsulation { short min_priority; short max_priority; }
//! ```

use crate::orb::{RtOrb, without_native};
use punctual_cdr::{CdrError, Coding, Decoder};
use punctual_orb::{
    AboveHighest, CompletionStatus, Priority, SystemException, SystemExceptionKind as Kind, minor,
};
use std::ops::RangeInclusive;

/// Length of the service context's data, in bytes.
const LENGTH: usize = 6;

/// Returns the context's data for a band, in this machine's byte order.
pub(crate) fn encoded(band: &RangeInclusive<Priority>) -> [u8; LENGTH] {
    let [a, b] = band.start().get().to_ne_bytes();
    let [c, d] = band.end().get().to_ne_bytes();
    [u8::from(cfg!(target_endian = "little")), 0, a, b, c, d]
}

/// Returns the band that a request announces.
///
/// # Errors
/// BAD_PARAM if the request announces none, MARSHAL if the data does not decode, INV_POLICY for an
/// invalid band.
pub(crate) fn decoded(data: Option<&[u8]>) -> Result<RangeInclusive<Priority>, SystemException> {
    let data = data.ok_or_else(untold)?;
    let read = || {
        let mut input = Decoder::of_encapsulation(data, Coding::default())?;
        Ok([input.get_i16()?, input.get_i16()?])
    };
    let ends: Result<[i16; 2], CdrError> = read();
    let [low, high] = ends.map_err(|error| unreadable(&error))?;
    match (Priority::new(low), Priority::new(high)) {
        (Ok(low), Ok(high)) if low <= high => Ok(low..=high),
        _ => Err(refused(&format!(
            "{low} to {high} is not a range of CORBA priorities"
        ))),
    }
}

impl RtOrb {
    /// Checks that requests with any priority of the band can be served at that priority.
    ///
    /// # Errors
    /// INV_POLICY where the mapping has no native priority for an end of the band, NO_PERMISSION
    /// where requests with its highest priority are refused ([`crate::RtConfig::propagated`]).
    pub(crate) fn check_band(
        &self,
        band: &RangeInclusive<Priority>,
    ) -> Result<(), SystemException> {
        for end in [*band.start(), *band.end()] {
            if self.native_of(end).is_none() {
                return Err(refused(&without_native(end)));
            }
        }
        let most = self.propagated();
        match most.above {
            AboveHighest::Refuse if *band.end() > most.highest => Err(too_high(band, most.highest)),
            _ => Ok(()),
        }
    }

    /// Returns the part of a band that clients may have: no priority above the highest that they
    /// may propagate.
    pub(crate) fn allowed(&self, band: &RangeInclusive<Priority>) -> RangeInclusive<Priority> {
        let highest = self.propagated().highest;
        *band.start().min(&highest)..=*band.end().min(&highest)
    }
}

#[cold]
fn untold() -> SystemException {
    SystemException::new(Kind::BadParam, minor::VALUE, CompletionStatus::No)
        .with_detail("the request does not carry RTCorbaPriorityRange, which has the band")
}

#[cold]
fn unreadable(error: &CdrError) -> SystemException {
    SystemException::new(Kind::Marshal, 0, CompletionStatus::No)
        .with_detail(format!("the service context RTCorbaPriorityRange: {error}"))
}

#[cold]
fn refused(why: &str) -> SystemException {
    SystemException::new(
        Kind::InvPolicy,
        minor::CANNOT_RECONCILE,
        CompletionStatus::No,
    )
    .with_detail(format!("a client asks for a band of priorities: {why}"))
}

#[cold]
fn too_high(band: &RangeInclusive<Priority>, highest: Priority) -> SystemException {
    let (low, high) = (band.start(), band.end());
    SystemException::new(Kind::NoPermission, 0, CompletionStatus::No).with_detail(format!(
        "a client asks for the band of priorities {low} to {high}, above the limit of {highest} for clients"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(priority: i16) -> Priority {
        Priority::new(priority).unwrap()
    }

    #[test]
    fn a_band_is_read_in_either_order() {
        assert_eq!(
            decoded(Some(&[0, 0, 0, 10, 0x12, 0x34])),
            Ok(at(10)..=at(0x1234))
        );
        assert_eq!(
            decoded(Some(&[1, 0, 10, 0, 0x34, 0x12])),
            Ok(at(10)..=at(0x1234))
        );
        let all = Priority::MIN..=Priority::MAX;
        assert_eq!(decoded(Some(&encoded(&all))), Ok(all));
    }

    #[test]
    fn what_is_no_band_is_refused_by_what_is_wrong_with_it() {
        let kind = |data: Option<&[u8]>| decoded(data).unwrap_err().kind();
        assert_eq!(kind(None), Kind::BadParam);
        for short in [&[][..], &[0], &[0, 0, 0, 1], &[0, 0, 0, 1, 0]] {
            assert_eq!(kind(Some(short)), Kind::Marshal);
        }
        for none in [
            [0, 0, 0, 2, 0, 1],
            [0, 0, 0xff, 0xff, 0, 1],
            [0, 0, 0, 1, 0xff, 0xff],
        ] {
            assert_eq!(kind(Some(&none)), Kind::InvPolicy);
        }
    }
}
