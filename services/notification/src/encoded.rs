//! Structured events as they came in a message, with the places of what filters and queues read of them.
//!
//! What decoding would refuse is not taken: each text and each TypeCode is read once, and the values are passed over. Events
//! that cannot be copied as they are, such as those with text in another code set than UTF-8 or with valuetypes, are
//! decoded instead.

use std::borrow::Cow;
use std::sync::LazyLock;

use punctual::any::PassedAnys;
use punctual::stub::{CdrError, Decoder, Encoder, Unmarshal};
use punctual::{Any, TypeCode, Typed};
use punctual_constraint::{FieldValue, List};

use crate::cos_notification::{Property, StructuredEvent};

/// Type name of events that are Anys.
pub(crate) const ANY: &str = "%ANY";

/// Type of structured events.
pub(crate) static STRUCTURED_EVENT: LazyLock<TypeCode> = LazyLock::new(StructuredEvent::type_code);

/// Encoded structured event.
#[derive(Debug)]
pub(crate) struct Encoded {
    /// Event, as an Any that holds it.
    any: Any,
    names: Names,
    /// Names of the properties, those of the variable header first. The value of each is behind its name.
    properties: Box<[Text]>,
    /// Number of properties in the variable header.
    in_header: usize,
    /// Offset of the remainder of the body.
    remainder: u32,
}

/// Place of text in the encoding.
#[derive(Clone, Copy, Debug)]
struct Text {
    begin: u32,
    length: u32,
}

/// Places of the names in the fixed header.
#[derive(Clone, Copy, Debug)]
struct Names {
    domain: Text,
    kind: Text,
    event: Text,
}

impl Encoded {
    /// Reads an event that can stay encoded; returns `None` for all others, and reads nothing then.
    pub(crate) fn read(input: &mut Decoder<'_>) -> Option<Self> {
        let (encoded, end) = Reader::new(input)?.event()?;
        input.catch_up(end);
        Some(encoded)
    }

    /// Returns the event as an Any.
    pub(crate) fn any(&self) -> &Any {
        &self.any
    }

    /// Decodes the event.
    pub(crate) fn decode(&self) -> StructuredEvent {
        self.any
            .read(StructuredEvent::unmarshal)
            .unwrap_or_default()
    }

    /// Writes the event: copies its bytes where their order and alignment fit.
    ///
    /// # Errors
    /// Text that another code set does not have, and the like.
    pub(crate) fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        self.any.marshal_value(out)
    }

    /// Returns the number of bytes of the event and of the places.
    pub(crate) fn bytes(&self) -> usize {
        self.any.encoding().len() + size_of_val(&*self.properties)
    }

    pub(crate) fn domain_name(&self) -> &str {
        self.text(self.names.domain)
    }

    pub(crate) fn type_name(&self) -> &str {
        self.text(self.names.kind)
    }

    pub(crate) fn event_name(&self) -> &str {
        self.text(self.names.event)
    }

    pub(crate) fn property_count(&self, list: List) -> usize {
        self.list(list).len()
    }

    pub(crate) fn property_at(&self, list: List, index: usize) -> Option<(&str, FieldValue<'_>)> {
        let name = *self.list(list).get(index)?;
        Some((self.text(name), self.value(name.end())))
    }

    /// Returns the first property with this name.
    pub(crate) fn property(&self, list: List, name: &str) -> Option<FieldValue<'_>> {
        let mut names = self.list(list).iter();
        let found = names.find(|text| self.bytes_of(**text) == name.as_bytes())?;
        Some(self.value(found.end()))
    }

    pub(crate) fn remainder_of_body(&self) -> FieldValue<'_> {
        self.value(self.remainder)
    }

    /// Decodes the variable header.
    pub(crate) fn header(&self) -> Vec<Property> {
        let names = self.list(List::VariableHeader).iter();
        let decoded = names.map(|name| Property {
            name: self.text(*name).to_owned(),
            value: self.decoded(name.end()),
        });
        decoded.collect()
    }

    fn decoded(&self, offset: u32) -> Any {
        let value = self.any.read_from(offset as usize, Any::unmarshal);
        value.unwrap_or_default()
    }

    fn value(&self, offset: u32) -> FieldValue<'_> {
        FieldValue::Within(&self.any, offset as usize)
    }

    fn list(&self, list: List) -> &[Text] {
        let lists = self.properties.split_at_checked(self.in_header);
        let (header, data) = lists.unwrap_or_default();
        match list {
            List::VariableHeader => header,
            List::FilterableData => data,
        }
    }

    fn text(&self, text: Text) -> &str {
        // It was read as UTF-8.
        std::str::from_utf8(self.bytes_of(text)).unwrap_or_default()
    }

    fn bytes_of(&self, text: Text) -> &[u8] {
        let begin = text.begin as usize;
        let bytes = self.any.encoding().get(begin..begin + text.length as usize);
        bytes.unwrap_or_default()
    }
}

impl Text {
    /// Returns the offset behind the text and its NUL.
    const fn end(self) -> u32 {
        self.begin + self.length + 1
    }
}

/// Reader of one event.
struct Reader<'d> {
    begin: Decoder<'d>,
    input: Decoder<'d>,
    anys: PassedAnys,
}

impl<'d> Reader<'d> {
    fn new(input: &mut Decoder<'d>) -> Option<Self> {
        let mut begin = input.ahead();
        // Offsets count from the event's first string.
        begin.align(4).ok()?;
        Some(Self {
            input: begin.ahead(),
            begin,
            anys: PassedAnys::default(),
        })
    }

    /// Reads the event; returns the decoder behind it, too.
    fn event(mut self) -> Option<(Encoded, Decoder<'d>)> {
        let names = Names {
            domain: self.text()?,
            kind: self.text()?,
            event: self.text()?,
        };
        if self.stands_for_any(&names) {
            return None;
        }
        let mut properties = Vec::new();
        self.properties(&mut properties)?;
        let in_header = properties.len();
        self.properties(&mut properties)?;
        let remainder = self.offset()?;
        self.anys.pass(&mut self.input).ok()?;
        let any = Any::of_passed(&STRUCTURED_EVENT, &self.begin, &self.input, self.anys).ok()??;
        let encoded = Encoded {
            any,
            names,
            properties: properties.into(),
            in_header,
            remainder,
        };
        Some((encoded, self.input))
    }

    /// Returns whether the event is not one of its own: it stands for an Any, which is its remainder.
    fn stands_for_any(&self, names: &Names) -> bool {
        let kind = self.begin.unbroken().get(names.kind.begin as usize..);
        let is_any = || kind.is_some_and(|kind| kind.starts_with(ANY.as_bytes()));
        names.domain.length == 0 && names.kind.length as usize == ANY.len() && is_any()
    }

    fn properties(&mut self, all: &mut Vec<Text>) -> Option<()> {
        let count = self.input.get_length(Property::MIN_SIZE).ok()?;
        all.reserve_exact(count);
        for _ in 0..count {
            all.push(self.text()?);
            self.anys.pass(&mut self.input).ok()?;
        }
        Some(())
    }

    fn text(&mut self) -> Option<Text> {
        let Cow::Borrowed(text) = self.input.get_string().ok()? else {
            return None;
        };
        let length = u32::try_from(text.len()).ok()?;
        let begin = self.offset()?.checked_sub(length + 1)?;
        Some(Text { begin, length })
    }

    fn offset(&self) -> Option<u32> {
        let offset = self.input.position() - self.begin.position();
        u32::try_from(offset).ok()
    }
}
