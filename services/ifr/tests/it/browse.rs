//! A repository that was loaded from IDL, browsed by requests.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual::any::TypeKind;
use punctual::{Any, Interface, ObjectRef, SystemExceptionKind, TypeCode};
use punctual_ifr::InterfaceRepository;
use punctual_ifr::corba::{
    AliasDef, AttributeDescription, AttributeMode, ConstantDescription, DefinitionKind,
    InterfaceDef, ModuleDef, OperationDescription, OperationMode, ParameterMode, PrimitiveKind,
    StructDef, UnionDef, ValueDef,
};
use support::{served, specification};

const IDL: &str = r#"
#pragma prefix "example.com"
typedef fixed<5,2> Price;
module shop {
  const unsigned short LIMIT = 12;
  enum Colour { red, green };
  typedef sequence<string<8>, 5> Labels;
  typedef double Grid[2][3];
  struct Item { long number; Labels tags; sequence<Item> parts; };
  union Choice switch (Colour) { case red: long price; default: string why; };
  exception Unknown { string name; };
  interface Base { readonly attribute Colour paint; };
  interface Store : Base {
    attribute short level;
    Item find(in string name, inout Choice how, out Price cost) raises (Unknown)
      context ("shop.*");
    oneway void note(in any what);
    struct Inside { octet o; };
  };
  abstract valuetype Shape { double area(); };
  valuetype Circle : Shape supports Base { public double radius; private Item hidden;
    factory make(in double r); };
};
"#;

fn loaded() -> InterfaceRepository {
    let repository = InterfaceRepository::in_memory();
    repository.load(&specification(IDL)).unwrap();
    repository
}

fn narrowed<I: Interface>(object: Option<impl Into<ObjectRef>>) -> I {
    let object: ObjectRef = object.expect("nil").into();
    assert!(object.is_a(I::REPOSITORY_ID).unwrap(), "{object:?}");
    I::from_object(object)
}

#[test]
fn definitions_are_found_by_scoped_name_and_by_id() {
    let repository = loaded();
    let (poa, root) = served(&repository);
    let item: StructDef = narrowed(root.lookup("::shop::Item").unwrap());
    assert_eq!(item.absolute_name().unwrap(), "::shop::Item");
    assert_eq!(item.id().unwrap(), "IDL:example.com/shop/Item:1.0");
    assert_eq!(item.version().unwrap(), "1.0");
    let by_id = root.lookup_id("IDL:example.com/shop/Item:1.0").unwrap();
    assert!(ObjectRef::from(by_id.unwrap()).is_equivalent(&item.clone().into()));
    let shop: ModuleDef = narrowed(root.lookup("shop").unwrap());
    let store: InterfaceDef = narrowed(shop.lookup("Store").unwrap());
    // Inherited names are found as well.
    let colour = store.lookup("paint").unwrap().unwrap();
    assert_eq!(colour.def_kind(), Ok(DefinitionKind::DkAttribute));
    assert_eq!(root.lookup("shop::Nothing"), Ok(None));
    assert_eq!(root.lookup_id("IDL:nothing:1.0"), Ok(None));
    let defined_in = item.defined_in().unwrap().unwrap();
    assert_eq!(defined_in.def_kind(), Ok(DefinitionKind::DkModule));
    assert!(item.containing_repository().unwrap().is_some());
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn contents_are_limited_by_kind_and_inheritance() {
    let repository = loaded();
    let (poa, root) = served(&repository);
    let store: InterfaceDef = narrowed(root.lookup("shop::Store").unwrap());
    let names = |kind, exclude| {
        let contents = store.contents(kind, exclude).unwrap();
        let name = |one: &Option<punctual_ifr::corba::Contained>| one.as_ref().unwrap().name();
        contents
            .iter()
            .map(|one| name(one).unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(DefinitionKind::DkAll, true),
        ["level", "find", "note", "Inside"]
    );
    assert_eq!(
        names(DefinitionKind::DkAttribute, false),
        ["level", "paint"]
    );
    let everywhere = root.lookup_name("inside", -1, DefinitionKind::DkStruct, true);
    assert_eq!(everywhere.unwrap().len(), 1);
    let two_levels = root.lookup_name("inside", 2, DefinitionKind::DkAll, true);
    assert_eq!(two_levels.unwrap().len(), 0);
    let described = root
        .describe_contents(DefinitionKind::DkAll, true, 1)
        .unwrap();
    assert_eq!(described.len(), 1);
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn types_have_the_type_codes_that_the_compiler_gives_them() {
    let repository = loaded();
    let spec = specification(IDL);
    let (poa, root) = served(&repository);
    for declaration in &spec.declarations {
        let Some(expected) = punctual_idl_describe::type_code(&spec, declaration.id) else {
            continue;
        };
        let found = root.lookup_id(&declaration.repository_id).unwrap().unwrap();
        let described = found.describe().unwrap();
        if let Ok(ty) = ObjectRef::from(found).is_a("IDL:omg.org/CORBA/IDLType:1.0")
            && ty
        {
            let name = declaration.absolute_name();
            let ty: punctual_ifr::corba::IdlType = narrowed(root.lookup(&name).unwrap());
            assert_eq!(ty.r#type().unwrap(), expected, "{name}");
        }
        assert_ne!(described.kind, DefinitionKind::DkNone);
    }
    let labels: AliasDef = narrowed(root.lookup("shop::Labels").unwrap());
    let original = labels.original_type_def().unwrap().unwrap();
    assert_eq!(original.def_kind(), Ok(DefinitionKind::DkSequence));
    let element = punctual_ifr::corba::SequenceDef::from_object(original.into());
    assert_eq!(element.bound(), Ok(5));
    assert_eq!(element.element_type(), Ok(TypeCode::string(8)));
    let union: UnionDef = narrowed(root.lookup("shop::Choice").unwrap());
    let members = union.members().unwrap();
    assert_eq!(members[1].label.type_code().kind(), TypeKind::Octet);
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn an_interface_is_described_with_all_that_it_inherits() {
    let repository = loaded();
    let (poa, root) = served(&repository);
    let store: InterfaceDef = narrowed(root.lookup("shop::Store").unwrap());
    let full = store.describe_interface().unwrap();
    assert_eq!(full.base_interfaces, ["IDL:example.com/shop/Base:1.0"]);
    assert_eq!(full.defined_in, "IDL:example.com/shop:1.0");
    let find = &full.operations[0];
    assert_eq!(
        (find.name.as_str(), find.mode),
        ("find", OperationMode::OpNormal)
    );
    assert_eq!(find.contexts, ["shop.*"]);
    let modes: Vec<ParameterMode> = find.parameters.iter().map(|p| p.mode).collect();
    let expected = [
        ParameterMode::ParamIn,
        ParameterMode::ParamInout,
        ParameterMode::ParamOut,
    ];
    assert_eq!(modes, expected);
    assert_eq!(
        find.parameters[2].r#type.original_type().kind(),
        TypeKind::Fixed
    );
    assert_eq!(find.exceptions[0].id, "IDL:example.com/shop/Unknown:1.0");
    assert_eq!(full.operations[1].mode, OperationMode::OpOneway);
    let names: Vec<&str> = full.attributes.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["level", "paint"]);
    assert!(store.is_a("IDL:example.com/shop/Base:1.0").unwrap());
    assert!(!store.is_a("IDL:example.com/shop/Item:1.0").unwrap());
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn each_kind_is_described_by_its_description() {
    let repository = loaded();
    let (poa, root) = served(&repository);
    let value = |name: &str| {
        root.lookup(name)
            .unwrap()
            .unwrap()
            .describe()
            .unwrap()
            .value
    };
    let constant: ConstantDescription = value("shop::LIMIT").extract().unwrap();
    assert_eq!(constant.value.extract::<u16>(), Ok(12));
    let attribute: AttributeDescription = value("shop::Base::paint").extract().unwrap();
    assert_eq!(attribute.mode, AttributeMode::AttrReadonly);
    let operation: OperationDescription = value("shop::Store::note").extract().unwrap();
    assert_eq!(operation.parameters[0].r#type, TypeCode::ANY);
    let circle: ValueDef = narrowed(root.lookup("shop::Circle").unwrap());
    let full = circle.describe_value().unwrap();
    assert_eq!(
        full.abstract_base_values,
        ["IDL:example.com/shop/Shape:1.0"]
    );
    assert_eq!(full.supported_interfaces, ["IDL:example.com/shop/Base:1.0"]);
    let names: Vec<&str> = full.members.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["radius", "hidden"]);
    assert_eq!(full.initializers[0].name, "make");
    assert!(circle.is_a("IDL:example.com/shop/Base:1.0").unwrap());
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn types_without_a_name_are_objects_too() {
    let (poa, root) = served(&InterfaceRepository::in_memory());
    let long = root.get_primitive(PrimitiveKind::PkLong).unwrap().unwrap();
    assert_eq!(long.kind(), Ok(PrimitiveKind::PkLong));
    let long: ObjectRef = long.into();
    let long = punctual_ifr::corba::IdlType::from_object(long);
    let list = root.create_sequence(7, Some(&long)).unwrap().unwrap();
    assert_eq!(list.r#type(), Ok(TypeCode::sequence(&TypeCode::LONG, 7)));
    assert_eq!(list.element_type_def(), Ok(Some(long)));
    assert_eq!(list.def_kind(), Ok(DefinitionKind::DkSequence));
    let fixed = root.create_fixed(9, 4).unwrap().unwrap();
    assert_eq!((fixed.digits(), fixed.scale()), (Ok(9), Ok(4)));
    let kind = |exception: punctual::SystemException| exception.kind();
    let refused = list.set_bound(8).map_err(kind);
    assert_eq!(refused, Err(SystemExceptionKind::BadParam));
    let nil = root.create_sequence(1, None).map_err(kind);
    assert_eq!(nil, Err(SystemExceptionKind::BadParam));
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn callers_make_change_and_remove_definitions_under_the_rules() {
    let (poa, root) = served(&InterfaceRepository::in_memory());
    let kind = |exception: punctual::SystemException| exception.kind();
    let m = root
        .create_module("IDL:m:1.0", "m", "1.0")
        .unwrap()
        .unwrap();
    let long = root.get_primitive(PrimitiveKind::PkLong).unwrap();
    let long = long.map(|long| punctual_ifr::corba::IdlType::from_object(long.into()));
    let alias = m.create_alias("IDL:m/A:1.0", "A", "1.0", long.as_ref());
    let alias = alias.unwrap().unwrap();
    let again = m.create_enum("IDL:m/A:1.0", "B", "1.0", &[]).map_err(kind);
    assert_eq!(again, Err(SystemExceptionKind::BadParam));
    let same_name = m.create_enum("IDL:m/B:1.0", "a", "1.0", &[]).map_err(kind);
    assert_eq!(same_name, Err(SystemExceptionKind::BadParam));
    let ty = punctual_ifr::corba::IdlType::from_object(alias.clone().into());
    let user = m
        .create_alias("IDL:m/U:1.0", "U", "1.0", Some(&ty))
        .unwrap()
        .unwrap();
    assert_eq!(
        alias.destroy().map_err(kind),
        Err(SystemExceptionKind::BadInvOrder)
    );
    // An alias of itself would not be a type.
    let itself = punctual_ifr::corba::IdlType::from_object(user.clone().into());
    let circle = alias.set_original_type_def(Some(&itself)).map_err(kind);
    assert_eq!(circle, Err(SystemExceptionKind::ImpLimit));
    user.destroy().unwrap();
    assert_eq!(
        user.id().map_err(kind),
        Err(SystemExceptionKind::ObjectNotExist)
    );
    alias.set_name("Renamed").unwrap();
    assert!(root.lookup("m::Renamed").unwrap().is_some());
    let constant = m.create_constant(
        "IDL:m/C:1.0",
        "C",
        "1.0",
        long.as_ref(),
        &Any::new(&5_i16).unwrap(),
    );
    assert_eq!(constant.map_err(kind), Err(SystemExceptionKind::BadParam));
    m.destroy().unwrap();
    assert_eq!(root.contents(DefinitionKind::DkAll, true), Ok(vec![]));
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn a_repository_in_a_file_is_there_again_when_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ifr.redb");
    let before = {
        let repository = InterfaceRepository::open(&path).unwrap();
        assert_eq!(
            repository.load(&specification(IDL)),
            Ok(repository.list().len())
        );
        // Existing definitions are not made again.
        assert_eq!(repository.load(&specification(IDL)), Ok(0));
        repository.list()
    };
    let repository = InterfaceRepository::open(&path).unwrap();
    assert_eq!(repository.list(), before);
    let (poa, root) = served(&repository);
    let item: StructDef = narrowed(root.lookup("shop::Item").unwrap());
    assert_eq!(item.members().unwrap().len(), 3);
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn an_object_tells_its_interface_where_its_orb_knows_a_repository() {
    let repository = InterfaceRepository::in_memory();
    let (poa, root) = served(&repository);
    let kind = |exception: punctual::SystemException| exception.kind();
    let told = punctual::description::interface_of(&root).map_err(kind);
    assert_eq!(told.err(), Some(SystemExceptionKind::IntfRepos));
    poa.orb()
        .register_initial_reference("InterfaceRepository", &root)
        .unwrap();
    // A repository exists now, and does not know its own interface.
    let told = punctual::description::interface_of(&root).map_err(kind);
    assert_eq!(told.err(), Some(SystemExceptionKind::IntfRepos));
    let idl = "#pragma prefix \"omg.org\"\nmodule CORBA { interface Repository { void f(); }; };";
    repository.load(&specification(idl)).unwrap();
    let told = punctual::description::interface_of(&root).unwrap().unwrap();
    assert_eq!(told.id, "IDL:omg.org/CORBA/Repository:1.0");
    assert_eq!(told.operations[0].name, "f");
    poa.orb().shutdown(true).unwrap();
}

fn types_of_interface(repository: &InterfaceRepository, id: &str) -> Vec<(String, TypeCode)> {
    let (_, root) = served(repository);
    let found = root.lookup_id(id).unwrap().unwrap();
    let interface = InterfaceDef::narrow(ObjectRef::from(found)).unwrap();
    let described = interface.describe_interface().unwrap();
    let parameters = described.operations.into_iter().flat_map(|operation| {
        let one = |parameter: punctual_ifr::corba::ParameterDescription| {
            (operation.name.clone(), parameter.r#type)
        };
        operation
            .parameters
            .into_iter()
            .map(one)
            .collect::<Vec<_>>()
    });
    parameters.collect()
}

#[test]
fn what_is_loaded_again_becomes_what_it_says_now_members_in_their_order() {
    let repository = InterfaceRepository::in_memory();
    let before = "valuetype V { public long a; public long b; };
        interface I { void old(in V one); void kept(in V one); };";
    let now = "valuetype V { public string c; public long a; };
        interface I { void kept(in V one); void fresh(in V one); };";
    repository.load(&specification(before)).unwrap();
    repository.load(&specification(now)).unwrap();
    let parameters = types_of_interface(&repository, "IDL:I:1.0");
    let operations: Vec<&str> = parameters.iter().map(|(name, _)| &**name).collect();
    assert_eq!(operations, ["kept", "fresh"]);
    let members: Vec<&str> = (0..2)
        .filter_map(|at| parameters[0].1.member_name(at).ok())
        .collect();
    assert_eq!(members, ["c", "a"]);
    assert_eq!(parameters[0].1.member_type(0).unwrap(), TypeCode::STRING);
}

#[test]
fn labels_over_octets_are_what_they_are() {
    let repository = InterfaceRepository::in_memory();
    let idl = "union Choice switch (octet) { case 0: long a; case 7: string b; default: short c; };
        interface I { void take(in Choice what); };";
    repository.load(&specification(idl)).unwrap();
    let parameters = types_of_interface(&repository, "IDL:I:1.0");
    let union = &parameters[0].1;
    assert_eq!(union.member_chosen(0), Ok(Some(0)));
    assert_eq!(union.member_chosen(7), Ok(Some(1)));
    assert_eq!(union.member_chosen(9), Ok(Some(2)));
}

#[test]
fn what_is_refused_leaves_nothing_and_says_what_it_is() {
    let repository = InterfaceRepository::in_memory();
    for (idl, what) in [
        (
            "struct S { long a; @optional long b; };",
            "the optional member `b` of `S`",
        ),
        (
            "module m { typedef map<string, long> Ages; };",
            "a map in `Ages` of `m::Ages`",
        ),
    ] {
        let refused = repository.load(&specification(idl)).unwrap_err();
        assert!(refused.to_string().starts_with(what), "{refused}");
        assert_eq!(repository.list().len(), 0);
    }
    // A factory may take values of its own type.
    let factory = "valuetype V { public long a; factory make(in V other); };";
    repository.load(&specification(factory)).unwrap();
}
