//! The ORB's part: persistent POAs that register, and their references.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use punctual::poa::{
    DispatchError, Dispatched, IdAssignmentPolicy, LifespanPolicy, PoaPolicy, ServerCall,
};
use punctual::policy::Collocation;
use punctual::{Interface, ListenEndpoint, ObjectId, Orb, RootPoa, Servant, SystemException};
use punctual_host::Service;
use punctual_imr::LocatorService;
use punctual_imr::implementation_repository::{AdministrationServerIsRunningError, Locator};

use crate::idl::{Works, WorksServant};
use crate::support::{Served, client, key, served, socket, until};

struct Zero;

impl WorksServant for Zero {
    fn count(&self) -> Result<i32, SystemException> {
        Ok(0)
    }

    fn process(&self) -> Result<i32, SystemException> {
        Ok(0)
    }
}

const PERSISTENT: [PoaPolicy; 2] = [
    PoaPolicy::Lifespan(LifespanPolicy::Persistent),
    PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
];

fn server(repository: &str) -> Orb {
    let options = ["s", "-ORBUseImR", "1", "-ORBImplRepoServiceIOR", repository];
    let builder = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| config.collocation = Collocation::None);
    builder.init(options.map(str::to_owned)).unwrap().0
}

#[test]
fn a_persistent_poa_registers_when_it_is_activated_and_says_so_when_it_is_destroyed() {
    let served = Served::new();
    let orb = server(&served.reference());
    let root = orb.root_poa().unwrap();
    let _transient = root.create_poa("transient", None, &[]).unwrap();
    let poa = root.create_poa("plant", None, &PERSISTENT).unwrap();
    assert_eq!(served.service.servers(), 0);
    poa.manager().activate().unwrap();
    assert_ne!(served.locator.find("plant").unwrap().partial_ior, "");
    // One below an active manager registers at once.
    let _below = poa
        .create_poa("hall", Some(poa.manager()), &PERSISTENT)
        .unwrap();
    assert_ne!(served.locator.find("hall").unwrap().partial_ior, "");
    assert_eq!(served.service.servers(), 2);
    poa.destroy(true, true).unwrap();
    for name in ["plant", "hall"] {
        assert_eq!(served.locator.find(name).unwrap().partial_ior, "", "{name}");
    }
    orb.shutdown(true).unwrap();
}

#[test]
fn the_end_of_the_orb_is_told_for_all_of_its_poas() {
    let served = Served::new();
    let orb = server(&served.reference());
    let root = orb.root_poa().unwrap();
    for name in ["a", "b"] {
        let poa = root.create_poa(name, None, &PERSISTENT).unwrap();
        poa.manager().activate().unwrap();
        assert_ne!(served.locator.find(name).unwrap().partial_ior, "");
    }
    orb.shutdown(true).unwrap();
    for name in ["a", "b"] {
        assert_eq!(served.locator.find(name).unwrap().partial_ior, "");
    }
}

#[test]
fn references_of_persistent_objects_have_the_repositorys_endpoints_and_the_servers_key() {
    let served = Served::new();
    let orb = server(&served.reference());
    let poa = orb
        .root_poa()
        .unwrap()
        .create_poa("plant", None, &PERSISTENT)
        .unwrap();
    let works: Works = poa
        .activate_with_id(&ObjectId::from(&b"works"[..]), Zero)
        .unwrap();
    let endpoints = |object: &punctual::ObjectRef| {
        punctual::protocol::endpoints_of(&orb, object.ior())
            .into_iter()
            .map(|one| one.address)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        endpoints(works.as_object()),
        endpoints(served.locator.as_object())
    );
    assert_eq!(
        works.as_object().object_key().unwrap(),
        key("", "plant", "works")
    );
    assert_eq!(works.as_object().type_id(), Works::REPOSITORY_ID);
    // The adapter knows it as its own.
    assert_eq!(
        poa.reference_to_id(&works).unwrap(),
        ObjectId::from(&b"works"[..])
    );
    let made: Works = poa.id_to_reference(&ObjectId::from(&b"works"[..])).unwrap();
    assert_eq!(made, works);
    poa.manager().activate().unwrap();
    // The server itself calls it without a detour, and by the repository as text.
    assert_eq!(works.count().unwrap(), 0);
    let text = orb.object_to_string(&works).unwrap();
    let object = client().string_to_object(&text).unwrap();
    assert_eq!(Works::from_object(object).count().unwrap(), 0);
    orb.shutdown(true).unwrap();
}

#[test]
fn a_server_that_starts_before_the_repository_registers_when_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let serve = || {
        let service = LocatorService::in_memory();
        let (repository, locator) = served(&service, &[socket(folder.path())]);
        (service, repository, locator)
    };
    let end = |service: LocatorService, repository: Orb| {
        service.end_waiting();
        repository.shutdown(true).unwrap();
        service.stop();
    };
    // Its reference is the same at the same place.
    let (first, repository, locator) = serve();
    let text = repository.object_to_string(&locator).unwrap();
    end(first, repository);
    let orb = server(&text);
    let root = orb.root_poa().unwrap();
    let poa = root.create_poa("plant", None, &PERSISTENT).unwrap();
    poa.manager().activate().unwrap();
    let (second, repository, _) = serve();
    until(|| second.servers() == 1);
    orb.shutdown(true).unwrap();
    end(second, repository);
}

#[test]
fn without_a_repository_no_persistent_poa_is_made() {
    let orb = Orb::builder()
        .configure(|config| config.implementation_repository = true)
        .build()
        .unwrap();
    let refused = orb
        .root_poa()
        .unwrap()
        .create_poa("plant", None, &PERSISTENT)
        .unwrap_err();
    assert!(refused.to_string().contains("ImplRepoService"), "{refused}");
    orb.shutdown(true).unwrap();
}

#[test]
fn a_repository_may_take_only_servers_that_were_added() {
    let service = LocatorService::in_memory();
    service.set_added_only(true);
    let served = Served::serve(tempfile::tempdir().unwrap(), service);
    let refused = served
        .locator
        .server_is_running("plant", "corbaloc::127.0.0.1:1/", None);
    assert!(matches!(
        refused,
        Err(AdministrationServerIsRunningError::NotFound(_))
    ));
    served.add("plant", |_| {});
    served
        .locator
        .server_is_running("plant", "corbaloc::127.0.0.1:1/", None)
        .unwrap();
}

/// Repository that takes servers, and does not answer when they end.
#[derive(Clone, Default)]
struct Silent {
    running: Arc<AtomicUsize>,
    ending: Arc<AtomicUsize>,
    go_on: Arc<AtomicBool>,
}

impl Servant for Silent {
    fn repository_ids(&self) -> &'static [&'static str] {
        &["IDL:ImplementationRepository/Locator:1.0"]
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        match call.operation() {
            "server_is_running" => {
                self.running.fetch_add(1, Ordering::Relaxed);
            }
            "server_is_shutting_down" => {
                self.ending.fetch_add(1, Ordering::Relaxed);
                until(|| self.go_on.load(Ordering::Relaxed));
            }
            _ => return Err(call.bad_operation()),
        }
        call.reply(|_| Ok(()))
    }

    fn implementation(&self) -> &(dyn std::any::Any + Send + Sync) {
        self
    }
}

#[test]
fn a_repository_that_does_not_answer_is_waited_for_once_not_for_each_poa() {
    let folder = tempfile::tempdir().unwrap();
    let silent = Silent::default();
    let builder = Orb::builder().configure(|config| {
        config.collocation = Collocation::None;
        config.listen = vec![socket(folder.path())];
    });
    let repository = builder.build().unwrap();
    let root = repository.root_poa().unwrap();
    let id = root.activate_object(Arc::new(silent.clone())).unwrap();
    let object: Locator = root.id_to_reference(&id).unwrap();
    root.manager().activate().unwrap();
    let orb = server(&repository.object_to_string(&object).unwrap());
    let root = orb.root_poa().unwrap();
    for name in ["first", "second", "third"] {
        let poa = root.create_poa(name, None, &PERSISTENT).unwrap();
        poa.manager().activate().unwrap();
    }
    assert_eq!(silent.running.load(Ordering::Relaxed), 3);
    orb.shutdown(true).unwrap();
    assert_eq!(silent.ending.load(Ordering::Relaxed), 1);
    silent.go_on.store(true, Ordering::Relaxed);
    repository.shutdown(true).unwrap();
}
