//! Priorities of single objects (RTPortableServer::POA).

use crate::lanes::{named, propagated};
use crate::setting::{LIMIT, Server, at, client, echo, on_a_thread, ordinary};
use crate::support::{Echo, watchdog};
use punctual::poa::{
    IdAssignmentPolicy, IdUniquenessPolicy, PoaError, PoaPolicy, RequestProcessingPolicy,
    ServantManager, ServantRetentionPolicy,
};
use punctual::rt::{Priority, PriorityModel, PriorityModelPolicy, Propagated, RtOrb, RtPoa};
use punctual::stub::{Arc, Implements};
use punctual::{
    Interface, ObjectId, ObjectRef, Orb, Poa, Servant, SystemExceptionKind as Kind, minor,
};
use std::sync::Mutex;

const USER_ID: PoaPolicy = PoaPolicy::IdAssignment(IdAssignmentPolicy::User);
const MULTIPLE_ID: PoaPolicy = PoaPolicy::IdUniqueness(IdUniquenessPolicy::Multiple);

/// Makes a server on Unix sockets of three priorities, and a POA with SERVER_DECLARED at the lowest
/// of them.
fn server(rt: &Arc<RtOrb>) -> Server {
    Server::at(
        rt,
        &[
            "uiop://|priority=10",
            "uiop://|priority=50",
            "uiop://|priority=90",
        ],
    )
}

impl Server {
    /// Makes a POA with the priority model SERVER_DECLARED and priority 10.
    fn declaring(&self, name: &str, others: &[PoaPolicy]) -> Poa {
        let model = PoaPolicy::of(PriorityModelPolicy::server_declared(at(10)));
        let policies = [&[model][..], others].concat();
        self.poa(name, &policies).unwrap()
    }

    fn servant(&self) -> Arc<dyn Servant> {
        Echo::servant(self.noting.clone())
    }

    fn text(&self, echo: &Echo) -> String {
        self.orb.object_to_string(echo.as_object()).unwrap()
    }

    /// Returns the priorities of an upcall for a client in another ORB, and for one in the server's
    /// ORB.
    fn served_at(&self, client: &Orb, reference: &str) -> [Option<i16>; 2] {
        [client, &self.orb].map(|orb| {
            echo(orb, reference).long(1).unwrap();
            self.noting.last().corba
        })
    }
}

/// Returns the priority model policy that a reference carries.
fn published_model(object: &ObjectRef) -> PriorityModelPolicy {
    object.policy().unwrap().unwrap()
}

fn kind_of<T: std::fmt::Debug>(result: Result<T, PoaError>) -> (Kind, u32) {
    match result.unwrap_err() {
        PoaError::System(exception) => (exception.kind(), exception.minor()),
        other => panic!("{other}"),
    }
}

const OTHER_PRIORITY: (Kind, u32) = (Kind::BadInvOrder, minor::omg(1));

#[test]
fn an_object_has_a_priority_of_its_own_in_its_references_and_its_upcalls() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let (server, client) = (server(&rt), client(&rt));
    let poa = server.declaring("declaring", &[MULTIPLE_ID]);
    let id = poa
        .activate_object_with_priority(server.servant(), at(50))
        .unwrap();
    let urgent: Echo = poa.id_to_reference(&id).unwrap();
    let plain: Echo = poa.activate(server.noting.clone()).unwrap();
    for (object, priority) in [(urgent, 50), (plain, 10)] {
        let reference = server.text(&object);
        assert_eq!(named(&client, &reference), [format!("uiop {priority}")]);
        let model = published_model(client.string_to_object(&reference).unwrap().as_object());
        assert_eq!(model, PriorityModelPolicy::server_declared(at(priority)));
        assert_eq!(server.served_at(&client, &reference), [Some(priority); 2]);
    }
    // For ids that the application chooses, too.
    let poa = server.declaring("user", &[USER_ID, MULTIPLE_ID]);
    let id = ObjectId::from("valve");
    poa.activate_object_with_id_and_priority(&id, server.servant(), at(90))
        .unwrap();
    let object: Echo = poa.create_reference_with_id(&id).unwrap();
    let reference = server.text(&object);
    assert_eq!(named(&client, &reference), ["uiop 90"]);
    assert_eq!(server.served_at(&client, &reference), [Some(90); 2]);
    // Only while it is active: then it is an ordinary object of the POA again.
    poa.deactivate_object(&id).unwrap();
    poa.activate_object_with_id(&id, server.servant()).unwrap();
    let object: Echo = poa.id_to_reference(&id).unwrap();
    assert_eq!(
        server.served_at(&client, &server.text(&object)),
        [Some(10); 2]
    );
}

#[test]
fn an_object_has_the_priority_that_references_to_it_were_made_with_however_often_it_is_activated() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let (server, client) = (server(&rt), client(&rt));
    let poa = server.declaring("declaring", &[]);
    let created: Echo = poa.create_reference_with_priority(at(50)).unwrap();
    assert_eq!(named(&client, &server.text(&created)), ["uiop 50"]);
    let id = poa.reference_to_id(&created).unwrap();
    for _ in 0..2 {
        poa.activate_object_with_id(&id, server.servant()).unwrap();
        let found: Echo = poa.id_to_reference(&id).unwrap();
        assert_eq!(published_model(found.as_object()).server_priority, at(50));
        assert_eq!(
            server.served_at(&client, &server.text(&created)),
            [Some(50); 2]
        );
        poa.deactivate_object(&id).unwrap();
    }
    poa.activate_object_with_id_and_priority(&id, server.servant(), at(50))
        .unwrap();
    assert_eq!(
        server.served_at(&client, &server.text(&created)),
        [Some(50); 2]
    );
}

#[test]
fn objects_of_servant_managers_and_default_servants_have_the_priorities_of_their_references() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let (server, client) = (server(&rt), client(&rt));
    let non_retain = PoaPolicy::ServantRetention(ServantRetentionPolicy::NonRetain);
    let manager = PoaPolicy::RequestProcessing(RequestProcessingPolicy::ServantManager);
    let default = PoaPolicy::RequestProcessing(RequestProcessingPolicy::DefaultServant);
    let activator = server.declaring("activator", &[USER_ID, MULTIPLE_ID, manager.clone()]);
    let servant = server.servant();
    let made = servant.clone();
    let manager_of = ServantManager::activator(move |_, _| Ok(made.clone()));
    activator.set_servant_manager(manager_of).unwrap();
    let locator = server.declaring("locator", &[USER_ID, non_retain.clone(), manager]);
    let made = servant.clone();
    let manager_of = ServantManager::locator(move |_, _, _| Ok(made.clone()));
    locator.set_servant_manager(manager_of).unwrap();
    let by_default = server.declaring("default", &[USER_ID, MULTIPLE_ID, non_retain, default]);
    by_default.set_servant(servant).unwrap();
    for poa in [activator, locator, by_default] {
        let name = poa.name().to_owned();
        let reference = |id: &str, priority: Option<Priority>| -> String {
            let id = ObjectId::from(id);
            let object: Echo = match priority {
                Some(priority) => poa.create_reference_with_id_and_priority(&id, priority),
                None => poa.create_reference_with_id(&id),
            }
            .unwrap();
            server.text(&object)
        };
        let plain = reference("plain", None);
        assert_eq!(server.served_at(&client, &plain), [Some(10); 2], "{name}");
        let urgent = reference("urgent", Some(at(90)));
        assert_eq!(named(&client, &urgent), ["uiop 90"], "{name}");
        assert_eq!(server.served_at(&client, &urgent), [Some(90); 2], "{name}");
        // References that are made of it afterwards have it, too.
        assert_eq!(
            named(&client, &reference("urgent", None)),
            ["uiop 90"],
            "{name}"
        );
    }
}

#[test]
fn an_object_has_one_priority() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = server(&rt);
    let poa = server.declaring("declaring", &[USER_ID, MULTIPLE_ID]);
    let (id, active) = (ObjectId::from("made"), ObjectId::from("active"));
    let made = |id, priority| poa.create_reference_with_id_and_priority::<Echo>(id, at(priority));
    made(&id, 50).unwrap();
    made(&id, 50).unwrap();
    assert_eq!(kind_of(made(&id, 90)), OTHER_PRIORITY);
    let activated =
        |id, priority| poa.activate_object_with_id_and_priority(id, server.servant(), at(priority));
    assert_eq!(kind_of(activated(&id, 90)), OTHER_PRIORITY);
    activated(&id, 50).unwrap();
    // Errors of the adapter's other checks come first.
    for priority in [50, 90] {
        assert_eq!(activated(&id, priority), Err(PoaError::ObjectAlreadyActive));
    }
    poa.activate_object_with_id(&active, server.servant())
        .unwrap();
    assert_eq!(kind_of(made(&active, 50)), OTHER_PRIORITY);
    made(&active, 10).unwrap();
    let unique = server.declaring("unique", &[]);
    let servant = server.servant();
    unique
        .activate_object_with_priority(servant.clone(), at(50))
        .unwrap();
    let again = unique.activate_object_with_priority(servant, at(90));
    assert_eq!(again, Err(PoaError::ServantAlreadyActive));
    assert_eq!(
        unique
            .create_reference_with_id_and_priority::<Echo>(&id, at(50))
            .unwrap_err()
            .to_string(),
        unique
            .create_reference_with_id::<Echo>(&id)
            .unwrap_err()
            .to_string()
    );
}

#[test]
fn a_priority_that_nothing_serves_and_one_beside_another_model_are_refused() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = server(&rt);
    let poa = server.declaring("declaring", &[]);
    let refused = poa
        .activate_object_with_priority(server.servant(), at(60))
        .unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("no endpoint serves priority 60"),
        "{refused}"
    );
    assert_eq!(kind_of(Err::<(), _>(refused)).0, Kind::BadParam);
    let created = poa.create_reference_with_priority::<Echo>(at(60));
    assert_eq!(kind_of(created).0, Kind::BadParam);
    assert_eq!(poa.active_objects(), 0);
    let none = server.poa("none", &[]).unwrap();
    let clients = server
        .poa("clients", &[PoaPolicy::of(propagated())])
        .unwrap();
    let id = ObjectId::from("valve");
    for poa in [none, clients] {
        let wrong = PoaError::WrongPolicy("SERVER_DECLARED");
        let servant = server.servant();
        assert_eq!(
            poa.activate_object_with_priority(servant.clone(), at(10)),
            Err(wrong.clone())
        );
        let with_id = poa.activate_object_with_id_and_priority(&id, servant, at(10));
        assert_eq!(with_id, Err(wrong.clone()));
        assert_eq!(
            poa.create_reference_with_priority::<Echo>(at(10)),
            Err(wrong.clone())
        );
        let with_id = poa.create_reference_with_id_and_priority::<Echo>(&id, at(10));
        assert_eq!(with_id, Err(wrong));
    }
}

#[test]
fn a_priority_that_the_mapping_lacks_is_refused() {
    let _watchdog = watchdog(LIMIT);
    let config = punctual::rt::RtConfig {
        policy: punctual::rt::NativePolicy::Other,
        mapping: punctual::rt::Mapping::Custom(Arc::new(UpTo(100))),
        ..punctual::rt::RtConfig::default()
    };
    let rt = RtOrb::new(config).unwrap();
    let server = Server::new(&rt);
    let poa = server.declaring("declaring", &[]);
    poa.activate_object_with_priority(server.servant(), at(100))
        .unwrap();
    let refused = poa
        .activate_object_with_priority(server.servant(), at(101))
        .unwrap_err();
    assert!(
        refused.to_string().contains("no native priority for 101"),
        "{refused}"
    );
    assert_eq!(kind_of(Err::<(), _>(refused)).0, Kind::BadParam);
}

/// Priority mapping that has no native priority above this one.
#[derive(Debug)]
struct UpTo(i16);

impl punctual::rt::PriorityMapping for UpTo {
    fn to_native(&self, priority: Priority) -> Option<i32> {
        (priority.get() <= self.0).then_some(0)
    }

    fn to_corba(&self, _: i32) -> Option<Priority> {
        Some(Priority::MIN)
    }
}

#[test]
fn the_lane_of_an_objects_priority_serves_it_without_a_change_of_priority() {
    let _watchdog = watchdog(LIMIT);
    let Some(of_server) = crate::setting::fifo(Propagated::default()) else {
        return;
    };
    let (server, client) = (server(&of_server), client(&ordinary(Propagated::default())));
    let poa = server.declaring("declaring", &[]);
    let id = poa
        .activate_object_with_priority(server.servant(), at(50))
        .unwrap();
    let object: Echo = poa.id_to_reference(&id).unwrap();
    let reference = server.text(&object);
    let scheduled = Mutex::new(Vec::new());
    on_a_thread(|| {
        for _ in 0..3 {
            echo(&client, &reference).long(1).unwrap();
            scheduled
                .lock()
                .unwrap()
                .push(server.noting.last().scheduled);
        }
    });
    assert_eq!(scheduled.into_inner().unwrap(), [(1, 50); 3]);
    assert_eq!(of_server.native_changes(), 0);
    assert_eq!(
        published_model(object.as_object()).model,
        PriorityModel::ServerDeclared
    );
}
