//! Changes of clients: access, metrics, many at once.

use std::sync::Barrier;

use punctual::policy::Collocation;
use punctual::{ListenEndpoint, Orb, RootPoa, SystemExceptionKind};
use punctual_host::Service;
use punctual_host::access::{Principal, Rules};
use punctual_host::metrics::Exposition;
use punctual_ifr::corba::Repository;
use punctual_ifr::{InterfaceRepository, RepositoryServer};

/// A repository that an ORB of its own serves, until this is dropped.
struct Served {
    orb: Orb,
    server: RepositoryServer,
    root: Repository,
}

impl Served {
    fn new(repository: &InterfaceRepository) -> Self {
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .configure(|config| config.collocation = Collocation::None)
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let server = RepositoryServer {
            repository: repository.clone(),
            is_writable: true,
        };
        let root = Service::serve(&server, &poa).unwrap();
        let root = punctual::Interface::from_object(root);
        Self { orb, server, root }
    }

    /// Returns the value of the metric with the given name.
    fn metric(&self, name: &str) -> u64 {
        let mut out = Exposition::of(RepositoryServer::NAME);
        self.server.metrics(&mut out);
        let text = out.into_text();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap().parse().unwrap()
    }

    fn create(&self, name: &str) -> Result<(), SystemExceptionKind> {
        let id = format!("IDL:{name}:1.0");
        let made = self.root.create_module(&id, name, "1.0");
        made.map(drop).map_err(|exception| exception.kind())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.orb.shutdown(true);
    }
}

#[test]
fn a_peer_changes_definitions_only_if_it_was_granted_and_reads_them_anyway() {
    let repository = InterfaceRepository::in_memory();
    let served = Served::new(&repository);
    assert_eq!(served.create("before"), Ok(()));
    let mut rules = Rules::default();
    rules.grant((), "10.0.0.0/8".parse().unwrap());
    repository.set_writers(rules.clone());
    assert_eq!(
        served.create("refused"),
        Err(SystemExceptionKind::NoPermission)
    );
    assert!(served.root.lookup_id("IDL:before:1.0").unwrap().is_some());
    let change = served.root.lookup("before").unwrap().unwrap();
    let refused = change.set_version("2.0").unwrap_err();
    assert_eq!(refused.kind(), SystemExceptionKind::NoPermission);
    rules.grant((), "127.0.0.1".parse::<Principal>().unwrap());
    repository.set_writers(rules);
    assert_eq!(served.create("after"), Ok(()));
    assert_eq!(repository.list().len(), 2);
}

#[test]
fn changes_of_many_clients_at_once_are_all_kept_and_counted() {
    const CLIENTS: usize = 8;
    const EACH: usize = 10;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ifr.redb");
    let repository = InterfaceRepository::open(&path).unwrap();
    let served = Served::new(&repository);
    let begin = Barrier::new(CLIENTS);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (served, begin) = (&served, &begin);
            scope.spawn(move || {
                begin.wait();
                for number in 0..EACH {
                    served.create(&format!("m{client}_{number}")).unwrap();
                }
            });
        }
    });
    assert_eq!(served.create("m0_0"), Err(SystemExceptionKind::BadParam));
    let all = (CLIENTS * EACH) as u64;
    assert_eq!(served.metric("punctual_ifr_change_seconds_count"), all + 1);
    assert_eq!(served.metric("punctual_ifr_change_refused_total"), 1);
    let commits = served.metric("punctual_ifr_commit_seconds_count");
    assert!(commits >= 1 && commits <= all, "{commits}");
    assert_eq!(served.metric("punctual_ifr_definitions"), all);
    assert!(served.metric("punctual_ifr_store_bytes") > 0);
    let listed = repository.list();
    drop(served);
    drop(repository);
    assert_eq!(InterfaceRepository::open(&path).unwrap().list(), listed);
    assert_eq!(listed.len() as u64, all);
}
