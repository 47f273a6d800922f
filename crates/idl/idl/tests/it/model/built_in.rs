//! Built-in files of the standard, and module CORBA.

use super::{compiled, find, model};
use punctual_idl::InMemory;
use punctual_idl::model::{DeclKind, Type};

#[test]
fn names_of_module_corba_need_no_declaration() {
    let spec = model(
        "#include <orb.idl>\ninterface I : CORBA::Current { void f(in CORBA::OctetSeq data); };\n",
    );
    let corba = &spec[spec.definitions[0]];
    assert_eq!((corba.name.as_str(), corba.in_main_file), ("CORBA", false));
    assert_eq!(
        find(&spec, "CORBA::OctetSeq").repository_id,
        "IDL:omg.org/CORBA/OctetSeq:1.0"
    );
}

#[test]
fn built_in_files_may_be_included_by_several() {
    let loader = InMemory::new().with("dir/a.idl", "#include <IOP.idl>\n#include <orb.idl>\n");
    let text = "#include \"a.idl\"\n#include <IOP.idl>\nstruct S { IOP::IOR ior; };\n";
    let spec = compiled(text, &loader).specification;
    assert!(spec.find("IOP::IOR").is_some() && spec.find("S").is_some());
}

#[test]
fn a_native_type_can_be_raised() {
    let spec = model(
        "native U;
         valuetype H { factory make() raises (U); void f() raises (U); };
         local interface L { attribute long a getraises (U); };",
    );
    let native = find(&spec, "U").id;
    let DeclKind::Operation(operation) = &find(&spec, "H::f").kind else {
        panic!()
    };
    assert_eq!(operation.raises, [native]);
    let DeclKind::ValueType(value) = &find(&spec, "H").kind else {
        panic!()
    };
    assert_eq!(value.factories[0].raises, [native]);
    let DeclKind::Attribute(attribute) = &find(&spec, "L::a").kind else {
        panic!()
    };
    assert_eq!(attribute.get_raises, [native]);
}

#[test]
fn orb_idl_serves_what_the_standards_other_files_use() {
    let spec = model(
        "#include <orb.idl>
         import ::CORBA::Repository;
         #pragma prefix \"omg.org\"
         module Messaging {
           interface ReplyHandler {};
           abstract valuetype Poller : CORBA::Pollable { attribute ReplyHandler handler; };
           native UserExceptionBase;
           valuetype ExceptionHolder {
             void raise_exception() raises (UserExceptionBase);
             void raise_with_list(in CORBA::ExceptionList list) raises (UserExceptionBase);
             private boolean is_system;
             private CORBA::OctetSeq marshaled;
           };
         };
         module RTCORBA {
           typedef short Priority;
           local interface Current : CORBA::Current { attribute Priority the_priority; };
           local interface RTORB {
             CORBA::Policy make(in CORBA::PolicyType t) raises (CORBA::PolicyError);
             void check(in CORBA::PolicyList list) raises (CORBA::InvalidPolicies);
             CORBA::ServiceInformation services(in CORBA::ServiceType type);
           };
           local interface Managed : CORBA::PolicyManager {};
         };
         module DynamicAny {
           local interface DynAny { CORBA::TypeCode type(); CORBA::TCKind kind(); };
           const CORBA::TCKind FIRST = CORBA::tk_null;
           valuetype Own : CORBA::CustomMarshal { CORBA::ValueFactory made_by(); };
         };
         module PortableInterceptor {
           local interface ORBInitInfo {
             readonly attribute CORBA::StringSeq arguments;
             CORBA::ParameterMode mode(in CORBA::Repository where);
             void set(in CORBA::SetOverrideType how) raises (CORBA::WrongTransaction);
           };
         };",
    );
    let DeclKind::ValueType(pollable) = &find(&spec, "CORBA::Pollable").kind else {
        panic!()
    };
    assert_eq!(pollable.body.len(), 2);
    let DeclKind::Interface(repository) = &find(&spec, "CORBA::Repository").kind else {
        panic!()
    };
    assert_eq!((repository.body.len(), repository.forward_only), (8, false));
    assert_eq!(
        find(&spec, "CORBA::PolicyError").repository_id,
        "IDL:omg.org/CORBA/PolicyError:1.0"
    );
}

#[test]
fn a_reference_to_the_interface_repository_does_not_bring_all_of_it() {
    let spec = model("interface I { CORBA::InterfaceDef definition(); };");
    let DeclKind::Interface(definition) = &find(&spec, "CORBA::InterfaceDef").kind else {
        panic!()
    };
    assert!(definition.forward_only);
    assert!(spec.find("CORBA::Container").is_none());
    let spec = model("interface I { CORBA::Contained::Description describe(); };");
    let DeclKind::Interface(contained) = &find(&spec, "CORBA::Contained").kind else {
        panic!()
    };
    assert!(!contained.forward_only);
}

#[test]
fn an_interface_repository_of_ones_own_takes_the_place_of_the_built_in_one() {
    let spec = model(
        "interface Early { CORBA::InterfaceDef definition(); };
         module CORBA { interface IRObject {}; interface InterfaceDef : IRObject {}; };",
    );
    let definition = find(&spec, "CORBA::InterfaceDef");
    assert!(definition.in_main_file);
    let DeclKind::Operation(operation) = &find(&spec, "Early::definition").kind else {
        panic!()
    };
    assert_eq!(operation.returns, Type::Named(definition.id));
    assert!(spec.find("CORBA::Container").is_none());
}

#[test]
fn the_standards_modules_can_be_imported() {
    let spec = model("import ::CORBA; import ::IOP; typedef IOP::IOR Reference;");
    assert_eq!(
        find(&spec, "IOP::IOR").repository_id,
        "IDL:omg.org/IOP/IOR:1.0"
    );
}
