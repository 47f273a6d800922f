//! Events as messages, and messages as events, with the mark by which a bridge knows its own.

use crate::notify::structured;
use data_encoding::HEXLOWER;
use punctual::interceptor::{Codec, ENCODING_CDR_ENCAPS, Encoding};
use punctual::{Any, Orb, SystemException, SystemExceptionKind, Typed};
use punctual_jetstream::BridgeMessage;
use punctual_notification::cos_notification::{Property, StructuredEvent};

/// Form of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Form {
    /// As `punctual notify pull` prints it.
    Json,
    /// An encapsulation of a CosNotification::StructuredEvent, by GIOP 1.2.
    Cdr,
}

impl Form {
    const ALL: [Self; 2] = [Self::Json, Self::Cdr];

    fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Cdr => "application/vnd.omg.cdr",
        }
    }
}

const CONTENT_TYPE: &str = "Content-Type";
/// Header of a message, with the mark of the bridge that has published it.
const MARK_OF_MESSAGE: &str = "Punctual-Bridge";
/// Field of an event's variable header, with the mark of the bridge that has pushed it.
const MARK_OF_EVENT: &str = "punctual_bridge";

/// Coder of events, with the mark of this bridge.
#[derive(Clone, Debug)]
pub(super) struct Carried {
    form: Form,
    codec: Codec,
    mark: String,
}

impl Carried {
    pub(super) fn new(orb: &Orb, form: Form) -> Result<Self, SystemException> {
        let encoding = Encoding {
            format: ENCODING_CDR_ENCAPS,
            major_version: 1,
            minor_version: 2,
        };
        let codec = orb.codec_factory().create_codec(encoding);
        let codec =
            codec.map_err(|error| SystemExceptionKind::Internal.because(error.to_string()))?;
        let mut mark = [0; 8];
        getrandom::fill(&mut mark)
            .map_err(|error| SystemExceptionKind::Internal.because(error.to_string()))?;
        Ok(Self {
            form,
            codec,
            mark: HEXLOWER.encode(&mark),
        })
    }

    /// Returns the message of an event; `None` for an event that this bridge has pushed.
    ///
    /// # Errors
    /// A value in the event has no form as JSON.
    pub(super) fn message(
        &self,
        prefix: &str,
        event: &StructuredEvent,
    ) -> Result<Option<BridgeMessage>, String> {
        let mark = &self.mark;
        let is_own = |field: &Property| {
            field.name == MARK_OF_EVENT
                && field.value.extract::<String>().is_ok_and(|it| it == *mark)
        };
        if event.header.variable_header.iter().any(is_own) {
            return Ok(None);
        }
        let kind = &event.header.fixed_header.event_type;
        let bytes = match self.form {
            Form::Json => structured::to_json(event)?.into_bytes(),
            Form::Cdr => {
                let any = Any::new(event).map_err(|error| error.to_string())?;
                let encoded = self.codec.encode_value(&any);
                encoded.map_err(|error| error.to_string())?
            }
        };
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        Ok(Some(BridgeMessage {
            subject: format!(
                "{prefix}.{}.{}",
                word(&kind.domain_name),
                word(&kind.type_name)
            ),
            headers: vec![
                header(CONTENT_TYPE, self.form.content_type()),
                header(MARK_OF_MESSAGE, mark),
            ],
            bytes: bytes.into(),
        }))
    }

    /// Returns the event of a message; `None` for a message that this bridge has published.
    ///
    /// # Errors
    /// The reason for which the message is no event.
    pub(super) fn event(&self, message: &BridgeMessage) -> Result<Option<StructuredEvent>, String> {
        let value_of = |wanted: &str| {
            let mut headers = message.headers.iter();
            let header = headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            header.map(|(_, value)| value.as_str())
        };
        if value_of(MARK_OF_MESSAGE) == Some(&self.mark) {
            return Ok(None);
        }
        let stated = value_of(CONTENT_TYPE);
        let form = Form::ALL
            .into_iter()
            .find(|form| stated == Some(form.content_type()));
        let mut event = match form.unwrap_or(self.form) {
            Form::Json => {
                let text =
                    std::str::from_utf8(&message.bytes).map_err(|error| error.to_string())?;
                structured::of_json(text)?
            }
            Form::Cdr => {
                let read = self
                    .codec
                    .decode_value(&message.bytes, &StructuredEvent::type_code());
                let any = read.map_err(|error| error.to_string())?;
                any.extract().map_err(|error| error.to_string())?
            }
        };
        event.header.variable_header.push(Property {
            name: MARK_OF_EVENT.to_owned(),
            value: Any::new(&self.mark).map_err(|error| error.to_string())?,
        });
        Ok(Some(event))
    }
}

/// Returns a name as a word of a subject.
fn word(name: &str) -> String {
    let is_special = |sign: char| sign.is_whitespace() || sign.is_control() || ".*>".contains(sign);
    match name {
        "" => "_".to_owned(),
        name => name.replace(is_special, "_"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> StructuredEvent {
        let mut event = StructuredEvent::default();
        let fixed = &mut event.header.fixed_header;
        fixed.event_type.domain_name = "a b.c".to_owned();
        fixed.event_name = "valve".to_owned();
        event.remainder_of_body = Any::new(&7).unwrap();
        event
    }

    #[test]
    fn an_event_is_the_same_behind_a_message_of_each_form_but_for_its_mark() {
        let orb = Orb::builder().build().unwrap();
        for form in Form::ALL {
            let [here, there] = [form, Form::Json].map(|form| Carried::new(&orb, form).unwrap());
            let message = here.message("plant", &event()).unwrap().unwrap();
            assert_eq!(message.subject, "plant.a_b_c._");
            // The header says the form.
            let mut read = there.event(&message).unwrap().unwrap();
            assert_eq!(read.header.variable_header.len(), 1);
            assert!(
                there.message("plant", &read).unwrap().is_none(),
                "it has carried it in"
            );
            assert!(
                here.event(&message).unwrap().is_none(),
                "it has carried it out"
            );
            read.header.variable_header.clear();
            assert_eq!(structured::to_json(&read), structured::to_json(&event()));
        }
    }

    #[test]
    fn what_is_no_event_is_refused_with_the_reason() {
        let orb = Orb::builder().build().unwrap();
        for form in Form::ALL {
            let carried = Carried::new(&orb, form).unwrap();
            for bytes in [
                &b""[..],
                b"{}",
                b"\xff\xff",
                &[1, 0, 0, 0, 255, 255, 255, 255],
            ] {
                let message = BridgeMessage {
                    subject: "plant".to_owned(),
                    headers: Vec::new(),
                    bytes: bytes.to_vec().into(),
                };
                assert!(!carried.event(&message).unwrap_err().is_empty());
            }
        }
    }
}
