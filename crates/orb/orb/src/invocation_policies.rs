//! The service context INVOCATION_POLICIES (CORBA 3.3 part 2, §22.3.2), by which a request carries
//! policies of its caller. Servers read from it until when the request may be delivered and, if it has to
//! wait for a thread, its rank in the queue ([`queue_rank`]). Start times and reply priorities are for
//! routers and are ignored.
//!
//! ```text
//! PolicyValueSeq, an encapsulation:  sequence<{ ulong type; sequence<octet> value }>
//! start and end times:               TimeBase::UtcT, an encapsulation
//! RequestPriority, ReplyPriority:    Messaging::PriorityRange { short min; short max; }, an encapsulation
//! QueueOrder:                        ushort, an encapsulation
//! UtcT  { ulonglong time; ulong inaccuracy_low; ushort inaccuracy_high; short minutes_east; }
//! ```
//! Time counts tenths of a microsecond from 15 October 1582 on.

use crate::policy::{CallEndTimes, Order, PriorityRange, QueueOrder, QueueRank, Queued, numbers};
use punctual_cdr::{ByteOrder, CdrError, Coding, Decoder, Encoder, Unmarshal};
use punctual_giop::service_context;
use punctual_ior::{PolicyValue, TaggedComponent};
use std::time::{Duration, SystemTime};

/// Seconds between the epoch of UtcT and the Unix epoch.
const BEFORE_UNIX: u64 = 12_219_292_800;
const A_SECOND: u64 = 10_000_000;

/// Returns the service context for a request with these end times and queueing policies; `None` if
/// it has none.
pub(crate) fn told(ends: &CallEndTimes, queued: &Queued) -> Option<(u32, Vec<u8>)> {
    if ends.request.is_none() && ends.reply.is_none() && !queued.is_any() {
        return None;
    }
    // Encoding these values cannot fail.
    let data = data(ends, queued).ok()?;
    Some((service_context::INVOCATION_POLICIES, data))
}

fn data(ends: &CallEndTimes, queued: &Queued) -> Result<Vec<u8>, CdrError> {
    let priority = |range: Option<PriorityRange>| range.map(range_encapsulated);
    let time = |time: Option<SystemTime>| time.map(encapsulated);
    let all = [
        (numbers::REQUEST_PRIORITY, priority(queued.request_priority)),
        (numbers::REPLY_PRIORITY, priority(queued.reply_priority)),
        (numbers::REQUEST_START, time(queued.request_start)),
        (numbers::REQUEST_END, time(ends.request)),
        (numbers::REPLY_START, time(queued.reply_start)),
        (numbers::REPLY_END, time(ends.reply)),
        (numbers::QUEUE_ORDER, queued.order.map(order_encapsulated)),
    ];
    let value = |(kind, data): (u32, Option<Result<Vec<u8>, CdrError>>)| {
        data.map(|data| data.map(|data| PolicyValue { kind, data }))
    };
    let values: Vec<PolicyValue> = all
        .into_iter()
        .filter_map(value)
        .collect::<Result<_, _>>()?;
    // The encapsulation is the same as that of a reference's policies.
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

fn range_encapsulated(range: PriorityRange) -> Result<Vec<u8>, CdrError> {
    Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), |out| {
        out.put_i16(range.min);
        out.put_i16(range.max);
        Ok(())
    })
}

fn order_encapsulated(order: QueueOrder) -> Result<Vec<u8>, CdrError> {
    Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), |out| {
        out.put_u16(order.bits());
        Ok(())
    })
}

/// Returns the rank that this context gives a request in a queue of waiting requests (§22.2.5.8).
///
/// # Errors
/// If the context cannot be decoded.
pub(crate) fn queue_rank(data: &[u8]) -> Result<QueueRank, CdrError> {
    let mut values = Decoder::of_encapsulation(data, Coding::default())?;
    let values = Vec::<PolicyValue>::unmarshal(&mut values)?;
    let of_type = |kind: u32| values.iter().find(|one| one.kind == kind);
    let Some(order) = of_type(numbers::QUEUE_ORDER) else {
        return Ok(QueueRank::default());
    };
    let order = Decoder::of_encapsulation(&order.data, Coding::default())?.get_u16()?;
    Ok(match QueueOrder::of_bits(order).chosen() {
        Order::Temporal => QueueRank::default(),
        Order::Priority => {
            let range = of_type(numbers::REQUEST_PRIORITY);
            QueueRank::by_priority(match range {
                Some(range) => {
                    let mut range = Decoder::of_encapsulation(&range.data, Coding::default())?;
                    let _min = range.get_i16()?;
                    range.get_i16()?
                }
                None => 0,
            })
        }
        Order::Deadline => {
            let end = of_type(numbers::REQUEST_END).or_else(|| of_type(numbers::REPLY_END));
            QueueRank::by_deadline(match end {
                Some(end) => {
                    Some(Decoder::of_encapsulation(&end.data, Coding::default())?.get_u64()?)
                }
                None => None,
            })
        }
    })
}

/// Returns by how much a request with this context is late at present; `None` if it is not late.
///
/// # Errors
/// If the context cannot be decoded.
pub(crate) fn lateness(data: &[u8]) -> Result<Option<Duration>, CdrError> {
    let end = request_end(data)?;
    Ok(end.and_then(|end| SystemTime::now().duration_since(end).ok()))
}

/// Returns the time until which a request with this context may be delivered, if there is one.
fn request_end(data: &[u8]) -> Result<Option<SystemTime>, CdrError> {
    let mut values = Decoder::of_encapsulation(data, Coding::default())?;
    let values = Vec::<PolicyValue>::unmarshal(&mut values)?;
    let end = values.iter().find(|one| one.kind == numbers::REQUEST_END);
    let Some(end) = end else {
        return Ok(None);
    };
    let mut end = Decoder::of_encapsulation(&end.data, Coding::default())?;
    let ticks = end.get_u64()?;
    // Times have an inaccuracy: the request is not late before the end of the interval.
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

/// Converts UtcT ticks to a time; returns `None` beyond the range of the system clock.
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
        let ends = CallEndTimes {
            request: Some(at(1_800_000_000, 1_234_567)),
            reply: Some(at(1_900_000_000, 0)),
        };
        let told = data(&ends, &Queued::default()).unwrap();
        assert_eq!(request_end(&told).unwrap(), ends.request);
        let only_reply = CallEndTimes {
            request: None,
            ..ends
        };
        assert_eq!(
            request_end(&data(&only_reply, &Queued::default()).unwrap()).unwrap(),
            None
        );
    }

    #[test]
    fn it_is_the_standards_encoding() {
        let ends = CallEndTimes {
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
        assert_eq!(data(&ends, &Queued::default()).unwrap(), expected.concat());
    }

    #[test]
    fn priorities_and_start_times_are_told_beside_an_end() {
        let ends = CallEndTimes {
            request: Some(at(60, 0)),
            reply: None,
        };
        let queued = Queued {
            request_priority: Some(PriorityRange { min: 3, max: 7 }),
            reply_priority: Some(PriorityRange::exactly(-1)),
            request_start: Some(at(50, 0)),
            reply_start: Some(at(70, 0)),
            order: None,
        };
        let told = data(&ends, &queued).unwrap();
        assert_eq!(request_end(&told).unwrap(), ends.request);
        let mut values = Decoder::of_encapsulation(&told, Coding::default()).unwrap();
        let values = Vec::<PolicyValue>::unmarshal(&mut values).unwrap();
        let kinds: Vec<u32> = values.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [25, 26, 27, 28, 29]);
        let mut range = Decoder::of_encapsulation(&values[0].data, Coding::default()).unwrap();
        assert_eq!((range.get_i16(), range.get_i16()), (Ok(3), Ok(7)));
    }

    #[test]
    fn a_request_stands_among_others_as_its_order_says() {
        let ends = CallEndTimes {
            request: Some(at(60, 0)),
            reply: None,
        };
        let ordered = |order: QueueOrder| Queued {
            request_priority: Some(PriorityRange { min: 3, max: 7 }),
            order: Some(order),
            ..Queued::default()
        };
        let read = |queued: &Queued| queue_rank(&data(&ends, queued).unwrap()).unwrap();
        assert_eq!(read(&Queued::default()), QueueRank::default());
        assert_eq!(read(&ordered(QueueOrder::ANY)), QueueRank::default());
        assert_eq!(
            read(&ordered(QueueOrder::PRIORITY)),
            QueueRank::by_priority(7)
        );
        let end = ticks(at(60, 0));
        assert_eq!(
            read(&ordered(QueueOrder::DEADLINE)),
            QueueRank::by_deadline(Some(end))
        );
        let whole = data(&ends, &ordered(QueueOrder::DEADLINE)).unwrap();
        for length in 0..whole.len() {
            assert!(queue_rank(&whole[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn what_is_malformed_is_an_error() {
        let ends = CallEndTimes {
            request: Some(at(1, 0)),
            reply: None,
        };
        let whole = data(&ends, &Queued::default()).unwrap();
        for length in 0..whole.len() {
            assert!(request_end(&whole[..length]).is_err(), "{length}");
        }
    }
}
