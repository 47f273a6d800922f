//! Sets of events.

use crate::rtec_event_comm::{self as comm, EventHeader};
use crate::{Event, EventData, Form, RtecEventData};
use punctual::stub::{Any, CdrError, Decoder, Encoder, Marshal, Unmarshal};
use punctual_rtevent::Header;
use std::sync::Arc;

/// Reads a set of events.
pub(crate) fn read_events(form: Form, input: &mut Decoder<'_>) -> Result<Vec<Event>, CdrError> {
    let count = input.get_length(form.least())?;
    (0..count).map(|_| read_event(form, input)).collect()
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
        write_header(
            form,
            &Header {
                sent,
                ..event.header
            },
            out,
        );
        write_data(form, event.data.contents(), out)
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

/// Reads an event.
pub(super) fn read_event(form: Form, input: &mut Decoder<'_>) -> Result<Event, CdrError> {
    Ok(Event {
        header: read_header(form, input)?,
        data: Arc::new(read_data(form, input)?),
    })
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

/// Writes an event's header.
pub(super) fn write_header(form: Form, header: &Header, out: &mut Encoder<'_>) {
    out.put_i32(header.kind);
    out.put_i32(header.source);
    out.put_i32(header.ttl);
    out.put_u64(header.created);
    if form.has_timestamps {
        out.put_u64(header.received);
        out.put_u64(header.sent);
    }
}

fn read_data(form: Form, input: &mut Decoder<'_>) -> Result<EventData, CdrError> {
    let start = input.position();
    let mut data = RtecEventData::default();
    if form.has_octets {
        data.pad1 = input.get_i32()?;
        data.payload = Vec::unmarshal(input)?;
    }
    if form.has_any {
        data.any_value = Any::unmarshal(input)?;
    }
    let octets = input.position() - start;
    Ok(EventData::received(data, octets))
}

/// Writes an event's data.
pub(super) fn write_data(
    form: Form,
    data: &RtecEventData,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    if form.has_octets {
        out.put_i32(data.pad1);
        data.payload.marshal(out)?;
    }
    if form.has_any {
        data.any_value.marshal(out)?;
    }
    Ok(())
}
