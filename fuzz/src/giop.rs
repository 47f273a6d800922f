//! Messages: framing, fragments put together, each kind of header, the short way beside the general one,
//! and what is shown to people.

use punctual_cdr::{Coding, Decoder, Limits};
use punctual_giop::code_sets::CodeSetContext;
use punctual_giop::trace::{TraceOptions, describe};
use punctual_giop::{
    Accepted, CancelRequest, Examined, LocateReplyHeader, LocateRequestHeader, PlainRequests,
    Reassembly, ReplyHeader, RequestHeader, SystemExceptionBody, examine, message_decoder,
};

/// Small ones, so that inputs reach them.
fn limits() -> Limits {
    Limits {
        message: 1 << 16,
        ..Limits::default()
    }
}

/// Takes one input.
///
/// # Panics
/// If something is wrong with what the input does.
pub fn run(input: &[u8]) {
    let limits = limits();
    let coding = Coding {
        limits: &limits,
        ..Coding::default()
    };
    let mut reassembly = Reassembly::new(&limits);
    let mut plain = PlainRequests::default();
    let mut rest = input;
    while let Ok(Examined::Complete(header)) = examine(rest, &limits) {
        let Some((message, behind)) = rest.split_at_checked(header.message_len()) else {
            break;
        };
        assert!(
            !describe(message, TraceOptions::default())
                .to_string()
                .is_empty()
        );
        read_all(&message_decoder(&header, message, coding));
        if let Some(request) = plain.read(message, &limits) {
            let mut general = message_decoder(&header, message, coding);
            let general = RequestHeader::decode(&mut general);
            assert!(general.is_ok_and(|general| general.operation == request.operation));
        }
        match reassembly.accept(&header, message) {
            Ok(Accepted::Assembled(whole)) => read_all(&whole.decoder(coding)),
            Ok(_) => {}
            Err(_) => break,
        }
        rest = behind;
    }
    let _ = CodeSetContext::decode(rest);
}

fn read_all(input: &Decoder<'_>) {
    let _ = RequestHeader::decode(&mut input.clone()).map(|it| it.contexts.iter().count());
    let _ = ReplyHeader::decode(&mut input.clone()).map(|it| it.contexts.iter().count());
    let _ = LocateRequestHeader::decode(&mut input.clone());
    let _ = LocateReplyHeader::decode(&mut input.clone());
    let _ = CancelRequest::decode(&mut input.clone());
    let _ = SystemExceptionBody::decode(&mut input.clone());
}
