//! A repository stays within its quota, regardless of the source of new definitions.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;

use punctual::SystemExceptionKind as Kind;
use punctual_ifr::corba::{ModuleDef, Repository};
use punctual_ifr::{InterfaceRepository, Quota, Refusal};
use support::{served, specification};

fn create(root: &Repository, number: usize) -> Result<Option<ModuleDef>, Kind> {
    let (id, name) = (format!("IDL:m{number}:1.0"), format!("m{number}"));
    let created = root.create_module(&id, &name, "1.0");
    created.map_err(|exception| exception.kind())
}

#[test]
fn definitions_beyond_the_number_are_refused_and_those_that_go_make_room() {
    let repository = InterfaceRepository::in_memory();
    repository.set_quota(Quota {
        definitions: 3,
        ..Quota::default()
    });
    let (poa, root) = served(&repository);
    let made: Vec<_> = (0..3)
        .map(|number| create(&root, number).unwrap().unwrap())
        .collect();
    assert_eq!(create(&root, 3).unwrap_err(), Kind::NoResources);
    assert_eq!(repository.list().len(), 3);
    assert!(root.lookup_id("IDL:m3:1.0").unwrap().is_none());
    made[0].destroy().unwrap();
    create(&root, 3).unwrap();
    // A whole file is loaded, or nothing of it.
    let two = specification("module a { struct s { long l; }; };");
    assert!(matches!(
        repository.load(&two),
        Err(Refusal::QuotaExceeded(_))
    ));
    assert_eq!(repository.list().len(), 3);
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn a_definition_may_not_grow_beyond_the_bytes_and_may_shrink_where_there_are_too_many() {
    let repository = InterfaceRepository::in_memory();
    let (poa, root) = served(&repository);
    let module = create(&root, 0).unwrap().unwrap();
    let bytes = |bytes| Quota {
        bytes,
        ..Quota::default()
    };
    repository.set_quota(bytes(1000));
    module.set_version(&"1".repeat(500)).unwrap();
    let refused = module.set_version(&"1".repeat(1000)).unwrap_err();
    assert_eq!(refused.kind(), Kind::NoResources);
    assert_eq!(module.version().unwrap().len(), 500);
    repository.set_quota(bytes(100));
    module.set_version(&"1".repeat(400)).unwrap();
    let refused = module.set_version(&"1".repeat(410)).unwrap_err();
    assert_eq!(refused.kind(), Kind::NoResources);
    poa.orb().shutdown(true).unwrap();
}
