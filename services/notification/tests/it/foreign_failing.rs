//! Filters of other programs that hang, raise or are gone, and the limits of all.

use std::sync::Arc;
use std::time::Duration;

use punctual::{Any, Interface, Poa, SystemExceptionKind as Kind};
use punctual_notification::Limits;
use punctual_notification::cos_notify_channel_admin::StructuredProxyPushConsumer;
use punctual_notification::cos_notify_filter::{Filter, MappingFilter};

use crate::foreign::{asking, push_all, with};
use crate::judges::{Judge, Valuer};
use crate::support::{Program, Served, consumers, event, kind_of, limits, suppliers, until};

#[test]
fn a_foreign_filter_that_hangs_delays_no_other_consumer_and_no_other_supplier() {
    let judge = Judge::new(|number| number != 3);
    let (served, program, channel, foreign) = with(asking(), &judge);
    // More than threads, each with a filter that hangs.
    let threads = limits().threads;
    let hanging = Program::new();
    let hung: Vec<Judge> = (0..threads + 1).map(|_| judge_that_hangs()).collect();
    let waiting: Vec<_> = hung
        .iter()
        .map(|judge| {
            let (proxy, sink) = program.sink(&channel);
            let filter: Filter = hanging.object(judge.clone());
            proxy.add_filter(Some(&filter)).unwrap();
            sink
        })
        .collect();
    let (proxy, asked) = program.sink(&channel);
    proxy.add_filter(Some(&foreign)).unwrap();
    let (_, unasked) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    push_all(&pushes, 0..6);
    assert_eq!(unasked.wait_for(6), [0, 1, 2, 3, 4, 5]);
    assert_eq!(asked.wait_for(5), [0, 1, 2, 4, 5]);
    // And a supplier whose own filter hangs.
    let slow = program.pushes_to(&channel);
    let filter: Filter = hanging.object(hung[0].clone());
    slow.add_filter(Some(&filter)).unwrap();
    push_all(&slow, 20..22);
    push_all(&pushes, 6..8);
    assert_eq!(unasked.wait_for(8)[6..], [6, 7]);
    assert_eq!(asked.wait_for(7)[5..], [6, 7]);
    assert!(waiting.iter().all(|sink| sink.received().is_empty()));
    for judge in &hung {
        judge.block(false);
    }
    for sink in &waiting {
        assert_eq!(sink.wait_for(8)[..8], [0, 1, 2, 3, 4, 5, 6, 7]);
    }
    assert_eq!(unasked.wait_for(10)[8..], [20, 21]);
    assert_eq!(served.metric("filter_failures_total"), 0);
}

fn judge_that_hangs() -> Judge {
    let judge = Judge::new(|_| true);
    judge.block(true);
    judge
}

#[test]
fn an_exception_of_a_foreign_filter_counts_as_not_matched() {
    let judge = Judge::new(|_| true);
    let (served, program, channel, foreign) = with(asking(), &judge);
    let (proxy, sink) = program.sink(&channel);
    proxy.add_filter(Some(&foreign)).unwrap();
    let pushes = program.pushes_to(&channel);
    judge.raise(Some(Kind::Internal.because("as the test wants it")));
    push_all(&pushes, 0..3);
    until(|| served.metric("filter_failures_total") == 3);
    judge.raise(None);
    push_all(&pushes, 3..5);
    assert_eq!(sink.wait_for(2), [3, 4]);
    assert_eq!(judge.asked(), [0, 1, 2, 3, 4]);
}

#[test]
fn a_foreign_filter_that_is_gone_lets_nothing_through_until_it_is_removed() {
    let judge = Judge::new(|_| true);
    let (served, program, channel, foreign) = with(asking(), &judge);
    let (proxy, sink) = program.sink(&channel);
    let id = proxy.add_filter(Some(&foreign)).unwrap();
    let pushes = program.pushes_to(&channel);
    push_all(&pushes, 0..1);
    assert_eq!(sink.wait_for(1), [0]);
    program.poa.deactivate(&foreign).unwrap();
    push_all(&pushes, 1..4);
    until(|| served.metric("filter_failures_total") == 3);
    assert_eq!(proxy.get_all_filters().unwrap(), [id]);
    proxy.remove_filter(id).unwrap();
    push_all(&pushes, 4..5);
    assert_eq!(sink.wait_for(2), [0, 4]);
}

#[test]
fn a_foreign_filter_that_did_not_answer_in_time_is_asked_again_later() {
    let judge = judge_that_hangs();
    let limits = Limits {
        filter_timeout: Duration::from_millis(20),
        ..asking()
    };
    let (served, program, channel, foreign) = with(limits, &judge);
    let (proxy, sink) = program.sink(&channel);
    proxy.add_filter(Some(&foreign)).unwrap();
    let pushes = program.pushes_to(&channel);
    push_all(&pushes, 0..3);
    until(|| served.metric("filter_failures_total") == 3);
    judge.block(false);
    // Those that come while it is not asked do not pass.
    let mut number = 3;
    while sink.received().is_empty() {
        push_all(&pushes, number..number + 1);
        number += 1;
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_supplier_that_has_left_finds_its_events_judged() {
    let judge = judge_that_hangs();
    let (_served, program, channel, foreign) = with(asking(), &judge);
    let (_, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    pushes.add_filter(Some(&foreign)).unwrap();
    push_all(&pushes, 0..3);
    pushes.disconnect_structured_push_consumer().unwrap();
    judge.block(false);
    assert_eq!(sink.wait_for(3), [0, 1, 2]);
}

#[test]
fn what_waits_for_foreign_filters_is_bounded() {
    let judge = judge_that_hangs();
    let limits = Limits {
        queue_events: 2,
        ..asking()
    };
    let (served, program, channel, foreign) = with(limits, &judge);
    let (proxy, sink) = program.sink(&channel);
    proxy.add_filter(Some(&foreign)).unwrap();
    push_all(&program.pushes_to(&channel), 0..4);
    assert_eq!(served.metric("discarded_total"), 2);
    judge.block(false);
    assert_eq!(sink.wait_for(2), [0, 1]);
    proxy.remove_all_filters().unwrap();
    judge.block(true);
    let pushes = program.pushes_to(&channel);
    pushes.add_filter(Some(&foreign)).unwrap();
    push_all(&pushes, 10..12);
    let refused = pushes.push_structured_event(&event(12));
    assert_eq!(kind_of(refused), Kind::ImpLimit);
    assert_eq!(served.metric("rejected_total"), 1);
    judge.block(false);
    assert_eq!(sink.wait_for(4)[2..], [10, 11]);
    assert_eq!(served.metric("received_total"), 6);
}

#[test]
fn foreign_filters_beyond_the_limits_are_refused() {
    let limits = Limits {
        foreign_per_object: 1,
        most_foreign: 2,
        ..asking()
    };
    let (_served, program, channel, foreign) = with(limits, &Judge::of(&[]));
    let (proxy, _) = program.sink(&channel);
    let id = proxy.add_filter(Some(&foreign)).unwrap();
    assert_eq!(kind_of(proxy.add_filter(Some(&foreign))), Kind::ImpLimit);
    suppliers(&channel).add_filter(Some(&foreign)).unwrap();
    let (other, _) = program.sink(&channel);
    assert_eq!(kind_of(other.add_filter(Some(&foreign))), Kind::ImpLimit);
    proxy.remove_filter(id).unwrap();
    other.add_filter(Some(&foreign)).unwrap();
}

#[test]
fn foreign_filters_are_refused_unless_they_are_allowed() {
    let (_served, program, channel, foreign) = with(limits(), &Judge::of(&[]));
    let (proxy, _) = program.sink(&channel);
    for refused in [
        proxy.add_filter(Some(&foreign)),
        consumers(&channel).add_filter(Some(&foreign)),
        suppliers(&channel).add_filter(Some(&foreign)),
        program.pushes_to(&channel).add_filter(Some(&foreign)),
    ] {
        assert_eq!(kind_of(refused), Kind::NoImplement);
    }
    let mapping: MappingFilter = program.object(Valuer {
        judge: Judge::of(&[]),
        value: Any::new(&1_i16).unwrap(),
        default: Any::new(&0_i16).unwrap(),
    });
    let refused = consumers(&channel).set_priority_filter(Some(&mapping));
    assert_eq!(kind_of(refused), Kind::NoImplement);
    // An object of the service that is no filter is refused as well.
    let proxy_as_filter = Filter::from_object(proxy.as_object().clone());
    let refused = proxy.add_filter(Some(&proxy_as_filter));
    assert_eq!(kind_of(refused), Kind::ObjectNotExist);
}

#[test]
fn a_filter_of_the_servers_own_process_may_push_events_while_it_is_asked() {
    let (served, program) = (Served::with(asking()), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let (_, sink) = program.sink(&channel);
    let pushes = program.pushes_to(&channel);
    let again: Arc<StructuredProxyPushConsumer> = Arc::new(pushes.clone());
    let judge = Judge::new(move |number| {
        if number < 3 {
            again.push_structured_event(&event(number + 1)).unwrap();
        }
        true
    });
    let poa: Poa = punctual::RootPoa::root_poa(&served.orb).unwrap();
    let foreign: Filter = poa.activate(judge).unwrap();
    pushes.add_filter(Some(&program.see(&foreign))).unwrap();
    push_all(&pushes, 0..1);
    assert_eq!(sink.wait_for(4), [0, 1, 2, 3]);
}
