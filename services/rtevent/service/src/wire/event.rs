//! Sets of events.

use crate::data::take_numbers;
use crate::rtec_event_comm::{self as comm, EventHeader};
use crate::{Event, EventData, Form, RtecEventData};
use punctual::stub::{CdrError, Decoder, Encoder, Marshal, SharedCopy};
use punctual_rtevent::Header;
use std::sync::Arc;

/// Reads a set of events in place of others, whose memory is reused where nothing else holds it.
pub(crate) fn read_events(
    form: Form,
    input: &mut Decoder<'_>,
    events: &mut Vec<Event>,
) -> Result<(), CdrError> {
    let count = input.get_length(form.least())?;
    let first = take_numbers(count);
    events.truncate(count);
    for (event, number) in events.iter_mut().zip(first..) {
        event.header = read_header(form, input)?;
        match Arc::get_mut(&mut event.data) {
            Some(data) => data.read(number, form, input)?,
            None => event.data = read_data(number, form, input)?,
        }
    }
    let reused = events.len();
    events.reserve(count - reused);
    for number in (first..).skip(reused).take(count - reused) {
        events.push(Event {
            header: read_header(form, input)?,
            data: read_data(number, form, input)?,
        });
    }
    Ok(())
}

/// Writes a set of events, with the time at which they are sent, if it is given.
pub(crate) fn write_events(
    form: Form,
    events: &[Event],
    sent: Option<u64>,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    out.put_length(events.len())?;
    events.iter().try_for_each(|event| {
        let sent = sent.unwrap_or(event.header.sent);
        let header = Header {
            sent,
            ..event.header
        };
        write_header(form, &header, out);
        write_data(form, event.data.contents(), event.data.copy(), out)
    })
}

/// Returns events as a consumer of this process takes them.
pub(crate) fn plain(events: &[Event], sent: Option<u64>) -> Vec<comm::Event> {
    let events = events.iter().map(|event| comm::Event {
        header: EventHeader {
            ec_send_time: sent.unwrap_or(event.header.sent),
            ..plain_header(&event.header)
        },
        data: event.data.contents().clone(),
    });
    events.collect()
}

/// Converts a header to the generated type of stubs.
pub(crate) const fn plain_header(header: &Header) -> EventHeader {
    EventHeader {
        r#type: header.kind,
        source: header.source,
        ttl: header.ttl,
        creation_time: header.created,
        ec_recv_time: header.received,
        ec_send_time: header.sent,
    }
}

/// Converts a generated header to the channel's type.
pub(super) const fn header_of(header: &EventHeader) -> Header {
    Header {
        kind: header.r#type,
        source: header.source,
        ttl: header.ttl,
        created: header.creation_time,
        received: header.ec_recv_time,
        sent: header.ec_send_time,
    }
}

/// Reads an event, and returns its header.
pub(super) fn read_entry(form: Form, input: &mut Decoder<'_>) -> Result<Header, CdrError> {
    let header = read_header(form, input)?;
    EventData::default().read(0, form, input)?;
    Ok(header)
}

/// Reads an event's header.
pub(crate) fn read_header(form: Form, input: &mut Decoder<'_>) -> Result<Header, CdrError> {
    let mut header = Header {
        kind: input.get_i32()?,
        source: input.get_i32()?,
        ttl: input.get_i32()?,
        created: input.get_u64()?,
        ..Header::default()
    };
    if form.has_timestamps {
        header.received = input.get_u64()?;
        header.sent = input.get_u64()?;
    }
    Ok(header)
}

/// Writes an event's header: its numbers are put together first, which costs less than to align and append each.
pub(super) fn write_header(form: Form, header: &Header, out: &mut Encoder<'_>) {
    /// Length of a header that begins at a multiple of 8; 4 bytes are padding.
    const LONGEST: usize = 40;
    /// Length of a header without time stamps, likewise.
    const SHORTEST: usize = 24;
    if !out.order().is_native() {
        return write_numbers(form, header, out);
    }
    out.align(4);
    // Times begin at a multiple of 8: padding is behind the first numbers, or ahead of them.
    let begin = out.padding(8);
    let mut octets = [0; LONGEST];
    let mut put = |at: usize, number: &[u8]| {
        if let Some(place) = octets.get_mut(at..at + number.len()) {
            place.copy_from_slice(number);
        }
    };
    put(begin, &header.kind.to_ne_bytes());
    put(begin + 4, &header.source.to_ne_bytes());
    put(begin + 8, &header.ttl.to_ne_bytes());
    put(16, &header.created.to_ne_bytes());
    put(24, &header.received.to_ne_bytes());
    put(32, &header.sent.to_ne_bytes());
    let end = if form.has_timestamps {
        LONGEST
    } else {
        SHORTEST
    };
    out.put_bytes(octets.get(begin..end).unwrap_or_default());
}

fn write_numbers(form: Form, header: &Header, out: &mut Encoder<'_>) {
    out.put_i32(header.kind);
    out.put_i32(header.source);
    out.put_i32(header.ttl);
    out.put_u64(header.created);
    if form.has_timestamps {
        out.put_u64(header.received);
        out.put_u64(header.sent);
    }
}

fn read_data(number: u64, form: Form, input: &mut Decoder<'_>) -> Result<Arc<EventData>, CdrError> {
    let mut data = EventData::default();
    data.read(number, form, input)?;
    Ok(Arc::new(data))
}

/// Writes an event's data. Octets that the message lends are in `copy`, if that is given, so that they are copied once for
/// all messages whose link has a common pool.
pub(super) fn write_data(
    form: Form,
    data: &RtecEventData,
    copy: Option<&SharedCopy>,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    if form.has_octets {
        out.put_i32(data.pad1);
        match copy {
            Some(copy) => out.put_shared_octets(&data.payload, copy)?,
            None => data.payload.marshal(out)?,
        }
    }
    if form.has_any {
        data.any_value.marshal(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual::stub::{Block, ByteOrder, Coding};

    /// Returns what `write` writes behind so many bytes.
    fn behind(head: usize, order: ByteOrder, write: impl FnOnce(&mut Encoder<'_>)) -> Vec<u8> {
        let mut out = Encoder::new(Block::default(), order, Coding::default());
        out.put_bytes(&vec![0xaa; head]);
        write(&mut out);
        out.into_block().into_vec()
    }

    #[test]
    fn a_header_has_its_numbers_one_after_the_other_wherever_it_begins() {
        let header = Header {
            kind: -1,
            source: 2,
            ttl: 3,
            created: 0x0102_0304_0506_0708,
            received: 5,
            sent: u64::MAX,
        };
        for without in [&[][..], &["timestamps"]] {
            let form = Form::without(without).unwrap();
            for order in [ByteOrder::Little, ByteOrder::Big] {
                for head in 0..9 {
                    let one_by_one = behind(head, order, |out| write_numbers(form, &header, out));
                    let at_once = behind(head, order, |out| write_header(form, &header, out));
                    assert_eq!(at_once, one_by_one, "{form}, {order:?}, {head}");
                }
            }
        }
    }

    #[test]
    fn a_set_is_written_as_stubs_write_it() {
        let data = |payload: &[u8]| RtecEventData {
            pad1: 7,
            payload: payload.to_vec(),
            any_value: punctual::Any::new("value").unwrap(),
        };
        let event =
            |source, payload| Event::new(Header::new(16, source), Arc::new(data(payload).into()));
        let events = [event(1, b"odd"), event(2, b"even"), event(3, b"")];
        let set = behind(0, ByteOrder::NATIVE, |out| {
            write_events(Form::default(), &events, Some(9), out).unwrap();
        });
        let stubs = behind(0, ByteOrder::NATIVE, |out| {
            plain(&events, Some(9)).marshal(out).unwrap();
        });
        assert_eq!(set, stubs);
    }
}
