//! Drivers for fuzzing of code whose output is not otherwise checked.

use crate::wire::{read_events, write_events};
use crate::{Event, Form};
use punctual::stub::{Block, ByteOrder, Coding, Decoder, Encoder};

/// Reads a message as a receiver of datagrams does. Its events are written and read again, and returned.
///
/// # Panics
/// The events that are read again differ from those of the message.
#[must_use]
pub fn events(form: Form, order: ByteOrder, message: &[u8]) -> Option<Vec<Event>> {
    let events = read(form, order, message)?;
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    write_events(form, &events, None, &mut out).ok()?;
    let again = read(form, order, out.into_block().as_slice());
    assert!(again.is_some(), "what was written is not read");
    let again = again.unwrap_or_default();
    assert_eq!(events.len(), again.len());
    for (one, again) in events.iter().zip(&again) {
        assert_eq!(one.header, again.header);
        assert_eq!(one.data.contents(), again.data.contents());
    }
    Some(events)
}

fn read(form: Form, order: ByteOrder, message: &[u8]) -> Option<Vec<Event>> {
    let mut input = Decoder::new(message, order, Coding::default());
    let mut events = Vec::new();
    let read = form.read(&mut input, |form, input| {
        read_events(form, input, &mut events)
    });
    read.ok().map(|()| events)
}
