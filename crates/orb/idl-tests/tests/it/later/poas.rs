//! POAs whose servants answer later, and the POA operations that wait until these servants have
//! answered.

use super::desk::Desk;
use super::generated::asynchronous::Clerk;
use super::support::watchdog;
use super::{Pair, over_wire, until};
use punctual::asynchronous::Amh;
use punctual::poa::{
    IdAssignmentPolicy, LifespanPolicy, PoaPolicy, RequestProcessingPolicy, ServantActivator,
    ServantManager, ServantRetentionPolicy,
};
use punctual::{Implements, Interface, ObjectId, Poa, Servant, SystemException};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

/// Makes a POA with these policies, and a reference of the client to an object in it.
fn poa_of(pair: &Pair, name: &str, policies: &[PoaPolicy]) -> (Poa, Clerk) {
    let poa = pair
        .poa
        .create_poa(name, Some(pair.poa.manager()), policies)
        .unwrap();
    let clerk: Clerk = poa.create_reference_with_id(&"a clerk".into()).unwrap();
    let clerk = over_wire_unasked(pair, &clerk);
    (poa, clerk)
}

/// Returns a reference of the client's ORB as [`over_wire`] does, but without a call to the object,
/// which may not exist yet.
fn over_wire_unasked(pair: &Pair, clerk: &Clerk) -> Clerk {
    let text = pair.server.object_to_string(clerk).unwrap();
    Clerk::from_object(pair.client.string_to_object(&text).unwrap())
}

/// Checks that the function `waits` returns only after the function `opens` has run.
fn ends_only_behind(waits: impl FnOnce() + Send + 'static, opens: impl FnOnce()) {
    let (say, ended) = mpsc::channel();
    let waiter = thread::spawn(move || {
        waits();
        say.send(()).unwrap();
    });
    assert!(ended.recv_timeout(Duration::from_millis(50)).is_err());
    opens();
    ended.recv().unwrap();
    waiter.join().unwrap();
}

#[test]
fn the_destruction_of_a_poa_and_its_manager_wait_for_answers() {
    let _watchdog = watchdog(LIMIT);
    let desk = Desk::new();
    let pair = Pair::of(&desk);
    let poa = pair.poa.create_poa("child", None, &[]).unwrap();
    poa.manager().activate().unwrap();
    let clerk: Clerk = poa.activate(Amh::shared(Desk::new())).unwrap();
    drop(clerk);
    let clerk: Clerk = poa.activate(Amh::shared(desk.clone())).unwrap();
    let clerk = over_wire(&pair.server, &pair.client, &clerk);
    let waits = clerk.sendp_wait_at("gate");
    until(|| desk.waiting() == 1);
    let manager = poa.manager().clone();
    ends_only_behind(
        move || manager.hold_requests(true).unwrap(),
        || desk.open_gate("gate"),
    );
    assert_eq!(waits.wait().unwrap(), 4);
    poa.manager().activate().unwrap();
    let waits = clerk.sendp_wait_at("gate");
    until(|| desk.waiting() == 1);
    ends_only_behind(
        move || poa.destroy(true, true).unwrap(),
        || desk.open_gate("gate"),
    );
    assert_eq!(waits.wait().unwrap(), 4);
    pair.end();
}

#[test]
fn the_shutdown_of_the_orb_waits_for_answers_which_still_reach_their_clients() {
    let _watchdog = watchdog(LIMIT);
    for strategy in super::answers::strategies() {
        let desk = Desk::new();
        let server = |config: &mut punctual::OrbConfig| config.concurrency = strategy;
        let pair = Pair::with(|_| Amh::shared(desk.clone()), super::tcp(), server, |_| {});
        let waits = pair.clerk.sendp_wait_at("gate");
        until(|| desk.waiting() == 1);
        let server = pair.server.clone();
        ends_only_behind(
            move || server.shutdown(true).unwrap(),
            || desk.open_gate("gate"),
        );
        assert_eq!(waits.wait().unwrap(), 4);
        pair.client.shutdown(true).unwrap();
    }
}

#[test]
fn default_servants_and_servant_locators_may_answer_later() {
    let _watchdog = watchdog(LIMIT);
    let desk = Desk::new();
    let pair = Pair::of(&desk);
    let ids = [
        PoaPolicy::Lifespan(LifespanPolicy::Persistent),
        PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
    ];
    let by_default = PoaPolicy::RequestProcessing(RequestProcessingPolicy::DefaultServant);
    let non_retain = PoaPolicy::ServantRetention(ServantRetentionPolicy::NonRetain);
    let unique = PoaPolicy::IdUniqueness(punctual::poa::IdUniquenessPolicy::Multiple);
    let policies = [&ids[..], &[by_default, unique]].concat();
    let (poa, clerk) = poa_of(&pair, "by default", &policies);
    poa.set_servant(Clerk::servant(Amh::shared(desk.clone())))
        .unwrap();
    super::desk::exercise(&clerk).unwrap();

    let located = PoaPolicy::RequestProcessing(RequestProcessingPolicy::ServantManager);
    let policies = [&ids[..], &[located, non_retain]].concat();
    let (poa, clerk) = poa_of(&pair, "located", &policies);
    let servant = Clerk::servant(Amh::shared(desk.clone()));
    let locator =
        ServantManager::locator(move |_: &ObjectId, _: &Poa, _: &str| Ok(servant.clone()));
    poa.set_servant_manager(locator).unwrap();
    super::desk::exercise(&clerk).unwrap();
    let waits = clerk.sendp_wait_at("gate");
    until(|| desk.waiting() == 1);
    ends_only_behind(
        move || poa.destroy(true, true).unwrap(),
        || desk.open_gate("gate"),
    );
    assert_eq!(waits.wait().unwrap(), 4);
    pair.end();
}

/// Servant activator whose servant is the desk, and that records the servant's etherealization.
struct Activator {
    desk: Arc<Desk>,
    has_gone: Arc<AtomicBool>,
}

impl ServantActivator for Activator {
    fn incarnate(
        &self,
        _: &ObjectId,
        _: &Poa,
    ) -> Result<Arc<dyn Servant>, punctual::poa::DispatchError> {
        Ok(Clerk::servant(Amh::shared(self.desk.clone())))
    }

    fn etherealize(
        &self,
        _: &ObjectId,
        _: &Poa,
        _: Arc<dyn Servant>,
        _cleanup_in_progress: bool,
        _remaining_activations: bool,
    ) {
        self.has_gone.store(true, Ordering::Release);
    }
}

#[test]
fn an_object_goes_without_waiting_for_answers_which_reach_their_clients_behind_it() {
    let _watchdog = watchdog(LIMIT);
    let (desk, has_gone) = (Desk::new(), Arc::new(AtomicBool::new(false)));
    let pair = Pair::of(&desk);
    let policies = [
        PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
        PoaPolicy::RequestProcessing(RequestProcessingPolicy::ServantManager),
    ];
    let (poa, clerk) = poa_of(&pair, "activated", &policies);
    let activator = Activator {
        desk: desk.clone(),
        has_gone: has_gone.clone(),
    };
    poa.set_servant_manager(ServantManager::Activator(Arc::new(activator)))
        .unwrap();
    let waits = clerk.sendp_wait_at("gate");
    until(|| desk.waiting() == 1);
    poa.deactivate_object(&"a clerk".into()).unwrap();
    until(|| has_gone.load(Ordering::Acquire));
    desk.open_gate("gate");
    let answered: Result<i32, SystemException> = waits.wait();
    assert_eq!(answered.unwrap(), 4);
    pair.end();
}
