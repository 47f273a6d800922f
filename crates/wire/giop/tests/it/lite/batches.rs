//! Tests of requests to one operation of one object that are sent as one message.

use punctual_cdr::{Block, CdrError, Coding, GiopVersion, Limits};
use punctual_giop::lite::{BatchWriter, decode_batch, message_decoder};

use super::{native, open};

pub(crate) fn batch_of(bodies: &[Vec<u8>]) -> Vec<u8> {
    let mut batch = BatchWriter::begin(Block::default(), b"key", "op", Coding::default()).unwrap();
    for body in bodies {
        batch.push_body(body).unwrap();
    }
    assert_eq!(batch.len(), bodies.len());
    assert_eq!(batch.is_empty(), bodies.is_empty());
    let octets = batch.octets();
    let block = batch.finish().unwrap();
    assert_eq!(block.len(), octets);
    block.into_vec()
}

#[test]
fn a_batch_is_one_header_and_a_body_for_each_request() {
    let bytes = batch_of(&[vec![0xaa], vec![], vec![0xbb, 0xcc]]);
    let expected = native(
        "3a000000 08 03000000 6b6579 00 03000000 6f7000 00 03000000 01000000 00000000 aa 000000 \
         00000000 02000000 00000000 bbcc",
        "0000003a 08 00000003 6b6579 00 00000003 6f7000 00 00000003 00000001 00000000 aa 000000 \
         00000000 00000002 00000000 bbcc",
    );
    // The size is implied by the bytes themselves.
    assert_eq!(bytes[5..], expected[5..]);
    let size = u32::try_from(bytes.len() - 5).unwrap();
    assert_eq!(bytes[..4], size.to_ne_bytes());
    assert_eq!(bytes[4], 8);
    let batch = decode_batch(&mut open(&bytes)).unwrap();
    assert_eq!((batch.object_key, batch.operation), (&b"key"[..], "op"));
    assert_eq!(batch.bodies.len(), 3);
    let bodies: Vec<_> = batch.bodies.map(|body| body.rest().to_vec()).collect();
    assert_eq!(bodies, [&b"\xaa"[..], b"", b"\xbb\xcc"]);
}

#[test]
fn each_body_of_a_batch_is_aligned_and_read_on_its_own() {
    let mut batch =
        BatchWriter::begin(Block::default(), b"k", "operation", Coding::default()).unwrap();
    for number in 0..5u64 {
        batch
            .push(|out| {
                out.put_u8(1);
                out.put_u64(number);
                out.put_u8(2);
                Ok(())
            })
            .unwrap();
    }
    let block = batch.finish().unwrap();
    let batch = decode_batch(&mut open(&block)).unwrap();
    for (number, mut body) in (0..).zip(batch.bodies) {
        assert_eq!(body.get_u8(), Ok(1));
        assert_eq!(body.get_u64(), Ok(number));
        assert_eq!(body.get_u8(), Ok(2));
        assert_eq!(body.remaining(), 0, "it ends where the next one begins");
    }
}

#[test]
fn a_request_that_fails_to_marshal_leaves_no_trace_in_a_batch() {
    let mut batch = BatchWriter::begin(Block::default(), b"k", "op", Coding::default()).unwrap();
    batch.push_body(b"one").unwrap();
    let failed = batch.push(|out| {
        out.put_u64(1);
        Err(CdrError::InnerNul)
    });
    assert_eq!(failed, Err(CdrError::InnerNul));
    batch.push_body(b"two").unwrap();
    let block = batch.finish().unwrap();
    let batch = decode_batch(&mut open(&block)).unwrap();
    let bodies: Vec<_> = batch.bodies.map(|body| body.rest().to_vec()).collect();
    assert_eq!(bodies, [b"one", b"two"]);
}

#[test]
fn a_batch_has_no_more_requests_than_the_limit_on_sequences() {
    let limits = Limits {
        sequence: 2,
        ..Limits::default()
    };
    let coding = Coding::new(GiopVersion::V1_2, &limits);
    let mut batch = BatchWriter::begin(Block::default(), b"k", "o", coding).unwrap();
    batch.push_body(b"").unwrap();
    batch.push_body(b"").unwrap();
    let error = batch.push_body(b"").unwrap_err();
    assert_eq!(
        error,
        CdrError::LengthOverLimit {
            length: 3,
            limit: 2
        }
    );
    assert_eq!(batch.len(), 2);
    let three = batch_of(&[vec![], vec![], vec![]]);
    let read = decode_batch(&mut message_decoder(&three, coding));
    assert!(matches!(read, Err(CdrError::LengthOverLimit { .. })));
}
