//! Clients that do everything at once, or in the middle of something else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use punctual::any::Value;
use punctual::stub::{CdrError, Encoder, Marshal, Operation};
use punctual::{
    Any, CompletionStatus, Interface, NotNil, Orb, SystemException, SystemExceptionKind as Kind,
    TypeCode,
};
use punctual_notification::cos_notification::{
    self as names, EventType, Property, StructuredEvent,
};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannel, InterFilterGroupOperator as Operator, SequenceProxyPushConsumer,
    SequenceProxyPushSupplier, StructuredProxyPushSupplier,
};
use punctual_notification::cos_notify_comm as comm;

use crate::clients::Peer;
use crate::filters::filter;
use crate::persistent::persistent_events;
use crate::restarts::stored;
use crate::support::{
    Program, Served, consumers, event, event_type, exists, narrowed, number, property,
    push_supplier, until,
};

/// Consumer that disconnects itself by its first event.
struct Leaving {
    proxy: StructuredProxyPushSupplier,
    received: Arc<AtomicUsize>,
}

impl comm::NotifyPublishServant for Leaving {
    fn offer_change(
        &self,
        _: &[EventType],
        _: &[EventType],
    ) -> Result<(), comm::NotifyPublishOfferChangeError> {
        Ok(())
    }
}

impl comm::StructuredPushConsumerServant for Leaving {
    fn push_structured_event(
        &self,
        _: &StructuredEvent,
    ) -> Result<(), comm::StructuredPushConsumerPushStructuredEventError> {
        self.received.fetch_add(1, Ordering::SeqCst);
        Ok(self.proxy.disconnect_structured_push_supplier()?)
    }

    fn disconnect_structured_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

#[test]
fn a_consumer_may_disconnect_itself_while_it_is_pushed_to() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let received = Arc::new(AtomicUsize::new(0));
    let proxy = program.unconnected(&channel);
    let leaving = program.object(Leaving {
        proxy: proxy.clone(),
        received: received.clone(),
    });
    proxy
        .connect_structured_push_consumer(Some(&leaving))
        .unwrap();
    let (_, other) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    for number in 0..3 {
        pushes.push_structured_event(&event(number)).unwrap();
    }
    assert_eq!(other.wait_for(3), [0, 1, 2]);
    until(|| !exists(&proxy));
    pushes.push_structured_event(&event(3)).unwrap();
    assert_eq!(other.wait_for(4), [0, 1, 2, 3]);
    assert_eq!(received.load(Ordering::SeqCst), 1);
}

/// Uses a channel in all ways until it is destroyed.
fn use_up<'s>(program: &'s Program, channel: EventChannel, scope: &'s std::thread::Scope<'s, '_>) {
    let (proxy, _) = program.sink(&channel);
    let (pushes, pulls) = (program.pushes_to(&channel), program.pulls_from(&channel));
    scope.spawn(move || while pushes.push_structured_event(&event(1)).is_ok() {});
    scope.spawn(move || while pulls.pull_structured_event().is_ok() {});
    scope.spawn(move || {
        let (one, all) = ([event_type("A", "1")], [event_type("*", "*")]);
        while proxy.subscription_change(&one, &[]).is_ok() {
            let _ = proxy.subscription_change(&all, &one);
        }
    });
    scope.spawn(move || {
        while let Ok((admin, _)) = channel.new_for_consumers(Operator::OrOp) {
            let _ = admin.not_nil().unwrap().destroy();
        }
    });
}

#[test]
fn channels_are_destroyed_at_once_while_all_their_clients_use_them() {
    let (served, program) = (Served::new(), Program::new());
    for _ in 0..10 {
        let channels = [served.channel(&[], &[]), served.channel(&[], &[])];
        let channels = channels.map(|channel| program.see(&channel));
        std::thread::scope(|scope| {
            for channel in &channels {
                use_up(&program, channel.clone(), scope);
            }
            for channel in &channels {
                scope.spawn(|| channel.destroy().unwrap());
            }
        });
    }
    assert_eq!(served.service.size(), (0, 0, 0));
}

/// Pushes two events: one as it is, and one whose bytes `write` writes.
fn push_two(
    proxy: &SequenceProxyPushConsumer,
    first: &StructuredEvent,
    write: impl Fn(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Result<(), SystemException> {
    const PUSH: Operation = Operation::two_way("push_structured_events");
    proxy.as_object().call(
        &PUSH,
        |_: &dyn comm::SequencePushConsumerServant| panic!("the proxy is at another ORB"),
        |out| {
            out.put_u32(2);
            first.marshal(out)?;
            write(out)
        },
        |_| Ok(()),
    )
}

#[test]
fn a_batch_with_an_event_that_cannot_be_read_is_refused_as_a_whole() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let (_, sink) = program.sink(&channel);
    let pushes = program.pushes_sequences_to(&channel);
    let beyond_the_end = |out: &mut Encoder<'_>| {
        out.put_u32(1_000);
        Ok(())
    };
    let refused = push_two(&pushes, &event(1), beyond_the_end).unwrap_err();
    assert_eq!(refused.kind(), Kind::Marshal, "{refused}");
    let of_unknown_type = |out: &mut Encoder<'_>| {
        out.put_string("Telecom")?;
        out.put_string("Alarm")?;
        out.put_string("")?;
        out.put_u32(0);
        out.put_u32(1);
        out.put_string("name")?;
        out.put_u32(99);
        (0..100).for_each(|_| out.put_u32(0));
        Ok(())
    };
    let refused = push_two(&pushes, &event(1), of_unknown_type).unwrap_err();
    assert_eq!(refused.kind(), Kind::BadTypecode, "{refused}");
    pushes.push_structured_events(&[event(2)]).unwrap();
    assert_eq!(sink.wait_for(1), [2]);
}

#[test]
fn a_value_that_is_none_of_its_type_is_read_by_nobody_who_does_not_ask_for_it() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let filtered = |text: &str| {
        let (proxy, sink) = program.sink(&channel);
        let filter = filter(&program.see(&channel), &[text]);
        proxy.add_filter(Some(&filter)).unwrap();
        sink
    };
    let (by_text, by_number) = (filtered("$text != 'a'"), filtered("$number == 7"));
    let pushes = program.pushes_sequences_to(&channel);
    let with_bad_text = |out: &mut Encoder<'_>| {
        let text = event(7);
        text.header.marshal(out)?;
        out.put_u32(2);
        out.put_string("text")?;
        // A string that is no UTF-8, in an Any.
        out.put_u32(18);
        out.put_u32(0);
        out.put_u32(3);
        out.put_bytes(&[0xff, 0xfe, 0]);
        out.put_string("number")?;
        Any::new(&7)?.marshal(out)?;
        text.remainder_of_body.marshal(out)
    };
    push_two(&pushes, &event(1), with_bad_text).unwrap();
    assert_eq!(by_number.wait_for(1), [7]);
    let mut good = event(2);
    good.filterable_data.push(Property {
        name: "text".to_owned(),
        value: Any::new("b").unwrap(),
    });
    pushes.push_structured_events(&[good]).unwrap();
    assert_eq!(by_text.wait_for(1), [2]);
}

/// Returns a reference of a program to the same object of a server as if that had no wide text: a `corbaloc:` names no code
/// sets.
fn without_code_sets<I: Interface>(program: &Program, server: &Orb, object: &I) -> I {
    let endpoint = server.endpoints().first().unwrap().to_string();
    let (_, place) = endpoint.split_once("://").unwrap();
    let key = object.as_object().object_key().unwrap();
    let key: String = key.iter().map(|byte| format!("%{byte:02x}")).collect();
    let text = format!("corbaloc:iiop:1.2@{place}/{key}");
    I::from_object(program.orb.string_to_object(&text).unwrap())
}

/// Returns an event with wide text.
fn wide(number: i32) -> StructuredEvent {
    let mut event = event(number);
    let text = Any::of_value(&TypeCode::wstring(0), &Value::String("text".to_owned()));
    event.filterable_data.push(Property {
        name: "text".to_owned(),
        value: text.unwrap(),
    });
    event
}

#[test]
fn a_consumer_without_wide_text_misses_events_with_it_and_stays_connected() {
    let (served, program) = (Served::new(), Program::new());
    let channel = served.channel(&[], &[]);
    let (proxy, peer) = (program.unconnected(&channel), Peer::default());
    let narrow = without_code_sets(&program, &program.orb, &program.object(peer.clone()));
    proxy
        .connect_structured_push_consumer(Some(&narrow))
        .unwrap();
    let (_, other) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    for event in [event(1), wide(2), event(3)] {
        pushes.push_structured_event(&event).unwrap();
    }
    assert_eq!(other.wait_for(3), [1, 2, 3]);
    assert_eq!(peer.wait_for(2), [1, 3]);
    assert!(exists(&proxy));
    assert_eq!(served.metric("undelivered_total"), 1);
}

#[test]
fn an_event_that_cannot_be_delivered_takes_no_others_of_its_sequence_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let stored = stored(&folder.path().join("notification.redb"));
    for (served, quality) in [
        (Served::new(), Vec::new()),
        (
            Served::of(stored, ("127.0.0.1", 0)),
            persistent_events().to_vec(),
        ),
    ] {
        let program = Program::new();
        let channel = program.see(&served.channel(&quality, &[]));
        let admin = push_supplier(&consumers(&channel), ClientType::SequenceEvent);
        let (proxy, peer) = (
            narrowed::<SequenceProxyPushSupplier>(&admin),
            Peer::default(),
        );
        proxy
            .set_qos(&[property(names::MAXIMUM_BATCH_SIZE, 100)])
            .unwrap();
        let narrow = without_code_sets(&program, &program.orb, &program.object(peer.clone()));
        proxy.connect_sequence_push_consumer(Some(&narrow)).unwrap();
        proxy.suspend_connection().unwrap();
        let events = (0..20).map(|number| match number {
            3 | 4 | 17 => wide(number),
            _ => event(number),
        });
        let events: Vec<StructuredEvent> = events.collect();
        let pushes = program.pushes_sequences_to(&channel);
        pushes.push_structured_events(&events).unwrap();
        until(|| served.metric("queued") == 20);
        proxy.resume_connection().unwrap();
        let others: Vec<i32> = (0..20).filter(|one| ![3, 4, 17].contains(one)).collect();
        assert_eq!(peer.wait_for(17), others);
        until(|| served.metric("queued") == 0);
        until(|| served.metric("undelivered_total") == 3);
        // Sequences are as long as before, after some that were delivered.
        let before = peer.batches().len();
        until(|| {
            proxy.suspend_connection().unwrap();
            pushes.push_structured_events(&vec![event(30); 8]).unwrap();
            until(|| served.metric("queued") == 8);
            proxy.resume_connection().unwrap();
            until(|| served.metric("queued") == 0);
            peer.batches()[before..].contains(&8)
        });
    }
}

#[test]
fn an_event_that_cannot_be_pulled_takes_no_others_of_its_sequence_with_it() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let proxy = program.pulls_sequences_from(&channel);
    let pushes = program.pushes_sequences_to(&channel);
    pushes
        .push_structured_events(&[event(0), event(1), wide(2), event(3), event(4)])
        .unwrap();
    // A program that has no wide text.
    let other = Program::new();
    let proxy = without_code_sets(&other, &served.orb, &proxy);
    let (mut pulled, mut refused) = (Vec::new(), 0);
    while pulled.last() != Some(&4) {
        match proxy.pull_structured_events(10) {
            Ok(events) => pulled.extend(events.iter().map(number)),
            Err(_) => refused += 1,
        }
    }
    assert_eq!(pulled, [0, 1, 3, 4]);
    assert!(refused > 0);
    until(|| served.metric("pulled_total") == 4);
    assert_eq!(served.metric("undelivered_total"), 1);
}

/// Consumer that answers no sequence of more than three events, as an ORB does that closes the connection then.
struct Short(Peer);

impl comm::NotifyPublishServant for Short {
    fn offer_change(
        &self,
        _: &[EventType],
        _: &[EventType],
    ) -> Result<(), comm::NotifyPublishOfferChangeError> {
        Ok(())
    }
}

impl comm::SequencePushConsumerServant for Short {
    fn push_structured_events(
        &self,
        notifications: &[StructuredEvent],
    ) -> Result<(), comm::SequencePushConsumerPushStructuredEventsError> {
        match notifications.len() {
            ..=3 => self.0.push_structured_events(notifications),
            _ => Err(SystemException::new(Kind::CommFailure, 0, CompletionStatus::Maybe).into()),
        }
    }

    fn disconnect_sequence_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

#[test]
fn a_consumer_that_takes_no_long_sequences_gets_persistent_events_in_short_ones() {
    let folder = tempfile::tempdir().unwrap();
    let stored = stored(&folder.path().join("notification.redb"));
    let (served, program) = (Served::of(stored, ("127.0.0.1", 0)), Program::new());
    let channel = program.see(&served.channel(&persistent_events(), &[]));
    let proxy = push_supplier(&consumers(&channel), ClientType::SequenceEvent);
    let (proxy, peer) = (
        narrowed::<SequenceProxyPushSupplier>(&proxy),
        Peer::default(),
    );
    proxy
        .set_qos(&[property(names::MAXIMUM_BATCH_SIZE, 100)])
        .unwrap();
    let short = program.object(Short(peer.clone()));
    proxy.connect_sequence_push_consumer(Some(&short)).unwrap();
    proxy.suspend_connection().unwrap();
    let events: Vec<StructuredEvent> = (0..20).map(event).collect();
    let pushes = program.pushes_sequences_to(&channel);
    pushes.push_structured_events(&events).unwrap();
    until(|| served.metric("queued") == 20);
    proxy.resume_connection().unwrap();
    assert_eq!(peer.wait_for(20), (0..20).collect::<Vec<_>>());
}
