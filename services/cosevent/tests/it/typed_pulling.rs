//! Consumers that pull typed events: calls of each operation, those that wait, and their ends.

use std::sync::mpsc::{Receiver, channel as results};
use std::time::Duration;

use punctual::dynamic::{InvokeError, Request};
use punctual::stub::GiopVersion;
use punctual::{
    Any, Interface, ObjectRef, OperationError, SystemException, SystemExceptionKind as Kind,
    TypeCode,
};
use punctual_cosevent::Limits;
use punctual_cosevent::cos_event_comm::{PullConsumer, PullSupplierPullError};
use punctual_cosevent::cos_typed_event_channel_admin::TypedProxyPullSupplier;

use crate::peers::End;
use crate::plant::{Alarms, Beats, PullAlarms, PullBeats, PullNotes};
use crate::support::{Program, exists, limits, until};
use crate::typed::{
    alarms, channel, entrance, memo, notes, obtained_to_pull, panel, pull_exit, pulls,
    pulls_alarms, reading, served, served_with, supplies,
};

/// Begins a call of an operation whose only result is a number; the results come by the returned channel.
fn begin(object: &PullBeats, calls: usize) -> Receiver<Result<u32, SystemException>> {
    let (say, heard) = results();
    for _ in 0..calls {
        let mut request = Request::new(object, "pull_beat");
        request.add_out("number", &TypeCode::ULONG);
        let say = say.clone();
        let pulled = move |request: Request, outcome: Result<(), InvokeError>| {
            let number = || request.argument(0).unwrap().extract().unwrap();
            let _ = say.send(outcome.map(|()| number()).map_err(Into::into));
        };
        request.sendc_with(pulled).unwrap();
    }
    heard
}

/// Waits until calls of `pull_beat` that were begun before have arrived: they share a connection with this one.
fn arrived(object: &PullBeats) {
    assert!(!object.try_beat().unwrap().0);
}

#[test]
fn events_are_pulled_by_their_operations_as_they_were_sent() {
    let (served, program) = (served(), Program::new());
    let (_, pulls) = pulls_alarms(&served, &program);
    let supplier = alarms(&served, &program);
    let origin = supplier.as_object().clone();
    let history = [reading("t2"), reading("t3")];
    supplier.silence().unwrap();
    supplier
        .raised(3, &reading("t1"), &history, Some(&origin))
        .unwrap();
    supplier.cleared("t1", "все").unwrap();
    supplier.beat(7).unwrap();
    supplier.beat(8).unwrap();
    supplier
        .raised(4, &reading("t4"), &[], None::<&ObjectRef>)
        .unwrap();
    assert_eq!(pulls.pull_beat().unwrap(), 7);
    let (zone, cause, received, from) = pulls.pull_raised().unwrap();
    assert_eq!((zone, cause, received), (3, reading("t1"), history.into()));
    let from = from.unwrap();
    assert_eq!(from.type_id(), Alarms::REPOSITORY_ID);
    assert_eq!(from.object_key(), origin.object_key());
    let (has_event, zone, cause, received, from) = pulls.try_raised().unwrap();
    assert!(has_event && received.is_empty() && from.is_none());
    assert_eq!((zone, cause), (4, reading("t4")));
    let cleared = ("t1".to_owned(), "все".to_owned());
    assert_eq!(pulls.pull_cleared().unwrap(), cleared);
    assert_eq!(pulls.try_beat().unwrap(), (true, 8));
    assert!(pulls.try_silence().unwrap());
    // There are no more: the results are values of their types.
    assert_eq!(pulls.try_beat().unwrap(), (false, 0));
    assert!(!pulls.try_silence().unwrap());
    assert!(!pulls.try_raised().unwrap().0);
    assert_eq!(
        pulls.try_cleared().unwrap(),
        (false, String::new(), String::new())
    );
    assert_eq!(served.metric("received_total"), 6);
    assert_eq!(served.metric("pulled_total"), 6);
}

#[test]
fn values_are_pulled_as_what_they_are_and_with_what_they_share() {
    let (served, program) = (served(), Program::new());
    let (_, supplier) = notes(&served, &program);
    let pulls: PullNotes = pull_exit(&pulls(&served, &program, PullNotes::REPOSITORY_ID));
    let (has_event, first, again) = pulls.try_noted().unwrap();
    assert!(!has_event && first.is_none() && again.is_none());
    let note = memo();
    supplier.noted(Some(&note), Some(&note)).unwrap();
    let (first, again) = pulls.pull_noted().unwrap();
    let (first, again) = (first.unwrap(), again.unwrap());
    first.set_text("changed");
    assert_eq!(again.text(), "changed");
}

#[test]
fn a_pull_waits_for_an_event_of_its_operation() {
    let (served, program) = (served(), Program::new());
    let (_, alarms_of) = pulls_alarms(&served, &program);
    let beats = PullBeats::from_object(alarms_of.as_object().clone());
    let pulled = begin(&beats, 2);
    arrived(&beats);
    let supplier = alarms(&served, &program);
    supplier.silence().unwrap();
    assert!(alarms_of.try_silence().unwrap());
    pulled.try_recv().unwrap_err();
    supplier.beat(1).unwrap();
    supplier.beat(2).unwrap();
    let mut numbers: Vec<u32> = pulled.iter().map(Result::unwrap).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2]);
}

#[test]
fn a_consumer_of_the_base_pulls_what_the_base_declares() {
    let (served, program) = (served(), Program::new());
    let proxy = pulls(&served, &program, PullBeats::REPOSITORY_ID);
    let base: PullBeats = pull_exit(&proxy);
    let (_, whole) = pulls_alarms(&served, &program);
    assert!(whole.as_object().is_a(PullBeats::REPOSITORY_ID).unwrap());
    assert!(whole.as_object().is_a(PullAlarms::REPOSITORY_ID).unwrap());
    assert!(!base.as_object().is_a(PullAlarms::REPOSITORY_ID).unwrap());
    assert!(!whole.as_object().is_a(Alarms::REPOSITORY_ID).unwrap());
    let supplier = alarms(&served, &program);
    supplier.silence().unwrap();
    supplier.beat(1).unwrap();
    let beats: Beats = entrance(&supplies(&served, &program, Beats::REPOSITORY_ID));
    beats.beat(2).unwrap();
    assert_eq!(base.pull_beat().unwrap(), 1);
    assert_eq!(base.pull_beat().unwrap(), 2);
    let none = PullAlarms::from_object(base.as_object().clone());
    assert_eq!(none.try_silence().unwrap_err().kind(), Kind::BadOperation);
    whole.pull_silence().unwrap();
    // The queue of the base holds nothing else.
    proxy.disconnect_pull_supplier().unwrap();
    assert_eq!(served.metric("undelivered_total"), 0);
}

#[test]
fn typed_proxies_give_events_as_anys_too() {
    let (served, program) = (served(), Program::new());
    let (proxy, pulls) = pulls_alarms(&served, &program);
    let supplier = alarms(&served, &program);
    supplier.beat(1).unwrap();
    supplier.silence().unwrap();
    supplier.beat(2).unwrap();
    let name = |event: &Any| event.type_code().name().unwrap().to_owned();
    assert_eq!(name(&proxy.pull().unwrap()), "beat");
    assert_eq!(pulls.pull_beat().unwrap(), 2);
    let (event, has_event) = proxy.try_pull().unwrap();
    assert_eq!((name(&event).as_str(), has_event), ("silence", true));
    assert!(!proxy.try_pull().unwrap().1);
}

#[test]
fn pushed_and_pulled_consumers_of_all_kinds_get_what_a_typed_supplier_calls() {
    let (served, program) = (served(), Program::new());
    let (_, pulled) = pulls_alarms(&served, &program);
    let (_, pushed, _) = panel(&served, &program);
    let admin = channel(&served, &program).for_consumers().unwrap().unwrap();
    let untyped = admin.obtain_pull_supplier().unwrap().unwrap();
    untyped.connect_pull_consumer(None).unwrap();
    let supplier = alarms(&served, &program);
    supplier.beat(5).unwrap();
    let struct_of_beat = untyped.pull().unwrap();
    assert_eq!(pushed.wait_for(1), ["beat 5"]);
    assert_eq!(pulled.pull_beat().unwrap(), 5);
    // An Any that an untyped supplier pushes is a call, too.
    let admin = channel(&served, &program).for_suppliers().unwrap().unwrap();
    let pushes = admin.obtain_push_consumer().unwrap().unwrap();
    pushes.connect_push_supplier(None).unwrap();
    pushes.push(&struct_of_beat).unwrap();
    pushes.push(&Any::new("a text").unwrap()).unwrap();
    assert_eq!(pulled.pull_beat().unwrap(), 5);
    until(|| served.metric("pushed_total") == 2);
}

#[test]
fn events_are_pulled_in_another_version_of_giop() {
    let (served, program, old) = (served(), Program::new(), Program::with(GiopVersion::V1_0));
    let (_, pulls) = pulls_alarms(&served, &old);
    let supplier = alarms(&served, &program);
    for zone in [1, 2] {
        supplier
            .raised(zone, &reading("t1"), &[reading("t2")], None::<&ObjectRef>)
            .unwrap();
    }
    supplier.beat(4).unwrap();
    let (zone, cause, history, _) = pulls.pull_raised().unwrap();
    assert_eq!((zone, cause.value, history), (1, 1.5, vec![reading("t2")]));
    let (has_event, zone, cause, history, _) = pulls.try_raised().unwrap();
    assert!(has_event);
    assert_eq!((zone, cause.value, history), (2, 1.5, vec![reading("t2")]));
    assert!(!pulls.try_raised().unwrap().0);
    assert_eq!(pulls.try_beat().unwrap(), (true, 4));
}

#[test]
fn thousands_of_typed_pulls_wait_without_threads() {
    let (served, program) = (
        served_with(Limits {
            waiting_pulls: 2_000,
            ..limits()
        }),
        Program::new(),
    );
    let beats: PullBeats = pull_exit(&pulls(&served, &program, PullBeats::REPOSITORY_ID));
    let pulled = begin(&beats, 2_000);
    arrived(&beats);
    let threads = std::fs::read_dir("/proc/self/task").unwrap().count();
    // Those of all tests that run at the same time.
    assert!(threads < 2_000, "{threads} threads");
    let supplier = alarms(&served, &program);
    for number in 0..2_000 {
        supplier.beat(number).unwrap();
    }
    let mut numbers: Vec<u32> = pulled.iter().map(Result::unwrap).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..2_000).collect::<Vec<_>>());
}

#[test]
fn pulls_of_an_operation_beyond_the_limit_are_refused_and_those_of_others_wait() {
    let (served, program) = (
        served_with(Limits {
            waiting_pulls: 1,
            ..limits()
        }),
        Program::new(),
    );
    let (proxy, pulls) = pulls_alarms(&served, &program);
    let beats = PullBeats::from_object(pulls.as_object().clone());
    let pulled = begin(&beats, 2);
    let refused = pulled.recv().unwrap().unwrap_err();
    assert_eq!(refused.kind(), Kind::Transient);
    let silence = std::thread::spawn(move || pulls.pull_silence());
    let any = std::thread::spawn(move || proxy.pull());
    let supplier = alarms(&served, &program);
    // Each call gets one, whichever of them it is.
    while !silence.is_finished() || !any.is_finished() {
        supplier.silence().unwrap();
    }
    silence.join().unwrap().unwrap();
    any.join().unwrap().unwrap();
    pulled.try_recv().unwrap_err();
    supplier.beat(3).unwrap();
    assert_eq!(pulled.recv().unwrap().unwrap(), 3);
}

#[test]
fn a_typed_pull_whose_client_has_given_up_takes_no_event() {
    let (served, program) = (served(), Program::new());
    let beats: PullBeats = pull_exit(&pulls(&served, &program, PullBeats::REPOSITORY_ID));
    let impatient = beats.as_object().with_timeout(Duration::from_millis(1));
    let given_up = PullBeats::from_object(impatient).pull_beat().unwrap_err();
    assert_eq!(given_up.kind(), Kind::Timeout);
    let gone = Program::new();
    let theirs = gone.see(&beats);
    let pulled = begin(&theirs, 3);
    arrived(&theirs);
    drop(gone);
    drop(pulled);
    // One that waits for no reply.
    Request::new(&beats, "pull_beat").send_oneway().unwrap();
    alarms(&served, &program).beat(1).unwrap();
    assert_eq!(beats.pull_beat().unwrap(), 1);
}

#[test]
fn a_full_queue_gives_up_the_oldest_event_of_any_operation() {
    let (served, program) = (
        served_with(Limits {
            queue_events: 3,
            ..limits()
        }),
        Program::new(),
    );
    let (proxy, pulls) = pulls_alarms(&served, &program);
    let supplier = alarms(&served, &program);
    supplier.silence().unwrap();
    for number in 1..=5 {
        supplier.beat(number).unwrap();
    }
    assert_eq!(served.metric("discarded_total"), 3);
    assert!(!pulls.try_silence().unwrap());
    assert_eq!(pulls.pull_beat().unwrap(), 3);
    proxy.disconnect_pull_supplier().unwrap();
    assert_eq!(served.metric("undelivered_total"), 2);
}

#[test]
fn a_consumer_pulls_between_the_connection_and_its_end() {
    let (served, program) = (served(), Program::new());
    let proxy = obtained_to_pull(&served, &program, PullAlarms::REPOSITORY_ID);
    let pulls: PullAlarms = pull_exit(&proxy);
    let early = pulls.try_silence().unwrap_err();
    assert_eq!(early.kind(), Kind::BadInvOrder, "{early}");
    assert_eq!(pulls.pull_silence().unwrap_err().kind(), Kind::BadInvOrder);
    alarms(&served, &program).silence().unwrap();
    let end = End::default();
    let consumer: PullConsumer = program.object(end.clone());
    proxy.connect_pull_consumer(Some(&consumer)).unwrap();
    assert!(!pulls.try_silence().unwrap(), "it came before");
    let beats = PullBeats::from_object(pulls.as_object().clone());
    let pulled = begin(&beats, 3);
    arrived(&beats);
    let waits = {
        let proxy = proxy.clone();
        std::thread::spawn(move || proxy.pull())
    };
    alarms(&served, &program).silence().unwrap();
    waits.join().unwrap().unwrap();
    proxy.disconnect_pull_supplier().unwrap();
    for ended in pulled {
        assert_eq!(ended.unwrap_err().kind(), Kind::ObjectNotExist);
    }
    until(|| end.disconnects() == 1);
    assert!(!exists(&proxy) && !exists(&pulls));
    let late = pulls.pull_silence().unwrap_err();
    assert_eq!(late.kind(), Kind::ObjectNotExist);
    let late = proxy.pull().unwrap_err();
    assert!(matches!(late, PullSupplierPullError::Disconnected(_)));
}

#[test]
fn typed_pulls_that_wait_end_with_their_channel() {
    let (served, program) = (served(), Program::new());
    let beats: PullBeats = pull_exit(&pulls(&served, &program, PullBeats::REPOSITORY_ID));
    let pulled = begin(&beats, 3);
    arrived(&beats);
    channel(&served, &program).destroy().unwrap();
    for ended in pulled {
        assert_eq!(ended.unwrap_err().kind(), Kind::ObjectNotExist);
    }
    let beats: PullBeats = pull_exit(&pulls(&served, &program, PullBeats::REPOSITORY_ID));
    let pulled = begin(&beats, 3);
    arrived(&beats);
    drop(served);
    for ended in pulled {
        let kind = ended.unwrap_err().kind();
        // The last ones may come after the connection has been closed.
        assert!(
            matches!(kind, Kind::Transient | Kind::CommFailure),
            "{kind:?}"
        );
    }
}

#[test]
fn proxies_beyond_the_limit_are_refused_to_typed_consumers_that_pull() {
    let (served, program) = (
        served_with(Limits {
            proxies: 1,
            ..limits()
        }),
        Program::new(),
    );
    let proxy = obtained_to_pull(&served, &program, PullBeats::REPOSITORY_ID);
    let admin = channel(&served, &program).for_consumers().unwrap().unwrap();
    let refused = admin.obtain_typed_pull_supplier(PullBeats::REPOSITORY_ID);
    let refused = refused.unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::NoResources);
    // One that ends makes room, and its object goes with it.
    let object = TypedProxyPullSupplier::get_typed_supplier(&proxy).unwrap();
    proxy.disconnect_pull_supplier().unwrap();
    assert!(object.unwrap().non_existent().unwrap());
    obtained_to_pull(&served, &program, PullBeats::REPOSITORY_ID);
}
