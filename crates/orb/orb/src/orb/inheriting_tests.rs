//! Tests of an ORB whose lane uses locks with priority inheritance, as a real-time lane does: it
//! makes and serves calls.

use super::closure_adapter::Answering;
use super::handle::Orb;
use super::start::{OrbBuilder, started};
use crate::adapter::DispatchError;
use crate::config::ListenEndpoint;
use crate::operation::Operation;
use crate::server::{Dispatched, ServerCall};
use punctual_cdr::{Marshal, Unmarshal};
use punctual_exec::LockProtocol;
use std::sync::Arc;
use std::thread;

fn answer_with_twice(call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
    let argument = i32::unmarshal(call.arguments()).unwrap();
    call.reply(|out| (2 * argument).marshal(out))
}

fn orb(configure: impl FnOnce(OrbBuilder) -> OrbBuilder) -> Orb {
    started(configure(Orb::builder()), LockProtocol::InheritPriority).unwrap()
}

#[test]
fn threads_that_share_a_connection_call_by_locks_that_inherit_priorities() {
    const TWICE: Operation = Operation::two_way("twice");
    const THREADS: i32 = 4;
    const EACH: i32 = 200;
    // A reserve thread would refuse calls while a thread of the pool is late.
    for concurrency in [
        "thread_per_connection",
        "reactive",
        "leader_followers&reserve=false",
    ] {
        let server = orb(|builder| {
            let at = format!("iiop://127.0.0.1:0/concurrency={concurrency}");
            builder.listen(ListenEndpoint::parse("listen", &at).unwrap())
        });
        server.adapter_or_set(|| Arc::new(Answering(answer_with_twice)));
        let reference = server.make_reference("", b"key").unwrap();
        let text = server.object_to_string(&reference).unwrap();
        let client = orb(|builder| builder);
        let object = client.string_to_object(&text).unwrap();
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let object = &object;
                scope.spawn(move || {
                    for number in thread * EACH..(thread + 1) * EACH {
                        let twice: i32 = object
                            .invoke(&TWICE, |out| number.marshal(out), i32::unmarshal)
                            .unwrap();
                        assert_eq!(twice, 2 * number);
                    }
                });
            }
        });
        client.shutdown(true).unwrap();
        server.shutdown(true).unwrap();
    }
}
