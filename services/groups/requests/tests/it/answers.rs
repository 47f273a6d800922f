//! Requests that clients repeat: they run once, whichever member dies.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use punctual::fault_tolerance::FT_REQUEST;
use punctual::interceptor::RequestContext;
use punctual::stub::{ByteOrder, Coding, Encoder};
use punctual::{CompletionStatus, ObjectRef, Orb, SystemExceptionKind};

use crate::idl::Register;
use crate::members::{Member, logged};
use crate::process::Process;
use crate::support::{Served, add_at_last, register, tolerant, tolerant_register, until};

/// FT_REQUEST of all requests of a client that knows nothing of groups.
#[derive(Debug)]
struct Same(Vec<u8>);

impl RequestContext for Same {
    fn id(&self) -> u32 {
        FT_REQUEST
    }

    fn length(&self) -> usize {
        self.0.len()
    }

    fn fill(&self, data: &mut [u8]) {
        data.copy_from_slice(&self.0);
    }
}

/// Returns an ORB all of whose requests are one and the same to a server: each is a repeat of the first.
fn repeating(retention: i32) -> Orb {
    let soon = SystemTime::now() + Duration::from_secs(200);
    let expires = soon.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let since_1582 = 0x01b2_1dd2_1381_4000 + u64::try_from(expires.as_nanos() / 100).unwrap();
    let context = Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), |out| {
        out.put_string("client")?;
        out.put_i32(retention);
        out.put_u64(since_1582);
        Ok(())
    });
    let context = Arc::new(Same(context.unwrap()));
    Orb::builder().request_context(context).build().unwrap()
}

fn seen_by(orb: &Orb, served: &Served, group: &ObjectRef) -> Register {
    let text = served.client.object_to_string(&served.reference(group));
    register(&orb.string_to_object(&text.unwrap()).unwrap())
}

#[test]
fn a_request_that_was_logged_and_whose_member_ends_while_it_runs_is_run_once_by_the_next() {
    // With a checkpoint before each request, and without.
    for checkpoint_after in [0, 100] {
        let served = Served::new();
        let (group, id) = served.group("warm-passive", "");
        let mut first = Process::start(&served, &group, "a", (3, checkpoint_after));
        until(|| served.primary(id).as_deref() == Some("a"));
        let second = Member::join(&served, &group, "b");
        let orb = tolerant();
        let client = tolerant_register(&orb, &served.reference(&group));
        assert_eq!((client.add().unwrap(), client.add().unwrap()), (1, 2));
        // `a` ends in the midst of it, and the call is repeated at `b`.
        assert_eq!(client.add().unwrap(), 3);
        until(|| first.has_ended());
        assert_eq!(client.whoami().unwrap(), "b");
        assert_eq!(client.add().unwrap(), 4);
        assert_eq!(second.counter.value_now(), 4);
        orb.shutdown(true).unwrap();
    }
}

#[test]
fn a_repeat_is_answered_by_the_next_primary_from_the_log_and_from_a_checkpoint() {
    for checkpoint_after in [1, 100] {
        let served = Served::new();
        let (group, id) = served.group("cold-passive", "");
        let first = Member::with(&served, &group, "a", |options| {
            options.checkpoint_after = checkpoint_after;
        });
        until(|| served.primary(id).as_deref() == Some("a"));
        let second = Member::join(&served, &group, "b");
        let orb = repeating(7);
        assert_eq!(seen_by(&orb, &served, &group).add().unwrap(), 1);
        let other = register(&served.reference(&group));
        for sum in 2..=5 {
            assert_eq!(other.add().unwrap(), sum);
        }
        first.leave();
        until(|| served.primary(id).as_deref() == Some("b"));
        let tries = second.counter.tries.load(Ordering::SeqCst);
        let before = logged(&served, id);
        assert_eq!(seen_by(&orb, &served, &group).add().unwrap(), 1);
        assert_eq!(second.counter.tries.load(Ordering::SeqCst), tries);
        assert_eq!(logged(&served, id), before, "no repeat is logged");
        // Another request of the same client is none.
        let another = repeating(8);
        assert_eq!(seen_by(&another, &served, &group).add().unwrap(), 6);
        another.shutdown(true).unwrap();
        orb.shutdown(true).unwrap();
    }
}

#[test]
fn one_client_does_not_use_up_the_room_for_replies_of_all_and_what_is_refused_is_not_logged() {
    let served = Served::new();
    let (group, id) = served.group("cold-passive", "");
    let member = Member::with(&served, &group, "a", |options| {
        options.most_replies_of_client = 3;
    });
    until(|| served.primary(id).as_deref() == Some("a"));
    let (orb, other) = (tolerant(), tolerant());
    let client = tolerant_register(&orb, &served.reference(&group));
    for sum in 1..=3 {
        assert_eq!(client.add().unwrap(), sum);
    }
    let refused = client.add().unwrap_err();
    assert_eq!(refused.kind(), SystemExceptionKind::NoResources);
    assert_eq!(refused.completed(), CompletionStatus::No);
    assert_eq!(logged(&served, id), 2);
    assert_eq!(member.counter.tries.load(Ordering::SeqCst), 3);
    let other_client = tolerant_register(&other, &served.reference(&group));
    assert_eq!(add_at_last(&other_client), 4);
    other.shutdown(true).unwrap();
    orb.shutdown(true).unwrap();
}
