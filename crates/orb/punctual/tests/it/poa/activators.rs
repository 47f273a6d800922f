//! Servant activators: servants that are made when their objects are first called, and given back.

use super::teller::policies::{MULTIPLE_ID, SERVANT_MANAGER, USER_ID};
use super::teller::{Teller, TellerImpl, World, saying, servant, telling};
use punctual::poa::{PoaError, PoaPolicy, ServantActivator, ServantManager};
use punctual::stub::{Arc, DispatchError, Servant};
use punctual::{ObjectId, Poa, SystemException, SystemExceptionKind as Kind};
use std::sync::Mutex;
use std::sync::mpsc;

/// Servant activator whose servants return their ids, with some special ids; records its calls.
#[derive(Default)]
struct Activator {
    record: Mutex<Vec<String>>,
    shared: Option<Arc<TellerImpl>>,
    elsewhere: Mutex<Option<Teller>>,
}

impl Activator {
    fn note(&self, what: String) {
        self.record.lock().unwrap().push(what);
    }

    fn record(&self) -> Vec<String> {
        self.record.lock().unwrap().clone()
    }

    /// Waits until the activator has recorded at least this number of entries, and returns them.
    fn wait_for(&self, entries: usize) -> Vec<String> {
        while self.record.lock().unwrap().len() < entries {
            crate::support::pause();
        }
        self.record()
    }
}

impl ServantActivator for Activator {
    fn incarnate(&self, id: &ObjectId, poa: &Poa) -> Result<Arc<dyn Servant>, DispatchError> {
        self.note(format!("incarnate {id} in {}", poa.name()));
        match id.to_string().as_str() {
            "nobody" => Err(DispatchError::System(SystemException::new(
                Kind::ObjectNotExist,
                0,
                punctual::CompletionStatus::No,
            ))),
            "panic" => panic!("on purpose"),
            "elsewhere" => {
                let to = self.elsewhere.lock().unwrap().clone().unwrap();
                Err(DispatchError::forward(&to))
            }
            name => Ok(match &self.shared {
                Some(shared) => servant(shared),
                None => servant(&saying(name)),
            }),
        }
    }

    fn etherealize(
        &self,
        id: &ObjectId,
        _: &Poa,
        _: Arc<dyn Servant>,
        cleanup_in_progress: bool,
        remaining_activations: bool,
    ) {
        self.note(format!(
            "etherealize {id} {cleanup_in_progress} {remaining_activations}"
        ));
        assert!(id.to_string() != "bomb", "on purpose");
    }
}

fn with(world: &World, activator: &Arc<Activator>, more: &[PoaPolicy]) -> Poa {
    let policies = [&[SERVANT_MANAGER, USER_ID], more].concat();
    let poa = world.poa("A", &policies);
    let manager = ServantManager::Activator(activator.clone());
    poa.set_servant_manager(manager).unwrap();
    poa
}

#[test]
fn an_object_is_incarnated_once_and_etherealized_when_it_is_deactivated() {
    let (world, activator) = (World::new(), Arc::new(Activator::default()));
    let poa = with(&world, &activator, &[]);
    let theirs = world.named(&poa, "ada");
    for _ in 0..3 {
        assert_eq!(theirs.tell().unwrap(), "ada");
    }
    assert_eq!(activator.record(), ["incarnate ada in A"]);
    assert_eq!(poa.active_objects(), 1);
    poa.deactivate_object(&"ada".into()).unwrap();
    assert_eq!(
        activator.record(),
        ["incarnate ada in A", "etherealize ada false false"]
    );
    assert_eq!(theirs.tell().unwrap(), "ada");
    assert_eq!(activator.record().len(), 3);
}

#[test]
fn objects_that_many_call_at_once_are_incarnated_once_each() {
    let (world, activator) = (World::new(), Arc::new(Activator::default()));
    let poa = with(&world, &activator, &[]);
    let theirs: Vec<Teller> = ["a", "b"].map(|id| world.named(&poa, id)).into();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let theirs = &theirs[number % 2];
            scope.spawn(move || theirs.tell().unwrap());
        }
    });
    let mut record = activator.record();
    record.sort();
    assert_eq!(record, ["incarnate a in A", "incarnate b in A"]);
}

#[test]
fn an_activator_may_refuse_panic_or_send_elsewhere_and_hurts_that_request_alone() {
    let (world, activator) = (World::new(), Arc::new(Activator::default()));
    let poa = with(&world, &activator, &[]);
    let there: Teller = world.root.activate(saying("there")).unwrap();
    *activator.elsewhere.lock().unwrap() = Some(there);
    assert_eq!(world.named(&poa, "nobody").fails(), Kind::ObjectNotExist);
    assert_eq!(world.named(&poa, "panic").fails(), Kind::Unknown);
    assert_eq!(world.named(&poa, "elsewhere").tell().unwrap(), "there");
    assert_eq!(world.named(&poa, "ada").tell().unwrap(), "ada");
    // No call has to wait for the one that panicked.
    assert_eq!(world.named(&poa, "panic").fails(), Kind::Unknown);
}

#[test]
fn an_object_that_was_deactivated_in_its_upcall_is_incarnated_after_it_is_etherealized() {
    let (world, activator) = (World::new(), Arc::new(Activator::default()));
    let poa = with(&world, &activator, &[]);
    let (entered, has_entered) = mpsc::channel();
    let (leave, may_leave) = mpsc::channel::<()>();
    let (inside, may_leave) = (poa.clone(), Mutex::new(may_leave));
    let slow = telling(move || {
        inside.deactivate_object(&"ada".into())?;
        entered.send(()).unwrap();
        may_leave.lock().unwrap().recv().unwrap();
        Ok("slow".to_owned())
    });
    poa.activate_object_with_id(&"ada".into(), servant(&slow))
        .unwrap();
    let theirs = world.named(&poa, "ada");
    std::thread::scope(|scope| {
        let first = scope.spawn(|| theirs.tell().unwrap());
        has_entered.recv().unwrap();
        let second = scope.spawn(|| theirs.tell().unwrap());
        assert!(activator.record().is_empty());
        leave.send(()).unwrap();
        assert_eq!(first.join().unwrap(), "slow");
        assert_eq!(second.join().unwrap(), "ada");
    });
    assert_eq!(
        activator.record(),
        ["etherealize ada false false", "incarnate ada in A"]
    );
}

#[test]
fn a_servant_of_many_objects_is_etherealized_for_each_and_told_whether_it_has_others() {
    let world = World::new();
    let activator = Arc::new(Activator {
        shared: Some(super::teller::telling_ids()),
        ..Activator::default()
    });
    let poa = with(&world, &activator, &[MULTIPLE_ID]);
    for id in ["a", "b"] {
        assert_eq!(world.named(&poa, id).tell().unwrap(), id);
    }
    poa.deactivate_object(&"a".into()).unwrap();
    poa.deactivate_object(&"b".into()).unwrap();
    let record = activator.record();
    assert_eq!(
        record[2..],
        ["etherealize a false true", "etherealize b false false"]
    );
}

#[test]
fn a_shared_servant_is_refused_where_ids_are_unique() {
    let world = World::new();
    let activator = Arc::new(Activator {
        shared: Some(saying("shared")),
        ..Activator::default()
    });
    let poa = with(&world, &activator, &[]);
    assert_eq!(world.named(&poa, "a").tell().unwrap(), "shared");
    assert_eq!(world.named(&poa, "b").fails(), Kind::ObjAdapter);
    assert_eq!(world.named(&poa, "a").tell().unwrap(), "shared");
}

#[test]
fn destruction_etherealizes_all_objects_or_none_as_it_is_told() {
    for (etherealize, expected) in [(true, 4), (false, 2)] {
        let (world, activator) = (World::new(), Arc::new(Activator::default()));
        let poa = with(&world, &activator, &[]);
        for id in ["a", "b"] {
            world.named(&poa, id).tell().unwrap();
        }
        poa.destroy(etherealize, true).unwrap();
        let record = activator.record();
        assert_eq!(record.len(), expected, "{record:?}");
        if etherealize {
            assert!(record.contains(&"etherealize a true false".to_owned()));
        }
    }
}

#[test]
fn deactivation_of_the_manager_etherealizes_as_it_is_told() {
    for (etherealize, expected) in [(true, 2), (false, 1)] {
        let (world, activator) = (World::new(), Arc::new(Activator::default()));
        let manager = world
            .root
            .manager_factory()
            .create_poa_manager("own")
            .unwrap();
        manager.activate().unwrap();
        let policies = [SERVANT_MANAGER, USER_ID];
        let poa = world
            .root
            .create_poa("A", Some(&manager), &policies)
            .unwrap();
        poa.set_servant_manager(ServantManager::Activator(activator.clone()))
            .unwrap();
        world.named(&poa, "a").tell().unwrap();
        manager.deactivate(etherealize, true).unwrap();
        assert_eq!(activator.wait_for(expected).len(), expected);
    }
}

#[test]
fn an_activator_that_panics_in_etherealize_stops_nothing() {
    let (world, activator) = (World::new(), Arc::new(Activator::default()));
    let poa = with(&world, &activator, &[]);
    let theirs = world.named(&poa, "bomb");
    assert_eq!(theirs.tell().unwrap(), "bomb");
    poa.deactivate_object(&"bomb".into()).unwrap();
    assert_eq!(theirs.tell().unwrap(), "bomb");
    poa.destroy(true, true).unwrap();
}

#[test]
fn an_adapter_takes_one_servant_manager_of_the_right_kind() {
    let (world, activator) = (World::new(), Arc::new(Activator::default()));
    let poa = world.poa("A", &[SERVANT_MANAGER, USER_ID]);
    assert!(poa.servant_manager().unwrap().is_none());
    // Without an activator no call is served.
    assert_eq!(world.named(&poa, "ada").fails(), Kind::ObjAdapter);
    let manager = ServantManager::Activator(activator);
    poa.set_servant_manager(manager.clone()).unwrap();
    assert!(poa.servant_manager().unwrap().is_some());
    let Err(PoaError::System(again)) = poa.set_servant_manager(manager.clone()) else {
        panic!("set twice");
    };
    assert_eq!(again.kind(), Kind::BadInvOrder);
    let plain = world.poa("plain", &[]).set_servant_manager(manager);
    assert_eq!(plain, Err(PoaError::WrongPolicy("USE_SERVANT_MANAGER")));
}

#[test]
fn a_closure_is_an_activator_and_one_that_panics_hurts_that_request_alone() {
    let world = World::new();
    let poa = world.poa("A", &[SERVANT_MANAGER, USER_ID]);
    let closure = ServantManager::activator(|id, poa| match id.to_string().as_str() {
        "panic" => panic!("on purpose"),
        "nobody" => Err(Kind::ObjectNotExist.because("there is none").into()),
        // An exception of the POA is an answer, too: this one has servants of its own.
        "default" => {
            poa.set_servant(servant(&saying("default")))?;
            Ok(servant(&saying("default")))
        }
        name => Ok(servant(&saying(name))),
    });
    poa.set_servant_manager(closure).unwrap();
    let ada = world.named(&poa, "ada");
    assert_eq!(world.named(&poa, "panic").fails(), Kind::Unknown);
    assert_eq!(world.named(&poa, "nobody").fails(), Kind::ObjectNotExist);
    assert_eq!(world.named(&poa, "default").fails(), Kind::InvPolicy);
    assert_eq!(ada.tell().unwrap(), "ada");
    // By default nothing is done when a servant ends.
    poa.deactivate_object(&"ada".into()).unwrap();
    assert_eq!(ada.tell().unwrap(), "ada");
}
