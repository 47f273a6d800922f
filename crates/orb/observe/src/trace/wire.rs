//! Encoding of a trace context as the data of a service context.

use super::context::TraceContext;
use punctual_cdr::{ByteOrder, Coding, Decoder, Encoder};

/// Maximum length of the service context's data, in bytes: 55 and 512 bytes of text, and the
/// encapsulation. Longer data is ignored.
const LONGEST: usize = 1024;

pub(super) fn encoded(context: &TraceContext) -> Option<Vec<u8>> {
    let written = Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), |out| {
        out.put_string(&context.to_string())?;
        out.put_string(context.state())
    });
    // The text is ASCII alone.
    written.ok()
}

/// Decodes a trace context; returns `None` for invalid data, in which case a new trace begins.
pub(super) fn decoded(data: &[u8]) -> Option<TraceContext> {
    if data.len() > LONGEST {
        return None;
    }
    let mut input = Decoder::of_encapsulation(data, Coding::default()).ok()?;
    let parent = input.get_string().ok()?;
    let context: TraceContext = parent.parse().ok()?;
    let state = input.get_string().ok()?;
    Some(context.with_state(&state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_travels_is_what_arrives_and_anything_else_is_ignored() {
        let context = TraceContext::root(true).with_state("a=1");
        let data = encoded(&context).unwrap();
        assert_eq!(decoded(&data), Some(context));
        for length in 0..data.len() {
            assert_eq!(decoded(&data[..length]), None);
        }
        assert_eq!(decoded(&[0; 2000]), None);
        assert_eq!(decoded(&[7; 40]), None);
    }
}
