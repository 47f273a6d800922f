//! Ends of connections: by each side, once, and in races.

use std::sync::Barrier;

use punctual::{Any, Interface, OperationError, SystemExceptionKind as Kind};
use punctual_cosevent::cos_event_comm::{
    Disconnected, PullConsumer, PullSupplier, PullSupplierPullError, PullSupplierTryPullError,
    PushConsumer, PushConsumerPushError, PushSupplier, PushSupplierServant,
};

use crate::peers::{End, Sink};
use crate::support::{
    Program, Served, event, exists, pull_consumer, pull_supplier, push_consumer, push_supplier,
    until,
};

#[test]
fn a_supplier_that_pushes_disconnects_and_is_told_once() {
    let (served, program) = (Served::new(), Program::new());
    let (proxy, end) = (push_consumer(&served.channel), End::default());
    let supplier: PushSupplier = program.object(end.clone());
    proxy.connect_push_supplier(Some(&supplier)).unwrap();
    proxy.disconnect_push_consumer().unwrap();
    until(|| end.disconnects() == 1);
    let refused = proxy.push(&event(1)).unwrap_err();
    assert_eq!(refused, PushConsumerPushError::Disconnected(Disconnected));
    let again = proxy.disconnect_push_consumer().unwrap_err();
    assert_eq!(again.kind(), Kind::ObjectNotExist);
    assert!(!exists(&proxy));
    let connect = proxy.connect_push_supplier(Some(&supplier)).unwrap_err();
    assert_eq!(connect.system().unwrap().kind(), Kind::ObjectNotExist);
    assert_eq!(end.disconnects(), 1);
}

#[test]
fn a_consumer_that_pulls_disconnects_and_is_told_once() {
    let (served, program) = (Served::new(), Program::new());
    let (proxy, end) = (pull_supplier(&served.channel), End::default());
    let consumer: PullConsumer = program.object(end.clone());
    proxy.connect_pull_consumer(Some(&consumer)).unwrap();
    let (say, heard) = std::sync::mpsc::channel();
    let waiting = PullSupplier::from_object(proxy.as_object().clone());
    waiting.sendc_pull(move |pulled: Result<Any, PullSupplierPullError>| {
        say.send(pulled).unwrap();
    });
    assert!(!proxy.try_pull().unwrap().1);
    proxy.disconnect_pull_supplier().unwrap();
    until(|| end.disconnects() == 1);
    let gone = Err(PullSupplierPullError::Disconnected(Disconnected));
    assert_eq!(heard.recv().unwrap().map(drop), gone);
    assert_eq!(proxy.pull().map(drop), gone);
    let gone = PullSupplierTryPullError::Disconnected(Disconnected);
    assert_eq!(proxy.try_pull().unwrap_err(), gone);
    let again = proxy.disconnect_pull_supplier().unwrap_err();
    assert_eq!(again.kind(), Kind::ObjectNotExist);
}

#[test]
fn a_consumer_that_is_pushed_to_disconnects_and_is_told_once() {
    let (served, program) = (Served::new(), Program::new());
    let (proxy, sink) = program.sink(&served.channel);
    proxy.disconnect_push_supplier().unwrap();
    until(|| sink.disconnects() == 1);
    program.pushes_to(&served.channel).push(&event(1)).unwrap();
    let again = proxy.disconnect_push_supplier().unwrap_err();
    assert_eq!(again.kind(), Kind::ObjectNotExist);
    assert_eq!((sink.numbers(), sink.disconnects()), (vec![], 1));
    assert_eq!(served.service.size(), (1, 1));
}

#[test]
fn a_supplier_that_is_pulled_from_disconnects_and_is_told_once() {
    let (served, program) = (Served::new(), Program::new());
    let (proxy, source) = program.source(&served.channel);
    proxy.disconnect_pull_consumer().unwrap();
    until(|| source.disconnects() == 1);
    let again = proxy.disconnect_pull_consumer().unwrap_err();
    assert_eq!(again.kind(), Kind::ObjectNotExist);
    assert_eq!(served.service.size(), (1, 0));
}

#[test]
fn before_they_are_connected_proxies_take_and_give_nothing() {
    let served = Served::new();
    let refused = push_consumer(&served.channel).push(&event(1)).unwrap_err();
    assert_eq!(refused, PushConsumerPushError::Disconnected(Disconnected));
    let proxy = pull_supplier(&served.channel);
    let gone = PullSupplierTryPullError::Disconnected(Disconnected);
    assert_eq!(proxy.try_pull().unwrap_err(), gone);
    assert!(proxy.pull().is_err());
    // They can be given up without ever being connected.
    proxy.disconnect_pull_supplier().unwrap();
    push_supplier(&served.channel)
        .disconnect_push_supplier()
        .unwrap();
    pull_consumer(&served.channel)
        .disconnect_pull_consumer()
        .unwrap();
    assert_eq!(served.service.size(), (1, 1));
}

#[test]
fn a_peer_that_raises_disconnected_is_disconnected_and_not_told() {
    let (served, program) = (Served::new(), Program::new());
    let (_, sink) = program.sink(&served.channel);
    sink.refuse(Disconnected.into());
    let (_, source) = program.source(&served.channel);
    source.end();
    let pushes = program.pushes_to(&served.channel);
    pushes.push(&event(1)).unwrap();
    until(|| served.service.size() == (1, 1));
    assert_eq!((sink.disconnects(), source.disconnects()), (0, 0));
}

/// Supplier that answers the end of its connection by ending it in turn, as some do.
struct Echo(
    punctual_cosevent::cos_event_channel_admin::ProxyPushConsumer,
    End,
);

impl PushSupplierServant for Echo {
    fn disconnect_push_supplier(&self) -> Result<(), punctual::SystemException> {
        self.1.disconnect_push_supplier()?;
        let _ = self.0.disconnect_push_consumer();
        Ok(())
    }
}

#[test]
fn a_peer_that_disconnects_in_turn_is_not_told_again() {
    let (served, program) = (Served::new(), Program::new());
    let (proxy, end) = (program.see(&push_consumer(&served.channel)), End::default());
    let supplier: PushSupplier = program.object(Echo(proxy.clone(), end.clone()));
    proxy.connect_push_supplier(Some(&supplier)).unwrap();
    served.channel.destroy().unwrap();
    until(|| end.disconnects() == 1);
    assert!(!exists(&proxy));
    drop(served);
    assert_eq!(end.disconnects(), 1);
}

#[test]
fn of_many_that_disconnect_a_proxy_at_once_one_does() {
    let (served, program) = (Served::new(), Program::new());
    for _ in 0..20 {
        let (proxy, sink) = program.sink(&served.channel);
        let start = Barrier::new(4);
        let ended: usize = std::thread::scope(|scope| {
            let ends: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        usize::from(proxy.disconnect_push_supplier().is_ok())
                    })
                })
                .collect();
            ends.into_iter().map(|end| end.join().unwrap()).sum()
        });
        assert_eq!(ended, 1);
        until(|| sink.disconnects() == 1);
    }
    assert_eq!(served.service.size(), (1, 0));
}

#[test]
fn events_and_ends_at_the_same_time_leave_nothing_behind() {
    let (served, program) = (Served::new(), Program::new());
    let pushes = program.pushes_to(&served.channel);
    std::thread::scope(|scope| {
        let pushing = scope.spawn(|| {
            for number in 0..200 {
                pushes.push(&event(number)).unwrap();
            }
        });
        for _ in 0..20 {
            let (proxy, _) = program.sink(&served.channel);
            let pulls = program.pulls_from(&served.channel);
            let _ = pulls.try_pull().unwrap();
            proxy.disconnect_push_supplier().unwrap();
            pulls.disconnect_pull_supplier().unwrap();
        }
        pushing.join().unwrap();
    });
    assert_eq!(served.service.size(), (1, 1));
    let sink = Sink::default();
    let consumer: PushConsumer = program.object(sink.clone());
    let proxy = push_supplier(&served.channel);
    proxy.connect_push_consumer(Some(&consumer)).unwrap();
    pushes.push(&event(1)).unwrap();
    assert_eq!(sink.wait_for(1), [1]);
}
