//! Servant locators: a servant for each request.

use super::teller::policies::{MULTIPLE_ID, NON_RETAIN, SERVANT_MANAGER, USER_ID};
use super::teller::{Teller, World, saying, servant, telling};
use punctual::poa::{Cookie, Current, PoaError, ServantActivator, ServantLocator, ServantManager};
use punctual::stub::{Arc, DispatchError, Servant};
use punctual::{
    CompletionStatus, Interface, ObjectId, Poa, SystemException, SystemExceptionKind as Kind,
};
use std::sync::Mutex;
use std::sync::mpsc;

/// Servant locator that records its calls, and uses numbers as cookies.
#[derive(Default)]
struct Locator {
    record: Mutex<Vec<String>>,
    elsewhere: Mutex<Option<Teller>>,
    block: Mutex<Option<mpsc::Receiver<()>>>,
}

impl Locator {
    fn note(&self, what: String) -> usize {
        let mut record = self.record.lock().unwrap();
        record.push(what);
        record.len()
    }

    fn record(&self) -> Vec<String> {
        self.record.lock().unwrap().clone()
    }
}

fn exception(kind: Kind) -> DispatchError {
    SystemException::new(kind, 0, CompletionStatus::No).into()
}

impl ServantLocator for Locator {
    fn preinvoke(
        &self,
        id: &ObjectId,
        _: &Poa,
        operation: &str,
    ) -> Result<(Arc<dyn Servant>, Cookie), DispatchError> {
        let number = self.note(format!("before {id} {operation}"));
        let told = match id.to_string().as_str() {
            "nobody" => return Err(exception(Kind::ObjectNotExist)),
            "elsewhere" => {
                let to = self.elsewhere.lock().unwrap().clone().unwrap();
                return Err(DispatchError::forward(&to));
            }
            "panic before" => panic!("on purpose"),
            "panic" => telling(|| panic!("on purpose")),
            "block" => {
                let gate = self.block.lock().unwrap().take();
                gate.unwrap().recv().unwrap();
                saying("late")
            }
            _ => telling(|| Ok(Current.object_id().unwrap().to_string())),
        };
        Ok((servant(&told), Box::new(number)))
    }

    fn postinvoke(
        &self,
        id: &ObjectId,
        _: &Poa,
        operation: &str,
        cookie: Cookie,
        _: Arc<dyn Servant>,
    ) -> Result<(), DispatchError> {
        let cookie = cookie.downcast::<usize>().unwrap();
        self.note(format!("after {id} {operation} {cookie}"));
        match id.to_string().as_str() {
            "fail after" => Err(exception(Kind::NoPermission)),
            "panic after" => panic!("on purpose"),
            _ => Ok(()),
        }
    }
}

fn with(world: &World, locator: &Arc<Locator>) -> Poa {
    let policies = [SERVANT_MANAGER, NON_RETAIN, USER_ID, MULTIPLE_ID];
    let poa = world.poa("A", &policies);
    let manager = ServantManager::Locator(locator.clone());
    poa.set_servant_manager(manager).unwrap();
    poa
}

#[test]
fn each_request_is_located_and_its_cookie_comes_back() {
    let (world, locator) = (World::new(), Arc::new(Locator::default()));
    let poa = with(&world, &locator);
    let theirs = world.named(&poa, "ada");
    assert_eq!(theirs.tell().unwrap(), "ada");
    assert_eq!(theirs.tell_again().unwrap(), "again: ada");
    assert_eq!(
        locator.record(),
        [
            "before ada tell",
            "after ada tell 1",
            "before ada tell_again",
            "after ada tell_again 3",
        ]
    );
    assert_eq!(poa.active_objects(), 0);
}

#[test]
fn a_locator_that_fails_or_panics_hurts_its_own_request_alone() {
    let (world, locator) = (World::new(), Arc::new(Locator::default()));
    let poa = with(&world, &locator);
    let ada = world.named(&poa, "ada");
    for (id, kind) in [
        ("nobody", Kind::ObjectNotExist),
        ("panic before", Kind::Unknown),
        ("panic", Kind::Unknown),
        ("fail after", Kind::NoPermission),
        ("panic after", Kind::Unknown),
    ] {
        assert_eq!(world.named(&poa, id).fails(), kind, "{id}");
        assert_eq!(ada.tell().unwrap(), "ada");
    }
    // The locator is called even after the servant panicked.
    let record = locator.record();
    assert!(
        record
            .iter()
            .any(|what| what.starts_with("after panic tell")),
        "{record:?}"
    );
    poa.destroy(true, true).unwrap();
}

#[test]
fn a_locator_that_blocks_holds_up_its_own_request_alone() {
    let (world, locator) = (World::new(), Arc::new(Locator::default()));
    let poa = with(&world, &locator);
    let (open, gate) = mpsc::channel();
    *locator.block.lock().unwrap() = Some(gate);
    let (blocked, ada) = (world.named(&poa, "block"), world.named(&poa, "ada"));
    std::thread::scope(|scope| {
        let late = scope.spawn(|| blocked.tell().unwrap());
        while locator.record().is_empty() {
            crate::support::pause();
        }
        // Over the very connection on which the blocked request has come.
        assert_eq!(ada.tell().unwrap(), "ada");
        open.send(()).unwrap();
        assert_eq!(late.join().unwrap(), "late");
    });
}

#[test]
fn a_locator_may_send_a_request_elsewhere() {
    let (world, locator) = (World::new(), Arc::new(Locator::default()));
    let poa = with(&world, &locator);
    let there: Teller = world.root.activate(saying("there")).unwrap();
    *locator.elsewhere.lock().unwrap() = Some(there);
    assert_eq!(world.named(&poa, "elsewhere").tell().unwrap(), "there");
    assert_eq!(locator.record(), ["before elsewhere tell"]);
}

#[test]
fn what_every_object_answers_is_answered_for_located_ones_too() {
    let (world, locator) = (World::new(), Arc::new(Locator::default()));
    let poa = with(&world, &locator);
    // It reports nothing itself: the servant's operations would panic.
    let theirs = world.named(&poa, "panic");
    let theirs = theirs.as_object();
    assert!(theirs.is_a("IDL:test/Teller:1.0").unwrap());
    assert!(!theirs.non_existent().unwrap());
    assert!(
        world
            .named(&poa, "nobody")
            .as_object()
            .non_existent()
            .unwrap()
    );
}

struct Nothing;

impl ServantActivator for Nothing {
    fn incarnate(&self, _: &ObjectId, _: &Poa) -> Result<Arc<dyn Servant>, DispatchError> {
        Err(exception(Kind::ObjectNotExist))
    }

    fn etherealize(&self, _: &ObjectId, _: &Poa, _: Arc<dyn Servant>, _: bool, _: bool) {}
}

#[test]
fn an_activator_is_no_locator() {
    let world = World::new();
    let poa = world.poa("A", &[SERVANT_MANAGER, NON_RETAIN, USER_ID]);
    let set = poa.set_servant_manager(ServantManager::Activator(Arc::new(Nothing)));
    let Err(PoaError::System(exception)) = set else {
        panic!("{set:?}");
    };
    assert_eq!(exception.kind(), Kind::ObjAdapter);
}
