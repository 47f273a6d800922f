//! Tests, from the caller's view, of servants that answer one call more than once.

use super::closure_adapter::Answering;
use super::handle::Orb;
use crate::adapter::DispatchError;
use crate::operation::Operation;
use crate::server::{Dispatched, ServerCall};
use punctual_cdr::{Marshal, Unmarshal};
use std::sync::Arc;

/// Answers with a reply that exceeds the maximum message length, and then with the name of the
/// exception that this raised.
fn insist(call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
    let too_large = call.reply(|out| vec![7u8; 100_000].marshal(out));
    let Err(DispatchError::System(exception)) = too_large else {
        panic!("{too_large:?}");
    };
    call.reply(|out| out.put_string(exception.kind().name()))
}

#[test]
fn an_answer_after_one_that_was_too_large_is_sent_alone() {
    const ASK: Operation = Operation::two_way("ask");
    let server = Orb::builder().configure(|config| config.limits.message = 50_000);
    let server = server.build().unwrap();
    server.adapter_or_set(|| Arc::new(Answering(insist)));
    let reference = server.make_reference("", b"key").unwrap();
    let client = Orb::builder().build().unwrap();
    let text = server.object_to_string(&reference).unwrap();
    let object = client.string_to_object(&text).unwrap();
    for _ in 0..3 {
        let answer = object.invoke(&ASK, |_| Ok(()), String::unmarshal);
        assert_eq!(answer.unwrap(), "IMP_LIMIT");
    }
    client.shutdown(true).unwrap();
    server.shutdown(true).unwrap();
}
