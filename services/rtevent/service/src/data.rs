//! Data of events.

use crate::{Form, RtecEventData};
use punctual::Any;
use punctual::stub::{
    Block, ByteOrder, CdrError, Coding, Decoder, Encoder, Marshal, SharedCopy, Unmarshal,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Data of an event, shared by all consumers that receive it.
pub type Data = Arc<EventData>;

/// Event of a channel, with data as they are on the wire.
pub type Event = punctual_rtevent::Event<Data>;

/// Data of an event, whose length is known.
#[derive(Clone, Debug, Default)]
pub struct EventData {
    contents: RtecEventData,
    /// Octets that the data counts for in queues.
    octets: usize,
    /// Number of the contents: no others of this process have it. 0 for none.
    number: u64,
    /// Copy of the octets for consumers over shared memory, made when the first of them gets it.
    copy: SharedCopy,
}

/// Octets of the data of an event that is kept for its memory; longer ones have a copy for consumers over shared memory,
/// which ends with the event.
pub(crate) const MOST_KEPT: usize = 4096;

/// Returns the first of so many numbers for contents.
pub(crate) fn take_numbers(count: usize) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // Relaxed: only uniqueness matters.
    NEXT.fetch_add(count as u64, Ordering::Relaxed)
}

impl EventData {
    /// Makes data of octets and a value.
    #[must_use]
    pub fn new(contents: RtecEventData) -> Self {
        let octets = contents.payload.len() + length(&contents.any_value);
        Self {
            contents,
            octets,
            number: take_numbers(1),
            copy: SharedCopy::default(),
        }
    }

    /// Reads data in place of these, whose memory is reused. They get a number.
    pub(crate) fn read(
        &mut self,
        number: u64,
        form: Form,
        input: &mut Decoder<'_>,
    ) -> Result<(), CdrError> {
        let (start, contents) = (input.position(), &mut self.contents);
        self.number = number;
        self.copy = SharedCopy::default();
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

    /// Returns the copy for messages that lend the octets; `None` if they are so short that their memory may be kept for
    /// other events.
    pub(crate) fn copy(&self) -> Option<&SharedCopy> {
        let is_long = self.contents.payload.len() > MOST_KEPT;
        is_long.then_some(&self.copy)
    }

    /// Returns whether the octets are long enough for a message to lend them instead of copying them.
    pub(crate) fn is_lent_to(&self, out: &Encoder<'_>) -> bool {
        self.copy().is_some() && out.lends_runs_of(self.contents.payload.len())
    }

    /// Returns the number of the contents.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    /// Returns the octets and the value.
    #[must_use]
    pub const fn contents(&self) -> &RtecEventData {
        &self.contents
    }
}

/// Compares the octets and the values.
impl PartialEq for EventData {
    fn eq(&self, other: &Self) -> bool {
        self.contents == other.contents
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
