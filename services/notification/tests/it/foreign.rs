//! Filters that are objects of other programs: what they let through, at each place.

use punctual::{Any, NotNil};
use punctual_notification::Limits;
use punctual_notification::cos_notification::{FIFO_ORDER, ORDER_POLICY, PRIORITY_ORDER};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, EventChannel, InterFilterGroupOperator as Operator, ProxyPushConsumer,
    StructuredProxyPushConsumer, StructuredProxyPushSupplier,
};
use punctual_notification::cos_notify_filter::Filter;

use crate::clients::{Peer, Received};
use crate::filters::filter;
use crate::judges::{Judge, Valuer};
use crate::support::{
    Program, Served, consumers, event, limits, narrowed, number, property, push_consumer,
    push_supplier, suppliers, until,
};

/// Limits of a service that asks foreign filters.
pub(crate) fn asking() -> Limits {
    Limits {
        foreign_filters: true,
        filter_timeout: std::time::Duration::from_secs(60),
        ..limits()
    }
}

pub(crate) fn push_all(pushes: &StructuredProxyPushConsumer, numbers: std::ops::Range<i32>) {
    for number in numbers {
        pushes.push_structured_event(&event(number)).unwrap();
    }
}

/// Service, a program, a channel in the order of arrival, and a filter of the program.
pub(crate) fn with(limits: Limits, judge: &Judge) -> (Served, Program, EventChannel, Filter) {
    let (served, program) = (Served::with(limits), Program::new());
    let quality = [property(ORDER_POLICY, FIFO_ORDER)];
    let channel = program.see(&served.channel(&quality, &[]));
    let filter = program.object(judge.clone());
    (served, program, channel, filter)
}

fn sink_of(
    program: &Program,
    channel: &EventChannel,
    operator: Operator,
    (of_admin, of_proxy): (&Filter, &Filter),
) -> (StructuredProxyPushSupplier, Peer) {
    let (admin, _) = channel.new_for_consumers(operator).unwrap();
    let admin = admin.not_nil().unwrap();
    admin.add_filter(Some(of_admin)).unwrap();
    let proxy = push_supplier(&admin, ClientType::StructuredEvent);
    let proxy: StructuredProxyPushSupplier = narrowed(&proxy);
    proxy.add_filter(Some(of_proxy)).unwrap();
    let peer = program.connect(&proxy);
    (proxy, peer)
}

#[test]
fn foreign_filters_of_consumers_count_with_or_beside_others() {
    let (low, even) = (Judge::of(&[0, 1, 2]), Judge::of(&[0, 2, 4]));
    let (_served, program, channel, low_filter) = with(asking(), &low);
    let even_filter: Filter = program.object(even.clone());
    let here = filter(&channel, &["$number == 2", "$number == 5"]);
    let sink = |operator, filters| sink_of(&program, &channel, operator, filters).1;
    let both = sink(Operator::AndOp, (&low_filter, &even_filter));
    let either = sink(Operator::OrOp, (&low_filter, &even_filter));
    let with_own = sink(Operator::AndOp, (&low_filter, &here));
    let beside_own = sink(Operator::OrOp, (&here, &even_filter));
    let pushes = program.pushes_to(&channel);
    push_all(&pushes, 0..7);
    assert_eq!(either.wait_for(4), [0, 1, 2, 4]);
    assert_eq!(beside_own.wait_for(4), [0, 2, 4, 5]);
    assert_eq!(both.wait_for(2), [0, 2]);
    assert_eq!(with_own.wait_for(1), [2]);
}

#[test]
fn foreign_filters_of_suppliers_count_with_or_beside_others() {
    for (operator, passing) in [
        (Operator::AndOp, &[0, 2][..]),
        (Operator::OrOp, &[0, 1, 2, 4][..]),
    ] {
        let (low, even) = (Judge::of(&[0, 1, 2]), Judge::of(&[0, 2, 4]));
        let (served, program, channel, low_filter) = with(asking(), &low);
        let (_, sink) = program.sink(&channel);
        let admin = channel.new_for_suppliers(operator).unwrap().0;
        let admin = admin.not_nil().unwrap();
        admin.add_filter(Some(&low_filter)).unwrap();
        let proxy = push_consumer(&admin, ClientType::StructuredEvent);
        let proxy: StructuredProxyPushConsumer = narrowed(&proxy);
        proxy.connect_structured_push_supplier(None).unwrap();
        let id = proxy.add_filter(Some(&program.object(even))).unwrap();
        push_all(&proxy, 0..6);
        assert_eq!(sink.wait_for(passing.len()), passing);
        until(|| served.metric("filtered_total") == 6 - passing.len() as u64);
        assert_eq!(served.metric("received_total"), 6);
        // In the end the administrator's filter counts alone.
        proxy.remove_filter(id).unwrap();
        push_all(&proxy, 1..5);
        assert_eq!(sink.wait_for(passing.len() + 2)[passing.len()..], [1, 2]);
    }
}

#[test]
fn a_foreign_filter_is_attached_and_removed_as_others_are() {
    let judge = Judge::of(&[1]);
    let (_served, program, channel, foreign) = with(asking(), &judge);
    let (proxy, sink) = program.sink(&channel);
    let here = filter(&channel, &["$number == 2"]);
    let id = proxy.add_filter(Some(&foreign)).unwrap();
    let other = proxy.add_filter(Some(&here)).unwrap();
    assert_eq!(proxy.get_all_filters().unwrap(), [id, other]);
    assert_eq!(proxy.get_filter(id).unwrap().not_nil().unwrap(), foreign);
    let pushes = program.pushes_to(&channel);
    push_all(&pushes, 0..4);
    assert_eq!(sink.wait_for(2), [1, 2]);
    // Where a filter of the service lets an event through, no other is asked.
    judge.wait_for(3);
    assert_eq!(judge.asked(), [0, 1, 3]);
    // A change of its constraints counts from the next event on.
    judge.change(|number| number == 5);
    push_all(&pushes, 4..7);
    assert_eq!(sink.wait_for(3), [1, 2, 5]);
    proxy.remove_all_filters().unwrap();
    push_all(&pushes, 8..10);
    assert_eq!(sink.wait_for(5)[3..], [8, 9]);
}

#[test]
fn events_of_each_form_are_given_to_a_foreign_filter_one_by_one_and_stay_in_order() {
    let judge = Judge::new(|number| number % 3 != 0);
    let (_served, program, channel, foreign) = with(asking(), &judge);
    let (proxy, sink) = program.sequence_sink(&channel);
    proxy.add_filter(Some(&foreign)).unwrap();
    let sequences = program.pushes_sequences_to(&channel);
    let events: Vec<_> = (0..60).map(event).collect();
    for batch in events.chunks(20) {
        sequences.push_structured_events(batch).unwrap();
    }
    let passing: Vec<i32> = (0..60).filter(|number| number % 3 != 0).collect();
    assert_eq!(sink.wait_for(40), passing);
    assert_eq!(judge.asked(), (0..60).collect::<Vec<_>>());
    let any = push_consumer(&suppliers(&channel), ClientType::AnyEvent);
    let any: ProxyPushConsumer = narrowed(&any);
    any.connect_any_push_supplier(None).unwrap();
    for number in [3, 4] {
        any.push(&Any::new(&number).unwrap()).unwrap();
    }
    until(|| sink.received().len() == 41);
    assert_eq!(judge.asked_by_any(), [3, 4]);
}

#[test]
fn the_proxies_of_an_administrator_share_its_foreign_filters_verdict() {
    let judge = Judge::of(&[1, 3]);
    let (_served, program, channel, foreign) = with(asking(), &judge);
    consumers(&channel).add_filter(Some(&foreign)).unwrap();
    let sinks: Vec<Peer> = (0..5).map(|_| program.sink(&channel).1).collect();
    let pulls = program.pulls_from(&channel);
    push_all(&program.pushes_to(&channel), 0..4);
    for sink in &sinks {
        assert_eq!(sink.wait_for(2), [1, 3]);
    }
    let pulled = [(); 2].map(|()| number(&pulls.pull_structured_event().unwrap()));
    assert_eq!(pulled, [1, 3]);
    assert_eq!(judge.asked(), [0, 1, 2, 3]);
}

#[test]
fn a_supplier_is_pulled_from_again_when_foreign_filters_have_judged() {
    let judge = Judge::of(&[1, 2]);
    let (_served, program, channel, foreign) = with(asking(), &judge);
    let (_, sink) = program.sink(&channel);
    suppliers(&channel).add_filter(Some(&foreign)).unwrap();
    judge.block(true);
    let (_, source) = program.is_pulled_by(&channel);
    for number in 0..3 {
        source.supply(Received::Structured(Box::new(event(number))));
    }
    judge.wait_for(1);
    judge.block(false);
    assert_eq!(sink.wait_for(2), [1, 2]);
    assert_eq!(judge.asked(), [0, 1, 2]);
}

#[test]
fn priorities_and_lives_are_as_foreign_mapping_filters_say() {
    let (served, program) = (Served::with(asking()), Program::new());
    let quality = [property(ORDER_POLICY, PRIORITY_ORDER)];
    let channel = program.see(&served.channel(&quality, &[]));
    let (up, short) = (Judge::of(&[2]), Judge::of(&[1]));
    let any = |value: i16| Any::new(&value).unwrap();
    let priority = program.object(Valuer {
        judge: up.clone(),
        value: any(9),
        default: any(0),
    });
    let life = program.object(Valuer {
        judge: short.clone(),
        value: Any::new(&1_u64).unwrap(),
        default: Any::new(&0_u64).unwrap(),
    });
    let admin = consumers(&channel);
    admin.set_priority_filter(Some(&priority)).unwrap();
    assert_eq!(
        admin.priority_filter().unwrap().not_nil().unwrap(),
        priority
    );
    let pulls = program.pulls_from(&channel);
    pulls.set_lifetime_filter(Some(&life)).unwrap();
    assert_eq!(pulls.lifetime_filter().unwrap().not_nil().unwrap(), life);
    let pushes = program.pushes_to(&channel);
    push_all(&pushes, 0..4);
    // Those before the one that is asked about are in the queue.
    short.wait_for(4);
    assert_eq!(up.asked(), [0, 1, 2, 3]);
    let pulled = || number(&pulls.pull_structured_event().unwrap());
    std::thread::sleep(std::time::Duration::from_millis(1));
    assert_eq!([pulled(), pulled(), pulled()], [2, 0, 3]);
    pulls.set_lifetime_filter(None).unwrap();
    admin.set_priority_filter(None).unwrap();
    push_all(&pushes, 0..3);
    assert_eq!([pulled(), pulled(), pulled()], [0, 1, 2]);
    assert_eq!(served.metric("expired_total"), 1);
}
