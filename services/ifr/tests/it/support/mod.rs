//! Shared code of the tests: compiled IDL, and a repository's objects, called by requests even in
//! this process.

#![allow(dead_code, reason = "no test uses all of it")]

use punctual::policy::Collocation;
use punctual::{ListenEndpoint, Orb, Poa, RootPoa};
use punctual_idl::model::Specification;
use punctual_idl::{Failure, InMemory, Options, compile_source, diagnostic};
use punctual_ifr::InterfaceRepository;
use punctual_ifr::corba::Repository;

pub(crate) fn specification(idl: &str) -> Specification {
    let compiled = compile_source("test.idl", idl, &Options::default(), &InMemory::new());
    let problems = |failure: Failure| diagnostic::render(&failure.diagnostics, false);
    compiled.map_err(problems).unwrap().specification
}

/// Returns the root POA of an ORB whose own calls are sent as requests.
pub(crate) fn root_poa() -> Poa {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| config.collocation = Collocation::None)
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    poa
}

pub(crate) fn served(repository: &InterfaceRepository) -> (Poa, Repository) {
    let poa = root_poa();
    let root = repository.serve(&poa).unwrap();
    (poa, root)
}
