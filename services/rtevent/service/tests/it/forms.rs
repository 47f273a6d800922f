//! Fields of events on the wire, which builds of TAO leave out.

use crate::support::{Served, by_threads, event, header, wants};
use parking_lot::Mutex;
use punctual::Servant;
use punctual::stub::{Answered, Decoder, Encoder, Marshal, Operation, ServerCall};
use punctual::{Implements, Interface, ObjectRef, SystemException, SystemExceptionKind as Kind};
use punctual_rtevent_service::rtec_event_channel_admin::{ProxyPushConsumer, ProxyPushSupplier};
use punctual_rtevent_service::rtec_event_comm::{PushConsumer, PushConsumerServant};
use punctual_rtevent_service::{Form, ServiceOptions};
use std::any::Any;
use std::sync::Arc;

/// Consumer that keeps the octets of the first push.
#[derive(Clone, Default)]
struct Raw(Arc<Mutex<Option<Vec<u8>>>>);

impl Implements<Raw> for PushConsumer {
    fn servant(servant: Raw) -> Arc<dyn Servant> {
        Arc::new(servant)
    }
}

impl Servant for Raw {
    fn repository_ids(&self) -> &'static [&'static str] {
        PushConsumer::REPOSITORY_IDS
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        self
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Answered {
        let arguments: &mut Decoder<'_> = call.arguments();
        arguments.align(8)?;
        let octets = arguments.rest().to_vec();
        self.0.lock().get_or_insert(octets);
        call.reply(|_| Ok(()))
    }
}

fn served(without: &[&str]) -> Served {
    Served::new(ServiceOptions {
        form: Form::without(without).unwrap(),
        ..ServiceOptions::default()
    })
}

/// Writes a set of one event: type 16, source 5, ttl 1, creation time 2, octets `ab`, no value.
fn one_event(without: &[&str], out: &mut Encoder<'_>) {
    let has = |field| !without.contains(&field);
    out.put_u32(1);
    for number in [16, 5, 1] {
        out.put_i32(number);
    }
    out.put_u64(2);
    if has("timestamps") {
        out.put_u64(0);
        out.put_u64(0);
    }
    if has("octets") {
        out.put_i32(0);
        out.put_u32(2);
        out.put_bytes(b"ab");
    }
    if has("any") {
        out.put_u32(0);
    }
}

fn push(
    proxy: &ProxyPushConsumer,
    without: &'static [&'static str],
) -> Result<(), SystemException> {
    const PUSH: Operation = Operation::one_way("push").of::<PushConsumer>();
    ObjectRef::call_one_way(
        proxy.as_object(),
        &PUSH,
        |_: &dyn PushConsumerServant| Ok(()),
        |out| {
            one_event(without, out);
            Ok(())
        },
    )
}

/// Subscribes to everything with an event of this form in the filter.
fn subscribe(proxy: &ProxyPushSupplier, consumer: &PushConsumer, without: &'static [&'static str]) {
    const CONNECT: Operation =
        Operation::two_way("connect_push_consumer").of::<ProxyPushSupplier>();
    let connected: Result<(), SystemException> = ObjectRef::call(
        proxy.as_object(),
        &CONNECT,
        |_: &dyn PushConsumerServant| Ok(()),
        |out| {
            consumer.marshal(out)?;
            one_event(without, out);
            out.put_i32(0);
            out.put_bool(false);
            Ok(())
        },
        |_| Ok(()),
    );
    connected.unwrap();
}

#[test]
fn a_form_without_fields_is_read_and_written() {
    const FORMS: [&[&str]; 4] = [
        &[],
        &["timestamps"],
        &["timestamps", "any"],
        &["timestamps", "octets"],
    ];
    for without in FORMS {
        let served = served(without);
        let consumers = [(); 3].map(|()| Raw::default());
        for raw in &consumers {
            let consumer: PushConsumer = served.peers().activate(raw.clone()).unwrap();
            subscribe(&served.proxy_supplier(), &consumer, without);
        }
        push(&served.supplier(), without).unwrap();
        for raw in consumers {
            crate::support::eventually("the push arrives", || raw.0.lock().is_some());
            let octets = raw.0.lock().take().unwrap();
            let native = |number: u32| number.to_ne_bytes();
            let mut expected = [native(1), native(16), native(5), native(1)].concat();
            expected.extend(2_u64.to_ne_bytes());
            if without.is_empty() {
                // The times at which the channel received and sent the event.
                expected.extend(&octets[24..40]);
            }
            if !without.contains(&"octets") {
                expected.extend([native(0), native(2)].concat());
                expected.extend(b"ab");
            }
            if !without.contains(&"any") {
                expected.resize(expected.len().next_multiple_of(4), 0);
                expected.extend(native(0));
            }
            // Octets between values are of no meaning, and zeros here.
            assert_eq!(octets, expected, "{without:?}");
        }
    }
}

/// Returns whether three consumers receive the same octets of a push, with the same time at which it was sent.
fn is_shared(served: &Served) -> bool {
    let consumers = [(); 3].map(|()| {
        let (raw, proxy) = (Raw::default(), served.proxy_supplier());
        let consumer = served.peers().activate(raw.clone()).unwrap();
        subscribe(&proxy, &consumer, &[]);
        (raw, proxy)
    });
    push(&served.supplier(), &[]).unwrap();
    let octets = consumers.map(|(raw, proxy)| {
        crate::support::eventually("the push arrives", || raw.0.lock().is_some());
        proxy.disconnect_push_supplier().unwrap();
        raw.0.lock().take()
    });
    octets[0] == octets[1] && octets[1] == octets[2]
}

#[test]
fn a_push_is_encoded_once_for_its_consumers() {
    for options in [ServiceOptions::default(), by_threads()] {
        let served = Served::new(options);
        // A thread that waits for a processor longer than a millisecond between two consumers encodes the push again.
        assert!((0..100).any(|_| is_shared(&served)));
    }
}

#[test]
fn events_and_filters_of_another_form_are_refused() {
    let served = served(&["timestamps"]);
    let supplier = served.supplier();
    let consumer = served.unconnected();
    let refused = supplier.push(&[event(16, 0, b"octets")]).unwrap_err();
    assert_eq!(refused.kind(), Kind::Marshal);
    let refused = consumer
        .proxy
        .connect_push_consumer(Some(&consumer.reference), &wants(&[header(16, 0)]));
    assert!(refused.is_err());
    // The channel goes on.
    push(&supplier, &["timestamps"]).unwrap();
}

#[test]
fn a_field_that_cannot_be_left_out_is_named() {
    let error = "timestamps, eid".parse::<Form>().unwrap_err();
    assert!(error.to_string().contains("`eid`"), "{error}");
    assert_eq!(
        "timestamps".parse::<Form>().unwrap().to_string(),
        "without timestamps"
    );
    assert_eq!("".parse::<Form>().unwrap(), Form::default());
}
