//! Messages of GIOPlite.

use super::limits;
use punctual_cdr::{Block, Coding, Decoder, Encoder};
use punctual_giop::lite::{
    self, BatchWriter, Examined, Kind, MessageHeader, begin_message, decode_batch,
    decode_locate_reply, decode_locate_request, decode_reply, decode_request, encode_locate_reply,
    encode_locate_request, encode_reply, encode_request, examine, finish_message, message_decoder,
};

/// Checks that a message read, written and read again is the same.
macro_rules! same {
    ($kind:expr, $coding:expr, $input:expr, $read:ident, $write:ident) => {
        if let Ok(value) = $read(&mut $input.clone()) {
            let mut out = begin_message(Block::default(), $kind, $coding);
            $write(&value, &mut out).expect("what was read is written");
            let block = finished(out);
            let again = $read(&mut message_decoder(&block, $coding));
            assert_eq!(again, Ok(value));
        }
    };
}

/// Decodes the consecutive GIOPlite messages of a fuzz input.
pub(super) fn run(mut rest: &[u8]) {
    let limits = limits();
    let coding = Coding {
        limits: &limits,
        ..Coding::default()
    };
    for (bare, kind) in [
        (lite::close_connection(), Kind::CloseConnection),
        (lite::message_error(), Kind::MessageError),
    ] {
        assert!(MessageHeader::parse(&bare).is_ok_and(|header| header.kind == kind));
    }
    loop {
        let header = match examine(rest, rest.len(), &limits) {
            Ok(Examined::Complete(header)) => header,
            Ok(Examined::Incomplete { need }) => return assert!(need > rest.len()),
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        assert!(!header.kind.to_string().is_empty());
        let Some((message, behind)) = rest.split_at_checked(header.message_len()) else {
            return;
        };
        let input = message_decoder(message, coding);
        same!(Kind::Request, coding, input, decode_request, encode_request);
        same!(Kind::Reply, coding, input, decode_reply, encode_reply);
        same!(
            Kind::LocateRequest,
            coding,
            input,
            decode_locate_request,
            encode_locate_request
        );
        same!(
            Kind::LocateReply,
            coding,
            input,
            decode_locate_reply,
            encode_locate_reply
        );
        batch(&input, coding);
        rest = behind;
    }
}

fn finished(out: Encoder<'_>) -> Block {
    let mut block = out.into_block();
    finish_message(&mut block).expect("it is short");
    block
}

/// Checks that the requests of a batch are unchanged after writing and reading.
fn batch(input: &Decoder<'_>, coding: Coding<'_>) {
    let Ok(batch) = decode_batch(&mut input.clone()) else {
        return;
    };
    let bodies: Vec<&[u8]> = batch.bodies.clone().map(|body| body.rest()).collect();
    assert_eq!(bodies.len(), batch.bodies.len());
    let writer = BatchWriter::begin(Block::default(), batch.object_key, batch.operation, coding);
    let mut writer = writer.expect("what was read is written");
    assert!(writer.is_empty());
    for body in &bodies {
        let before = writer.octets();
        assert!(
            writer
                .push(|_| Err(punctual_cdr::CdrError::Invalid("no")))
                .is_err()
        );
        assert_eq!(writer.octets(), before);
        writer.push_body(body).expect("what was read is written");
    }
    assert_eq!(writer.len(), bodies.len());
    let block = writer.finish().expect("it is short");
    let mut input = message_decoder(&block, coding);
    let again = decode_batch(&mut input).expect("what was written is read");
    assert_eq!(
        (again.object_key, again.operation),
        (batch.object_key, batch.operation)
    );
    assert!(again.bodies.map(|body| body.rest()).eq(bodies));
}
