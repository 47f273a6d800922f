//! Suppliers from which typed events are pulled: their events, their connections and ends, and those that answer wrongly.

use std::borrow::Cow;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use punctual::dynamic::{DynamicImplementation, InvokeError, ServerRequest, dynamic_servant};
use punctual::poa::{DispatchError, Dispatched};
use punctual::{Any, Interface, ObjectRef, OperationError, Response, SystemExceptionKind as Kind};
use punctual_cosevent::cos_event_channel_admin::{
    AlreadyConnected, ProxyPullConsumerConnectPullSupplierError as ConnectError,
};
use punctual_cosevent::cos_event_comm::{Disconnected, PullSupplier};
use punctual_cosevent::{EventService, Limits, Pulling};

use crate::peers::Source;
use crate::plant::{PullAlarms, PullBeats};
use crate::support::{Program, Served, exists, limits, pull_consumer, until};
use crate::typed::{
    channel, interfaces, panel, pulls, pulls_alarms, served, served_with, suppliers,
};
use crate::wells::{Plant, Well, connected, obtained_to_be_pulled, well};

#[test]
fn events_are_pulled_by_each_operation_and_reach_consumers_of_all_kinds() {
    let (served, program) = (served(), Program::new());
    let (_, pushed, _) = panel(&served, &program);
    let (_, pulled) = pulls_alarms(&served, &program);
    let admin = channel(&served, &program).for_consumers().unwrap().unwrap();
    let untyped = admin.obtain_pull_supplier().unwrap().unwrap();
    untyped.connect_pull_consumer(None).unwrap();
    let (_, well, plant) = well(&served, &program);
    well.raised(3);
    well.cleared("t1", "все");
    well.silence();
    for number in 1..=3 {
        well.beat(number);
    }
    let mut calls = pushed.wait_for(6);
    // Those of each operation come in their order.
    let beats: Vec<String> = calls
        .iter()
        .filter(|call| call.starts_with("beat"))
        .cloned()
        .collect();
    assert_eq!(beats, ["beat 1", "beat 2", "beat 3"]);
    calls.sort_unstable();
    assert_eq!(
        calls[3..],
        ["cleared t1 все", "raised 3 t1 1.5 High [\"t2\"]", "silence"]
    );
    assert_eq!(pulled.pull_raised().unwrap().0, 3);
    assert_eq!(pulled.pull_cleared().unwrap().1, "все");
    pulled.pull_silence().unwrap();
    for number in 1..=3 {
        assert_eq!(pulled.pull_beat().unwrap(), number);
    }
    let names = (0..6).map(|_| {
        untyped
            .pull()
            .unwrap()
            .type_code()
            .name()
            .unwrap()
            .to_owned()
    });
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["beat", "beat", "beat", "cleared", "raised", "silence"]
    );
    assert_eq!(served.metric("received_total"), 6);
    assert_eq!(plant.asked(), 1, "the object is asked for once");
}

#[test]
fn each_operation_is_asked_again_and_one_call_is_open_at_a_time() {
    let (served, program) = (served(), Program::new());
    let (_, well, _) = well(&served, &program);
    until(|| well.calls().iter().all(|calls| *calls >= 3));
    assert_eq!(well.most_open(), 1);
}

#[test]
fn operations_that_are_waited_for_are_called_once_for_each_event() {
    let waiting = Limits {
        pulling: Pulling::Wait,
        call_timeout: Duration::from_secs(1),
        ..limits()
    };
    let (served, program) = (served_with(waiting), Program::new());
    let (_, pulled) = pulls_alarms(&served, &program);
    let (connection, well, _) = well(&served, &program);
    until(|| well.calls() == [1; 4]);
    // Longer than other calls may take, during which the calls stay open. Those have a second, as
    // the machine may be busy.
    std::thread::sleep(Duration::from_millis(1_500));
    well.beat(1);
    assert_eq!(pulled.pull_beat().unwrap(), 1);
    well.silence();
    pulled.pull_silence().unwrap();
    until(|| well.calls() == [2, 1, 1, 2]);
    well.cleared("t1", "well");
    assert_eq!(pulled.pull_cleared().unwrap().0, "t1");
    until(|| well.calls() == [2, 2, 1, 2]);
    assert_eq!(well.most_open(), 4);
    assert!(exists(&connection));
    // All calls fail at once, more often than they may in succession.
    well.end();
    until(|| !exists(&connection));
    // Those that were open at the same time count once: more calls were made for each of the other three failures.
    let calls: usize = well.calls().iter().sum();
    assert!(calls >= 7 + 3, "{calls}");
}

/// Calls that wait for their answers, with the names of their operations.
type Named = Vec<(String, Response<Vec<Any>, InvokeError>)>;

/// Object of `PullAlarms` whose calls the test answers, by their names, until this is dropped.
struct Desk(Arc<Mutex<Option<Named>>>);

impl DynamicImplementation for Desk {
    fn primary_interface(&self) -> Cow<'_, str> {
        PullAlarms::REPOSITORY_ID.into()
    }

    fn invoke(&self, mut request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        let name = request.operation().to_owned();
        request.arguments(&[])?;
        let (response, deferred) = request.answer_later()?;
        if let Some(calls) = &mut *self.0.lock() {
            calls.push((name, response));
        }
        Ok(deferred)
    }
}

impl Desk {
    fn new(program: &Program) -> (ObjectRef, Self) {
        let desk = Self(Arc::new(Mutex::new(Some(Vec::new()))));
        let servant = dynamic_servant(Self(desk.0.clone()));
        let id = program.poa.activate_object(servant).unwrap();
        let object = program
            .poa
            .create_object_with_id(&id, PullAlarms::REPOSITORY_ID);
        (object.unwrap(), desk)
    }

    fn has(&self, name: &str) -> bool {
        let calls = self.0.lock();
        calls.iter().flatten().any(|(of, _)| of == name)
    }

    fn pulls(&self) -> usize {
        let calls = self.0.lock();
        let calls = calls.iter().flatten();
        calls.filter(|(of, _)| of == "pull").count()
    }

    /// Returns whether the answer to a call of `pull` is not awaited any more.
    fn has_given_up_pull(&self) -> bool {
        let calls = self.0.lock();
        let mut calls = calls.iter().flatten();
        calls.any(|(of, response)| of == "pull" && !response.is_awaited())
    }

    /// Waits for a call of an operation, and raises an exception.
    fn fail(&self, name: &str) {
        until(|| self.has(name));
        let call = self.0.lock().as_mut().and_then(|calls| {
            let at = calls.iter().position(|(of, _)| of == name)?;
            Some(calls.remove(at))
        });
        let (_, response) = call.unwrap();
        let exception = Kind::NoResources.because("as the test wants it");
        response.fail(exception).unwrap();
    }
}

/// Ends the requests, for which the ORB's shutdown waits.
impl Drop for Desk {
    fn drop(&mut self) {
        *self.0.lock() = None;
    }
}

#[test]
fn calls_that_wait_for_the_interval_at_the_same_time_fail_once() {
    let waiting = Limits {
        pulling: Pulling::Wait,
        // On a busy machine, a shorter one could pass between two lines of the test, which then shows less.
        pull_interval: Duration::from_secs(1),
        failures: 3,
        ..limits()
    };
    let (served, program) = (served_with(waiting), Program::new());
    let (object, desk) = Desk::new(&program);
    let (proxy, _) = connected(&served, &program, &object);
    desk.fail("pull_beat");
    until(|| desk.has("pull_beat"));
    // It was open when the first one failed.
    desk.fail("pull_silence");
    desk.fail("pull_beat");
    // It waited for the interval when the second one failed.
    desk.fail("pull_silence");
    until(|| desk.has("pull_silence") || !exists(&proxy));
    assert!(exists(&proxy), "two failures counted as three");
    desk.fail("pull_silence");
    until(|| !exists(&proxy));
}

#[test]
fn a_channel_pulls_typed_events_from_another_channel() {
    for pulling in [Pulling::Try, Pulling::Wait] {
        let (first, second, program) = (
            served(),
            served_with(Limits {
                pulling,
                ..limits()
            }),
            Program::new(),
        );
        let from = pulls(&first, &program, PullAlarms::REPOSITORY_ID);
        let from = PullSupplier::from_object(from.as_object().clone());
        let to = obtained_to_be_pulled(&second, &program, PullAlarms::REPOSITORY_ID);
        to.connect_pull_supplier(Some(&from)).unwrap();
        let (_, panel, _) = panel(&second, &program);
        let supplier = crate::typed::alarms(&first, &program);
        supplier.beat(1).unwrap();
        supplier.cleared("t1", "well").unwrap();
        supplier.beat(2).unwrap();
        let mut calls = panel.wait_for(3);
        calls.sort_unstable();
        assert_eq!(calls, ["beat 1", "beat 2", "cleared t1 well"]);
        channel(&first, &program).destroy().unwrap();
        until(|| !exists(&to));
    }
}

#[test]
fn a_supplier_without_an_object_of_the_interface_is_refused_and_another_may_connect() {
    let (served, program) = (served(), Program::new());
    let proxy = obtained_to_be_pulled(&served, &program, PullAlarms::REPOSITORY_ID);
    let nil = proxy.connect_pull_supplier(None).unwrap_err();
    assert_eq!(nil.system().unwrap().kind(), Kind::BadParam);
    let untyped: PullSupplier = program.object(Source::default());
    for wrong in [
        untyped.clone(),
        Plant::default().connectable(&program),
        Plant::of(untyped.as_object()).connectable(&program),
    ] {
        let refused = proxy.connect_pull_supplier(Some(&wrong)).unwrap_err();
        assert!(matches!(refused, ConnectError::TypeError(_)), "{refused}");
    }
    let object: PullAlarms = program.object(Well::default());
    let right = Plant::of(object.as_object()).connectable(&program);
    proxy.connect_pull_supplier(Some(&right)).unwrap();
    let again = proxy.connect_pull_supplier(Some(&right)).unwrap_err();
    assert!(matches!(again, ConnectError::AlreadyConnected(_)));
}

#[test]
fn a_supplier_that_cannot_be_reached_or_does_not_answer_is_refused_and_others_connect() {
    let quick = Limits {
        call_timeout: Duration::from_secs(1),
        ..limits()
    };
    let (served, program) = (served_with(quick), Program::new());
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let proxy = obtained_to_be_pulled(&served, &program, PullAlarms::REPOSITORY_ID);
    let refused_from = |place: std::net::SocketAddr| {
        let supplier = format!("corbaloc:iiop:{place}/gone");
        let supplier = program.orb.string_to_object(&supplier).unwrap();
        let supplier = PullSupplier::from_object(supplier);
        let refused = proxy.connect_pull_supplier(Some(&supplier)).unwrap_err();
        refused.system().unwrap().kind()
    };
    let place = silent.local_addr().unwrap();
    let kind = refused_from(place);
    assert!(matches!(kind, Kind::Timeout | Kind::Transient), "{kind:?}");
    drop(silent);
    let kind = refused_from(place);
    assert!(matches!(kind, Kind::Timeout | Kind::Transient), "{kind:?}");
    assert!(exists(&proxy));
    let object: PullBeats = program.object(Well::default());
    connected(&served, &program, &object);
}

#[test]
fn a_supplier_is_told_once_of_its_end() {
    let (served, program) = (served(), Program::new());
    let (proxy, _, plant) = well(&served, &program);
    proxy.disconnect_pull_consumer().unwrap();
    until(|| plant.disconnects() == 1);
    assert!(!exists(&proxy));
    let again = proxy.disconnect_pull_consumer().unwrap_err();
    assert_eq!(again.kind(), Kind::ObjectNotExist);
    let (proxy, well, plant) = well(&served, &program);
    channel(&served, &program).destroy().unwrap();
    until(|| plant.disconnects() == 1 && !exists(&proxy));
    // It is not called any more.
    let calls = well.calls();
    let (_, other, _) = crate::wells::well(&served, &program);
    until(|| other.calls().iter().all(|calls| *calls >= 3));
    let more: usize = well.calls().iter().sum::<usize>() - calls.iter().sum::<usize>();
    assert!(more <= 1, "one call was open: {more}");
}

/// Object of `PullBeats` whose answers the tests choose. Clones share it.
#[derive(Clone)]
struct Odd(Arc<OddState>);

struct OddState {
    answer: fn(ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError>,
    calls: AtomicUsize,
}

impl DynamicImplementation for Odd {
    fn primary_interface(&self) -> Cow<'_, str> {
        PullBeats::REPOSITORY_ID.into()
    }

    fn invoke(&self, mut request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        request.arguments(&[])?;
        (self.0.answer)(request)
    }
}

fn odd(
    program: &Program,
    answer: fn(ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError>,
) -> (ObjectRef, Odd) {
    let odd = Odd(Arc::new(OddState {
        answer,
        calls: AtomicUsize::new(0),
    }));
    (object_of(program, dynamic_servant(odd.clone())), odd)
}

fn object_of(program: &Program, servant: Arc<dyn punctual::Servant>) -> ObjectRef {
    let id = program.poa.activate_object(servant).unwrap();
    let object = program
        .poa
        .create_object_with_id(&id, PullBeats::REPOSITORY_ID);
    object.unwrap()
}

#[test]
fn suppliers_that_answer_wrongly_are_disconnected_and_the_others_go_on() {
    let quick = Limits {
        failures: 3,
        ..limits()
    };
    let (served, program) = (served_with(quick), Program::new());
    let (_, panel, _) = panel(&served, &program);
    let (_, well, _) = well(&served, &program);
    let answers: [fn(ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError>; 5] = [
        |request| request.reply(&[]),
        |request| request.reply(&[Any::new(&true)?]),
        |request| request.reply(&[Any::new("an event")?]),
        |request| request.raise(&Any::new(&AlreadyConnected)?),
        |request| Err(request.bad_operation()),
    ];
    for (lost, answer) in (1..).zip(answers) {
        let (object, odd) = odd(&program, answer);
        let (proxy, plant) = connected(&served, &program, &object);
        until(|| plant.disconnects() == 1 && !exists(&proxy));
        assert_eq!(odd.0.calls.load(Ordering::SeqCst), 3);
        until(|| served.metric("lost_peers_total") == lost);
        well.beat(u32::try_from(lost).unwrap());
        assert_eq!(panel.wait_for(lost as usize).len(), lost as usize);
    }
    assert_eq!(served.metric("received_total"), 5);
}

/// Object of `PullBeats` that does not answer until this is dropped.
struct Silent(Arc<Mutex<Option<Kept>>>);

/// Requests that are not answered.
type Kept = Vec<Response<Vec<Any>, InvokeError>>;

impl Silent {
    fn new(program: &Program) -> (ObjectRef, Self) {
        let silent = Self(Arc::new(Mutex::new(Some(Vec::new()))));
        let servant = dynamic_servant(Self(silent.0.clone()));
        (object_of(program, servant), silent)
    }

    fn calls(&self) -> usize {
        self.0.lock().as_ref().map_or(0, Vec::len)
    }

    /// Returns the number of requests whose answers are awaited.
    fn awaited(&self) -> usize {
        let kept = self.0.lock();
        let all = kept.iter().flatten();
        all.filter(|response| response.is_awaited()).count()
    }
}

impl DynamicImplementation for Silent {
    fn primary_interface(&self) -> Cow<'_, str> {
        PullBeats::REPOSITORY_ID.into()
    }

    fn invoke(&self, mut request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        request.arguments(&[])?;
        let (response, deferred) = request.answer_later()?;
        if let Some(kept) = &mut *self.0.lock() {
            kept.push(response);
        }
        Ok(deferred)
    }
}

/// Ends the requests, for which the ORB's shutdown waits.
impl Drop for Silent {
    fn drop(&mut self) {
        *self.0.lock() = None;
    }
}

#[test]
fn suppliers_that_never_answer_delay_no_other() {
    let (served, program) = (served(), Program::new());
    let (object, silent) = Silent::new(&program);
    let (proxy, _) = connected(&served, &program, &object);
    until(|| silent.calls() == 1);
    let (_, panel, _) = panel(&served, &program);
    let (_, well, _) = well(&served, &program);
    for number in 1..=3 {
        well.beat(number);
    }
    assert_eq!(panel.wait_for(3), ["beat 1", "beat 2", "beat 3"]);
    assert_eq!(silent.calls(), 1);
    proxy.disconnect_pull_consumer().unwrap();
}

#[test]
fn calls_that_wait_are_given_up_at_the_end_of_the_connection() {
    let waiting = Limits {
        pulling: Pulling::Wait,
        ..limits()
    };
    let (served, program) = (served_with(waiting), Program::new());
    let (object, silent) = Silent::new(&program);
    // CancelRequest is left out where another thread is sending over the connection.
    until(|| {
        let calls = silent.calls();
        let (proxy, _) = connected(&served, &program, &object);
        until(|| silent.calls() > calls);
        proxy.disconnect_pull_consumer().unwrap();
        silent.awaited() < silent.calls()
    });
}

#[test]
fn pulls_of_untyped_events_are_given_up_at_the_end_of_the_connection() {
    let waiting = Limits {
        pulling: Pulling::Wait,
        ..limits()
    };
    let (served, program) = (served_with(waiting), Program::new());
    let (object, desk) = Desk::new(&program);
    let supplier = PullSupplier::from_object(object);
    until(|| {
        let pulls = desk.pulls();
        let proxy = pull_consumer(&program.see(&served.channel));
        proxy.connect_pull_supplier(Some(&supplier)).unwrap();
        until(|| desk.pulls() > pulls);
        proxy.disconnect_pull_consumer().unwrap();
        desk.has_given_up_pull()
    });
}

#[test]
fn suppliers_that_never_answer_are_disconnected() {
    let quick = Limits {
        failures: 2,
        call_timeout: Duration::from_secs(1),
        ..limits()
    };
    let (served, program) = (served_with(quick), Program::new());
    let (object, _silent) = Silent::new(&program);
    let (proxy, _) = connected(&served, &program, &object);
    until(|| !exists(&proxy));
    until(|| served.metric("lost_peers_total") == 1);
    assert_eq!(served.metric("received_total"), 0);
}

#[test]
fn suppliers_that_are_disconnected_or_gone_are_not_told() {
    let (served, program) = (served(), Program::new());
    let answers: [fn(ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError>; 2] = [
        |request| request.raise(&Any::new(&Disconnected)?),
        |_| Err(Kind::ObjectNotExist.because("it is gone").into()),
    ];
    for answer in answers {
        let (object, odd) = odd(&program, answer);
        let (proxy, plant) = connected(&served, &program, &object);
        until(|| !exists(&proxy));
        assert_eq!(odd.0.calls.load(Ordering::SeqCst), 1);
        assert_eq!(plant.disconnects(), 0);
    }
}

#[test]
fn events_that_are_too_large_are_not_passed_on_and_the_next_are() {
    let small = Limits {
        event_bytes: 1_000,
        ..limits()
    };
    let (served, program) = (served_with(small), Program::new());
    let (_, pulled) = pulls_alarms(&served, &program);
    let (_, well, _) = well(&served, &program);
    well.cleared(&"t".repeat(1_000), "");
    well.cleared("t1", "");
    assert_eq!(pulled.pull_cleared().unwrap().0, "t1");
    assert_eq!(served.metric("refused_total"), 1);
}

#[test]
fn connections_of_pulled_suppliers_are_there_after_a_restart_without_their_idl() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let program = Program::new();
    // No other program and no other test uses this address of the loopback interface.
    let free = TcpListener::bind(("127.77.1.10", 0)).unwrap();
    let place = ("127.77.1.10", free.local_addr().unwrap().port());
    drop(free);
    let stored = || {
        let service = EventService::open(&path).unwrap();
        service.set_limits(limits());
        service
    };
    let service = stored();
    service.set_interfaces(interfaces());
    let before = Served::of(service, place);
    let (proxy, well, plant) = well(&before, &program);
    let (_, pulled) = pulls_alarms(&before, &program);
    well.beat(1);
    assert_eq!(pulled.pull_beat().unwrap(), 1);
    drop(before);

    let after = Served::of(stored(), place);
    assert_eq!(after.service.size(), (2, 2));
    well.beat(2);
    assert_eq!(pulled.pull_beat().unwrap(), 2);
    assert_eq!(plant.asked(), 2, "once before and once after");
    proxy.disconnect_pull_consumer().unwrap();
    until(|| plant.disconnects() == 1);
    drop(after);
    assert_eq!(Served::of(stored(), place).service.size(), (2, 1));
}

#[test]
fn a_supplier_that_has_other_objects_after_a_restart_is_disconnected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.redb");
    let program = Program::new();
    let service = EventService::open(&path).unwrap();
    service.set_limits(limits());
    service.set_interfaces(interfaces());
    let before = Served::of(service, ("127.0.0.1", 0));
    let (_, _, plant) = well(&before, &program);
    until(|| plant.asked() == 1);
    drop(before);
    plant.forget();
    let service = EventService::open(&path).unwrap();
    service.set_limits(limits());
    let after = Served::of(service, ("127.0.0.1", 0));
    until(|| after.service.size() == (2, 0));
    until(|| after.metric("lost_peers_total") == 1);
}

#[test]
fn peers_without_a_grant_are_not_pulled_from() {
    let service = EventService::in_memory();
    service.set_limits(limits());
    service.set_interfaces(interfaces());
    service.set_writers(punctual_host::access::Rules::of(&["10.0.0.0/8".to_owned()]).unwrap());
    let (served, program) = (Served::of(service, ("127.0.0.1", 0)), Program::new());
    let admin = suppliers(&served, &program);
    let refused = admin.obtain_typed_pull_consumer(PullAlarms::REPOSITORY_ID);
    let refused = refused.unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::NoPermission);
    pulls_alarms(&served, &program);
}
