//! Filters of other programs that a store keeps, and events of a log.

use punctual::{Any, NotNil, SystemExceptionKind as Kind};
use punctual_notification::NotificationService;
use punctual_notification::cos_notification::{FIFO_ORDER, ORDER_POLICY};
use punctual_notification::cos_notify_filter::{Filter, MappingFilter};

use crate::foreign::{asking, push_all};
use crate::judges::{Judge, Valuer};
use crate::persistent::persistent_events;
use crate::restarts::{persistent, place, stored};
use crate::support::{Program, Served, consumers, kind_of, property, suppliers, until};

fn asking_on(path: &std::path::Path) -> NotificationService {
    let service = NotificationService::open(path).unwrap();
    service.set_limits(asking());
    service
}

#[test]
fn foreign_filters_are_asked_again_after_a_restart_unless_they_are_refused_then() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (place, program) = (place("127.79.5.1"), Program::new());
    let served = Served::of(asking_on(&path), place);
    let fifo = property(ORDER_POLICY, FIFO_ORDER);
    let channel = program.see(&served.channel(&[persistent(), fifo], &[]));
    let (odd, low, up) = (
        Judge::new(|number| number % 2 == 1),
        Judge::new(|number| number < 5),
        Judge::of(&[]),
    );
    let (odd_filter, low_filter): (Filter, Filter) =
        (program.object(odd.clone()), program.object(low.clone()));
    let mapping: MappingFilter = program.object(Valuer {
        judge: up.clone(),
        value: Any::new(&1_i16).unwrap(),
        default: Any::new(&0_i16).unwrap(),
    });
    let (proxy, sink) = program.sink(&channel);
    let id = proxy.add_filter(Some(&odd_filter)).unwrap();
    suppliers(&channel).add_filter(Some(&low_filter)).unwrap();
    consumers(&channel)
        .set_priority_filter(Some(&mapping))
        .unwrap();
    let pushes = program.pushes_to(&channel);
    drop(served);

    let served = Served::of(asking_on(&path), place);
    let kept = proxy.get_filter(id).unwrap();
    assert_eq!(kept.not_nil().unwrap(), odd_filter);
    let kept = consumers(&channel).priority_filter().unwrap();
    assert_eq!(kept.not_nil().unwrap(), mapping);
    push_all(&pushes, 0..8);
    assert_eq!(sink.wait_for(2), [1, 3]);
    until(|| served.metric("filtered_total") == 3);
    assert_eq!(low.asked().len(), 8);
    odd.wait_for(5);
    assert_eq!(odd.asked(), [0, 1, 2, 3, 4]);
    assert_eq!(up.asked(), [1, 3]);
    drop(served);

    let served = Served::of(stored(&path), place);
    push_all(&pushes, 1..3);
    until(|| served.metric("filtered_total") == 2);
    assert_eq!(low.asked().len(), 8);
    assert_eq!(sink.numbers(), [1, 3]);
}

#[test]
fn foreign_filters_judge_events_of_a_log_and_none_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (place, program) = (place("127.79.5.2"), Program::new());
    let served = Served::of(asking_on(&path), place);
    let channel = program.see(&served.channel(&persistent_events(), &[]));
    let judge = Judge::new(|number| number % 2 == 1);
    let foreign: Filter = program.object(judge.clone());
    let (proxy, sink) = program.sink(&channel);
    proxy.add_filter(Some(&foreign)).unwrap();
    let pushes = program.pushes_to(&channel);
    for refused in [
        pushes.add_filter(Some(&foreign)),
        suppliers(&channel).add_filter(Some(&foreign)),
    ] {
        assert_eq!(kind_of(refused), Kind::NoImplement);
    }
    push_all(&pushes, 0..600);
    let odd: Vec<i32> = (0..600).filter(|number| number % 2 == 1).collect();
    assert_eq!(sink.wait_for(300), odd);
    // Events that wait for a verdict when the service ends are in the log still.
    judge.block(true);
    push_all(&pushes, 600..604);
    judge.wait_for(601);
    served.service.end_waiting();
    served.orb.shutdown(false).unwrap();
    judge.block(false);
    drop(served);
    let _served = Served::of(asking_on(&path), place);
    until(|| sink.numbers().contains(&603));
    // Those before may come again, as their acknowledgements may not have been stored.
    let after = sink.numbers().into_iter().filter(|number| *number >= 600);
    assert_eq!(after.collect::<Vec<_>>(), [601, 603]);
}
