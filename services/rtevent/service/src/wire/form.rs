//! Fields of events that are on the wire.

use crate::clock::EventClock;
use punctual::stub::{CdrError, Decoder};
use punctual::{CompletionStatus, SystemException, SystemExceptionKind};
use punctual_rtevent::Event;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Fields of events that are on the wire, and the clock of their times. All peers of a channel have the same form: a build of TAO can
/// leave fields out (`TAO_LACKS_EVENT_CHANNEL_TIMESTAMPS`, `…_OCTET_SEQUENCE` and `…_ANY`), and nothing in a
/// message says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// Times at which the channel received and sent the event, in its header. Default: true.
    pub has_timestamps: bool,
    /// Padding and octets. Default: true.
    pub has_octets: bool,
    /// Value of type `any`. Default: true.
    pub has_any: bool,
    /// Clock of the times at which the channel received and sent the event. Default: the time of day.
    pub clock: EventClock,
}

impl Default for Form {
    fn default() -> Self {
        Self {
            has_timestamps: true,
            has_octets: true,
            has_any: true,
            clock: EventClock::default(),
        }
    }
}

/// Names of the fields that a form may be without.
pub(crate) const FIELDS: [&str; 3] = ["timestamps", "octets", "any"];

/// A field of events that cannot be left out.
#[derive(Clone, PartialEq, Eq, Error)]
#[error("`{0}` is no field that events may be without: there are `timestamps`, `octets` and `any`")]
pub struct FormError(String);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Form {
    /// Returns the form without the named fields: `timestamps`, `octets`, `any`.
    ///
    /// # Errors
    /// There is no such field.
    pub fn without(fields: &[impl AsRef<str>]) -> Result<Self, FormError> {
        let mut form = Self::default();
        for field in fields {
            match field.as_ref() {
                "timestamps" => form.has_timestamps = false,
                "octets" => form.has_octets = false,
                "any" => form.has_any = false,
                other => return Err(FormError(other.to_owned())),
            }
        }
        Ok(form)
    }

    /// Returns the time now by the form's clock, if events have times.
    pub(crate) fn now(self) -> Option<u64> {
        self.has_timestamps.then(|| self.clock.now())
    }

    /// Notes that the channel receives the events now, if they have the time.
    pub(crate) fn stamp<P>(self, events: &mut [Event<P>]) {
        if let Some(received) = self.now() {
            for event in events {
                event.header.received = received;
            }
        }
    }

    /// Returns the least number of octets of an event, padding not counted.
    pub(crate) fn least(self) -> usize {
        20 + 16 * usize::from(self.has_timestamps)
            + 8 * usize::from(self.has_octets)
            + 4 * usize::from(self.has_any)
    }

    /// Reads the last argument of a request, which has to end where the request ends. `read` is called again for each other
    /// form if it fails.
    ///
    /// # Errors
    /// MARSHAL, with the forms in which the argument could be read.
    pub(crate) fn read<T>(
        self,
        input: &mut Decoder<'_>,
        mut read: impl FnMut(Self, &mut Decoder<'_>) -> Result<T, CdrError>,
    ) -> Result<T, SystemException> {
        let start = input.clone();
        let problem = match read(self, input) {
            Ok(value) if input.remaining() == 0 => return Ok(value),
            Ok(_) => format!("{} octets are left behind the events", input.remaining()),
            Err(error) => error.to_string(),
        };
        let mut fits = |form: &Self| {
            let mut input = start.clone();
            read(*form, &mut input).is_ok() && input.remaining() == 0
        };
        let others: Vec<_> = Self::all()
            .filter(|form| fits(form))
            .map(|form| form.to_string())
            .collect();
        Err(self.mismatch(&problem, &others))
    }

    fn mismatch(self, problem: &str, others: &[String]) -> SystemException {
        let advice = match others {
            [] => "they are in no form that a build of TAO has".to_owned(),
            forms => format!("the peer seems to send them {}", forms.join(" or ")),
        };
        let text = format!("the channel takes events {self}, and {advice}: {problem}");
        SystemException::new(SystemExceptionKind::Marshal, 0, CompletionStatus::No)
            .with_detail(text)
    }

    fn all() -> impl Iterator<Item = Self> {
        (0..8_u8).map(|bits| Self {
            has_timestamps: bits & 1 == 0,
            has_octets: bits & 2 == 0,
            has_any: bits & 4 == 0,
            ..Self::default()
        })
    }
}

/// Shows the form as the setting that chooses it: `with all fields`, `without timestamps, any`.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = [self.has_timestamps, self.has_octets, self.has_any];
        let fields = FIELDS.iter().zip(has);
        let lacks: Vec<_> = fields
            .filter(|(_, has)| !has)
            .map(|(field, _)| *field)
            .collect();
        match lacks.as_slice() {
            [] => f.write_str("with all fields"),
            lacks => write!(f, "without {}", lacks.join(", ")),
        }
    }
}

/// Parses a list of the fields that are left out, separated by commas; nothing for all fields.
impl FromStr for Form {
    type Err = FormError;

    fn from_str(text: &str) -> Result<Self, FormError> {
        let fields = text
            .split(',')
            .map(str::trim)
            .filter(|field| !field.is_empty());
        Self::without(&fields.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RtecEventData;
    use crate::wire::{read_events, write_events};
    use punctual::stub::{Block, ByteOrder, Coding, Encoder};
    use punctual_rtevent::Header;

    fn octets(form: Form, payload: &[u8]) -> Vec<u8> {
        let data = RtecEventData {
            payload: payload.to_vec(),
            ..RtecEventData::default()
        };
        let event = Event::new(Header::new(16, 1), std::sync::Arc::new(data.into()));
        let mut out = Encoder::new(Block::default(), ByteOrder::Little, Coding::default());
        write_events(form, &[event], None, &mut out).unwrap();
        out.into_block().into_vec()
    }

    fn read(form: Form, octets: &[u8]) -> Result<Vec<crate::Event>, SystemException> {
        let mut input = Decoder::new(octets, ByteOrder::Little, Coding::default());
        let mut events = Vec::new();
        form.read(&mut input, |form, input| {
            read_events(form, input, &mut events)
        })?;
        Ok(events)
    }

    #[test]
    fn each_form_reads_what_it_writes() {
        for form in Form::all() {
            let events = read(form, &octets(form, b"payload")).unwrap();
            assert_eq!(events[0].header, Header::new(16, 1), "{form}");
            let has = &events[0].data.contents().payload;
            assert_eq!(has.is_empty(), !form.has_octets, "{form}");
        }
    }

    #[test]
    fn events_of_another_form_are_refused_with_the_form_that_they_seem_to_have() {
        let without = Form::without(&["timestamps"]).unwrap();
        let error = read(without, &octets(Form::default(), b"payload")).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("takes events without timestamps"), "{text}");
        assert!(
            text.contains("seems to send them with all fields"),
            "{text}"
        );
    }

    #[test]
    fn octets_that_are_no_events_are_refused() {
        let error = read(Form::default(), &[0xff; 64]).unwrap_err();
        assert!(error.to_string().contains("no form"), "{error}");
    }
}
