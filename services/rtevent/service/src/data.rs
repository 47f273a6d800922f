//! Data of events.

use crate::{Form, RtecEventData};
use punctual::Any;
use punctual::stub::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Marshal, Unmarshal};
use std::sync::Arc;

/// Data of an event, shared by all consumers that receive it.
pub type Data = Arc<EventData>;

/// Event of a channel, with data as they are on the wire.
pub type Event = punctual_rtevent::Event<Data>;

/// Data of an event, whose length is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventData {
    contents: RtecEventData,
    /// Octets that the data counts for in queues.
    octets: usize,
}

impl EventData {
    /// Makes data of octets and a value.
    #[must_use]
    pub fn new(contents: RtecEventData) -> Self {
        let octets = contents.payload.len() + length(&contents.any_value);
        Self { contents, octets }
    }

    /// Reads data in place of these, whose memory is reused.
    pub(crate) fn read(&mut self, form: Form, input: &mut Decoder<'_>) -> Result<(), CdrError> {
        let (start, contents) = (input.position(), &mut self.contents);
        match form.has_octets {
            true => {
                contents.pad1 = input.get_i32()?;
                contents.payload.unmarshal_into(input)?;
            }
            false => {
                contents.pad1 = 0;
                contents.payload.clear();
            }
        }
        match form.has_any {
            true => contents.any_value.unmarshal_into(input)?,
            false => contents.any_value = Any::default(),
        }
        self.octets = input.position() - start;
        Ok(())
    }

    /// Returns the octets and the value.
    #[must_use]
    pub const fn contents(&self) -> &RtecEventData {
        &self.contents
    }
}

impl From<RtecEventData> for EventData {
    fn from(contents: RtecEventData) -> Self {
        Self::new(contents)
    }
}

impl punctual_rtevent::Payload for EventData {
    fn size(&self) -> usize {
        self.octets
    }

    fn empty() -> Self {
        Self::default()
    }
}

/// Returns the octets of a value on the wire; 0 for one that cannot be sent.
fn length(value: &Any) -> usize {
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
    let written = value.marshal(&mut out);
    written.map_or(0, |()| out.position())
}
