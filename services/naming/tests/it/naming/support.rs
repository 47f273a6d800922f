//! Shared code of the tests: a naming service and a root context, called by requests even in this
//! process.

#![allow(dead_code, reason = "no test uses all of it")]

use punctual::policy::Collocation;
use punctual::{Interface, ListenEndpoint, ObjectRef, Orb, OrbConfig, Poa, RootPoa};
use punctual_naming::cos_naming::{Name, NameComponent, NamingContextExt};
use punctual_naming::{NamingService, ServeOptions};

/// Returns an ORB that listens on TCP and sends even the calls to objects of its own process as
/// requests.
pub(crate) fn orb() -> Orb {
    orb_with(|_| {})
}

/// Creates an ORB as [`orb`] does, with further configuration.
pub(crate) fn orb_with(configure: impl FnOnce(&mut OrbConfig)) -> Orb {
    Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| config.collocation = Collocation::None)
        .configure(configure)
        .build()
        .unwrap()
}

pub(crate) fn root_poa(orb: &Orb) -> Poa {
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    poa
}

/// Naming service that is served by an ORB of its own, until dropped.
pub(crate) struct Served {
    pub(crate) orb: Orb,
    pub(crate) service: NamingService,
    pub(crate) root: NamingContextExt,
}

impl Served {
    pub(crate) fn new(service: &NamingService) -> Self {
        Self::with(service, ServeOptions::default())
    }

    pub(crate) fn with(service: &NamingService, options: ServeOptions) -> Self {
        Self::by(orb(), service, options)
    }

    pub(crate) fn by(orb: Orb, service: &NamingService, options: ServeOptions) -> Self {
        let root = service.serve(&root_poa(&orb), options).unwrap();
        orb.ior_table().unwrap().bind("NameService", &root).unwrap();
        let service = service.clone();
        Self { orb, service, root }
    }

    pub(crate) fn in_memory() -> Self {
        Self::new(&NamingService::in_memory().unwrap())
    }

    /// Returns the naming service's address as `:host:port`, for URLs.
    pub(crate) fn address(&self) -> String {
        let endpoints = self.orb.endpoints();
        format!(":{}", endpoints[0].place)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.orb.shutdown(true);
    }
}

/// Parses a stringified name.
pub(crate) fn name(text: &str) -> Name {
    let component = |one: punctual_ior::NameComponent| NameComponent {
        id: one.id,
        kind: one.kind,
    };
    let parts = punctual_ior::name_from_text(text).unwrap();
    parts.into_iter().map(component).collect()
}

/// Returns a reference to some object, which need not exist.
pub(crate) fn object(orb: &Orb, number: usize) -> ObjectRef {
    let text = format!("corbaloc:iiop:1.2@127.0.0.1:1/object{number}");
    orb.string_to_object(&text).unwrap()
}

/// Returns `true` if two references are to the same object.
pub(crate) fn same(one: &impl Interface, other: &impl Interface) -> bool {
    one.as_object().is_equivalent(other.as_object())
}
