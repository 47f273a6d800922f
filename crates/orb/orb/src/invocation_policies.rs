//! What a request tells of its caller's policies: the service context INVOCATION_POLICIES (CORBA 3.3 part 2, §22.3.2), of which
//! servers read until when the request may be delivered.
//!
//! ```text
//! PolicyValueSeq, an encapsulation:  sequence<{ ulong type; sequence<octet> value }>
//! RequestEndTime, ReplyEndTime:      TimeBase::UtcT, an encapsulation
//! UtcT  { ulonglong time; ulong inaccuracy_low; ushort inaccuracy_high; short minutes_east; }
//! ```
//! Time counts tenths of a microsecond from 15 October 1582 on.

use crate::policy::{CallEnds, numbers};
use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Encoder, Unmarshal};
use punctual_giop::service_context;
use punctual_ior::{PolicyValue, TaggedComponent};
use std::time::{Duration, SystemTime};

/// From the beginning of UtcT to that of Unix.
const BEFORE_UNIX: u64 = 12_219_292_800;
const A_SECOND: u64 = 10_000_000;

/// The context of a request that has to arrive in time.
pub(crate) fn told(ends: &CallEnds) -> Option<(u32, Vec<u8>)> {
    if ends.request.is_none() && ends.reply.is_none() {
        return None;
    }
    // What is written has no part that could fail to be.
    let data = data(ends).ok()?;
    Some((service_context::INVOCATION_POLICIES, data))
}

fn data(ends: &CallEnds) -> Result<Vec<u8>, CdrError> {
    let value = |(kind, end): (u32, Option<SystemTime>)| {
        let data = end.map(encapsulated);
        data.map(|data| data.map(|data| PolicyValue { kind, data }))
    };
    let ends = [
        (numbers::REQUEST_END, ends.request),
        (numbers::REPLY_END, ends.reply),
    ];
    let values: Vec<PolicyValue> = ends
        .into_iter()
        .filter_map(value)
        .collect::<Result<_, _>>()?;
    // The same encapsulation as that of a reference's policies.
    Ok(TaggedComponent::policies(&values)?.data)
}

fn encapsulated(time: SystemTime) -> Result<Vec<u8>, CdrError> {
    Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), |out| {
        out.put_u64(ticks(time));
        out.put_u32(0);
        out.put_u16(0);
        out.put_i16(0);
        Ok(())
    })
}

/// How much too late a request with this context comes now, if it does.
///
/// # Errors
/// What of it does not decode.
pub(crate) fn is_late_by(data: &[u8]) -> Result<Option<Duration>, CdrError> {
    let end = request_end(data)?;
    Ok(end.and_then(|end| SystemTime::now().duration_since(end).ok()))
}

/// Until when a request with this context may be delivered, if it says so.
fn request_end(data: &[u8]) -> Result<Option<SystemTime>, CdrError> {
    let mut values = Decoder::of_encapsulation(data, Coding::default())?;
    let values = Vec::<PolicyValue>::unmarshal(&mut values)?;
    let end = values.iter().find(|one| one.kind == numbers::REQUEST_END);
    let Some(end) = end else {
        return Ok(None);
    };
    let mut end = Decoder::of_encapsulation(&end.data, Coding::default())?;
    let ticks = end.get_u64()?;
    // Times may be inexact: it is not too late before the last of them.
    let inaccuracy = u64::from(end.get_u32()?) | u64::from(end.get_u16()?) << 32;
    Ok(time(ticks.saturating_add(inaccuracy)))
}

fn ticks(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    let since = since.unwrap_or_default();
    let whole = since.as_secs().saturating_add(BEFORE_UNIX);
    let part = u64::from(since.subsec_nanos()) / 100;
    whole.saturating_mul(A_SECOND).saturating_add(part)
}

/// `None` for what no clock will say.
fn time(ticks: u64) -> Option<SystemTime> {
    let seconds = (ticks / A_SECOND).checked_sub(BEFORE_UNIX);
    let Some(seconds) = seconds else {
        return Some(SystemTime::UNIX_EPOCH);
    };
    let part = u32::try_from(ticks % A_SECOND * 100).unwrap_or_default();
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64, tenths: u32) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::new(seconds, tenths * 100)
    }

    #[test]
    fn an_end_is_read_as_it_was_told() {
        let ends = CallEnds {
            request: Some(at(1_800_000_000, 1_234_567)),
            reply: Some(at(1_900_000_000, 0)),
        };
        let told = data(&ends).unwrap();
        assert_eq!(request_end(&told).unwrap(), ends.request);
        let only_reply = CallEnds {
            request: None,
            ..ends
        };
        assert_eq!(request_end(&data(&only_reply).unwrap()).unwrap(), None);
    }

    #[test]
    fn it_is_the_standards_encoding() {
        let ends = CallEnds {
            request: Some(at(0, 1)),
            reply: None,
        };
        let native = u8::from(cfg!(target_endian = "little"));
        let expected = [
            &[native, 0, 0, 0][..],
            &1_u32.to_ne_bytes(),
            &28_u32.to_ne_bytes(),
            &24_u32.to_ne_bytes(),
            &[native, 0, 0, 0, 0, 0, 0, 0],
            &0x01b2_1dd2_1381_4001_u64.to_ne_bytes(),
            &[0; 8],
        ];
        assert_eq!(data(&ends).unwrap(), expected.concat());
    }

    #[test]
    fn what_is_malformed_is_an_error() {
        let ends = CallEnds {
            request: Some(at(1, 0)),
            reply: None,
        };
        let whole = data(&ends).unwrap();
        for length in 0..whole.len() {
            assert!(request_end(&whole[..length]).is_err(), "{length}");
        }
    }
}
