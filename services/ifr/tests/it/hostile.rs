//! Malicious clients, and damaged files.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::any::TypeKind;
use punctual::policy::Collocation;
use punctual::{
    Any, Interface, ListenEndpoint, Orb, RootPoa, SystemException, SystemExceptionKind, TypeCode,
    minor,
};
use punctual_ifr::InterfaceRepository;
use punctual_ifr::corba::{
    Container, DefinitionKind, IdlType, PrimitiveKind, Repository, StructMember, UnionMember,
};
use support::{root_poa, specification};

fn refused<T: std::fmt::Debug>(result: Result<T, SystemException>) -> SystemExceptionKind {
    result.unwrap_err().kind()
}

fn long(root: &Repository) -> IdlType {
    let long = root.get_primitive(PrimitiveKind::PkLong).unwrap();
    IdlType::from_object(long.unwrap().into())
}

fn member(name: &str, of: &IdlType) -> StructMember {
    StructMember {
        name: name.into(),
        r#type: TypeCode::VOID,
        type_def: Some(of.clone()),
    }
}

fn alternative(name: &str, label: i32, of: &IdlType) -> UnionMember {
    UnionMember {
        name: name.into(),
        label: Any::new(&label).unwrap(),
        r#type: TypeCode::VOID,
        type_def: Some(of.clone()),
    }
}

#[test]
fn what_is_no_type_is_refused_and_leaves_nothing() {
    let poa = root_poa();
    let root = InterfaceRepository::in_memory().serve(&poa).unwrap();
    let long = long(&root);
    let one = root.create_struct("IDL:s:1.0", "s", "1.0", &[member("a", &long)]);
    let one = IdlType::from_object(one.unwrap().unwrap().into());
    let over_struct = root.create_union("IDL:u:1.0", "u", "1.0", Some(&one), &[]);
    assert_eq!(refused(over_struct), SystemExceptionKind::BadParam);
    let twice = [alternative("a", 1, &long), alternative("b", 1, &long)];
    let over_long = root.create_union("IDL:u:1.0", "u", "1.0", Some(&long), &twice);
    assert_eq!(refused(over_long), SystemExceptionKind::BadParam);
    let union = root.create_union("IDL:u:1.0", "u", "1.0", Some(&long), &twice[..1]);
    let union = union.unwrap().unwrap();
    assert_eq!(
        refused(union.set_members(&twice)),
        SystemExceptionKind::BadParam
    );
    assert_eq!(union.members().unwrap().len(), 1);
    assert_eq!(
        refused(root.create_fixed(99, -300)),
        SystemExceptionKind::BadParam
    );
    assert_eq!(
        refused(root.create_array(0, Some(&long))),
        SystemExceptionKind::BadParam
    );
    let all = root.describe_contents(DefinitionKind::DkAll, false, -1);
    assert_eq!(all.unwrap().len(), 2);
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn structs_that_hold_themselves_are_made_step_by_step_and_spoil_nothing_meanwhile() {
    let poa = root_poa();
    let root = InterfaceRepository::in_memory().serve(&poa).unwrap();
    let one = root.create_struct("IDL:s:1.0", "s", "1.0", &[]);
    let one = one.unwrap().unwrap();
    let some = root.create_sequence(0, Some(&IdlType::from_object(one.clone().into())));
    let some = IdlType::from_object(some.unwrap().unwrap().into());
    let alias = root.create_alias("IDL:ss:1.0", "ss", "1.0", Some(&some));
    let alias = alias.unwrap().unwrap();
    let all = root.describe_contents(DefinitionKind::DkAll, false, -1);
    assert_eq!(all.unwrap().len(), 2);
    assert_eq!(alias.r#type(), Ok(TypeCode::VOID));
    let alias = IdlType::from_object(alias.into());
    one.set_members(&[member("more", &alias)]).unwrap();
    assert_eq!(alias.r#type().unwrap().kind(), TypeKind::Alias);
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn names_are_words_that_can_be_shown() {
    let poa = root_poa();
    let repository = InterfaceRepository::in_memory();
    let root = repository.serve(&poa).unwrap();
    for name in ["", "a b", "a::b", "a\n", "\u{1b}[2J"] {
        let made = root.create_module("IDL:m:1.0", name, "1.0");
        assert_eq!(refused(made), SystemExceptionKind::BadParam, "{name:?}");
    }
    let made = root.create_module("IDL:m\u{1}:1.0", "m", "1.0");
    assert_eq!(refused(made), SystemExceptionKind::BadParam);
    let made = root.create_enum("IDL:e:1.0", "e", "1.0", &["a\u{7}".into()]);
    assert_eq!(refused(made), SystemExceptionKind::BadParam);
    assert_eq!(repository.list(), []);
    let sound = root.create_module("IDL:m:1.0", "m", "1.0");
    let sound = sound.unwrap().unwrap();
    assert_eq!(
        refused(sound.set_name("m\r")),
        SystemExceptionKind::BadParam
    );
    assert_eq!(
        refused(sound.set_id("IDL:\n:1.0")),
        SystemExceptionKind::BadParam
    );
    assert_eq!(
        refused(sound.set_version("\t")),
        SystemExceptionKind::BadParam
    );
    assert_eq!(sound.absolute_name().unwrap(), "::m");
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn sequences_in_sequences_end_in_a_refusal_and_not_in_what_cannot_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ifr.redb");
    let poa = root_poa();
    {
        let repository = InterfaceRepository::open(&path).unwrap();
        let root = repository.serve(&poa).unwrap();
        let mut deepest = long(&root);
        let refusal = loop {
            match root.create_sequence(0, Some(&deepest)) {
                Ok(next) => deepest = IdlType::from_object(next.unwrap().into()),
                Err(refusal) => break refusal,
            }
            assert_eq!(deepest.r#type().unwrap().kind(), TypeKind::Sequence);
        };
        assert_eq!(refusal.kind(), SystemExceptionKind::ImpLimit);
        let made = root.create_struct("IDL:s:1.0", "s", "1.0", &[member("a", &deepest)]);
        made.unwrap().unwrap();
        poa.orb().shutdown(true).unwrap();
    }
    drop(poa);
    assert_eq!(InterfaceRepository::open(&path).unwrap().list().len(), 1);
}

#[test]
fn readers_of_a_repository_cannot_change_it() {
    let poa = root_poa();
    let repository = InterfaceRepository::in_memory();
    let writers = poa.create_poa("writers", None, &[]).unwrap();
    writers.manager().activate().unwrap();
    let writable = repository.serve(&writers).unwrap();
    writable.create_module("IDL:m:1.0", "m", "1.0").unwrap();
    let root = repository.serve_read_only(&poa).unwrap();
    let no = SystemExceptionKind::NoPermission;
    assert_eq!(refused(root.create_module("IDL:n:1.0", "n", "1.0")), no);
    let contents = root.contents(DefinitionKind::DkAll, true).unwrap();
    let module = contents[0].clone().unwrap();
    assert_eq!(refused(module.set_name("n")), no);
    assert_eq!(refused(module.set_version("2.0")), no);
    assert_eq!(refused(module.destroy()), no);
    // Anonymous types are not stored.
    root.create_sequence(0, Some(&long(&root))).unwrap();
    assert_eq!(repository.list().len(), 1);
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn a_damaged_file_is_an_error_or_holds_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ifr.redb");
    let sound = InterfaceRepository::open(&path).unwrap();
    let first = specification("struct A { long a; }; interface I { void f(); };");
    sound.load(&first).unwrap();
    drop(sound);
    let whole = std::fs::read(&path).unwrap();
    let second = specification("struct B { long a; };");
    let mut refused = 0;
    let mut seed = 1_u64;
    for _ in 0..100 {
        let mut damaged = whole.clone();
        for _ in 0..4 {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let at = usize::try_from(seed >> 32).unwrap() % damaged.len().min(20_000);
            damaged[at] ^= 1 | seed.to_be_bytes()[4];
        }
        std::fs::write(&path, damaged).unwrap();
        match InterfaceRepository::open(&path) {
            Ok(opened) => drop(opened.load(&second)),
            Err(error) => {
                assert!(error.to_string().contains("cannot be opened"));
                refused += 1;
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn a_name_is_taken_in_its_scope_until_what_has_it_is_moved_or_gone() {
    let poa = root_poa();
    let root = InterfaceRepository::in_memory().serve(&poa).unwrap();
    let make = |id: &str, name: &str| root.create_enum(id, name, "1.0", &["a".into()]);
    let one = make("IDL:a:1.0", "Name").unwrap().unwrap();
    assert_eq!(
        refused(make("IDL:b:1.0", "NAME")),
        SystemExceptionKind::BadParam
    );
    // Its own name in another case is not taken by another.
    one.set_name("name").unwrap();
    one.set_name("other").unwrap();
    let two = make("IDL:b:1.0", "NAME").unwrap().unwrap();
    assert_eq!(
        refused(two.set_name("Other")),
        SystemExceptionKind::BadParam
    );
    one.destroy().unwrap();
    two.set_name("Other").unwrap();
    let found = root.lookup("other").unwrap().unwrap();
    assert_eq!(found.id().unwrap(), "IDL:b:1.0");
    assert_eq!(root.lookup("name"), Ok(None));
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn an_answer_without_room_among_the_data_of_all_peers_is_refused_before_it_is_made() {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| {
            config.collocation = Collocation::None;
            config.budgets.received = 1 << 20;
        })
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let labels: Vec<String> = (0..2000).map(|label| format!("e{label}")).collect();
    let uses: String = (0..40)
        .map(|number| format!("typedef E T{number}; "))
        .collect();
    let idl = format!(
        "enum E {{ {} }};\nmodule Types {{ {uses} }};",
        labels.join(", ")
    );
    let repository = InterfaceRepository::in_memory();
    repository.load(&specification(&idl)).unwrap();
    let root = repository.serve(&poa).unwrap();
    let types = root.lookup("Types").unwrap().unwrap();
    let types = Container::from_object(types.into());
    let few = types.describe_contents(DefinitionKind::DkAll, true, 5);
    assert_eq!(few.unwrap().len(), 5);
    let all = types.describe_contents(DefinitionKind::DkAll, true, -1);
    let refused = all.unwrap_err();
    let said = (refused.kind(), refused.minor());
    let wanted = (SystemExceptionKind::NoResources, minor::NO_ROOM_FOR_RESULTS);
    assert_eq!(said, wanted, "{refused}");
    // Nothing of it counts any more.
    let again = types.describe_contents(DefinitionKind::DkAll, true, 5);
    assert_eq!(again.unwrap().len(), 5);
    orb.shutdown(true).unwrap();
}
