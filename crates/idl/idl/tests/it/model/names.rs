//! Repository ids, pragmas, prefixes, files and words.

use super::{compiled, find, ids, model, value};
use punctual_idl::model::{AnnotationValue, ConstValue, DeclKind, InterfaceFlavour, Label, Type};
use punctual_idl::{InMemory, Options, compile_source};

#[test]
fn repository_ids_follow_prefix_version_and_id_pragmas() {
    let text = "#pragma prefix \"P1\"\nmodule M1 {\n typedef long T1;\n#pragma prefix \"P2\"\n\
                typedef long T2;\n module M2 { typedef long T3; };\n};\ntypedef long T4;\n\
                interface I { struct S { long x; }; };\n#pragma version I 2.4\n\
                #pragma ID I::S \"LOCAL:mine\"\n";
    assert_eq!(
        ids(text, &InMemory::new()),
        [
            "::M1 IDL:P1/M1:1.0",
            "::M1::T1 IDL:P1/M1/T1:1.0",
            "::M1::T2 IDL:P2/T2:1.0",
            "::M1::M2 IDL:P2/M2:1.0",
            "::M1::M2::T3 IDL:P2/M2/T3:1.0",
            "::T4 IDL:P1/T4:1.0",
            "::I IDL:P1/I:2.4",
            "::I::S LOCAL:mine",
        ]
    );
}

#[test]
fn a_prefix_ends_with_its_file_and_does_not_reach_included_ones() {
    let loader = InMemory::new().with(
        "dir/a.idl",
        "typedef long A;\n#pragma prefix \"inner\"\ntypedef long B;\n",
    );
    let text = "#pragma prefix \"outer\"\n#include \"a.idl\"\ntypedef long C;\n";
    assert_eq!(
        ids(text, &loader),
        [
            "::A IDL:A:1.0",
            "::B IDL:inner/B:1.0",
            "::C IDL:outer/C:1.0"
        ]
    );
}

#[test]
fn pragmas_with_a_semicolon_have_their_effect() {
    let text = "#pragma prefix \"P\";\ninterface I {};\n#pragma version I 2.4;\n\
                interface J {};\n#pragma ID J \"IDL:other/J:1.0\" ;\n";
    assert_eq!(
        ids(text, &InMemory::new()),
        ["::I IDL:P/I:2.4", "::J IDL:other/J:1.0"]
    );
}

#[test]
fn escaped_names_are_found_with_and_without_their_underscore() {
    let text = "module M {\n exception _ReadOnly {};\n interface _Local { void f() raises (ReadOnly); };\n\
                 enum _Enum { _Any };\n const Enum FIRST = Any;\n\
                 struct S { @default(_Any) Enum e; @default(_FIRST) Enum f; Local l; };\n};\n\
                #pragma version M::_ReadOnly 1.4\n#pragma ID _M::Local \"IDL:L:1.0\"\n";
    let spec = compiled(text, &InMemory::new()).specification;
    assert_eq!(
        find(&spec, "M::ReadOnly").repository_id,
        "IDL:M/ReadOnly:1.4"
    );
    assert_eq!(find(&spec, "M::Local").repository_id, "IDL:L:1.0");
    let defaults: Vec<&AnnotationValue> = spec
        .members(find(&spec, "M::S").id)
        .iter()
        .filter_map(|member| Some(&member.annotations.first()?.arguments.first()?.value))
        .collect();
    let first = AnnotationValue::Const(ConstValue::Enumerator(find(&spec, "M::Enum").id, 0));
    assert_eq!(defaults, [&first, &first]);
}

#[test]
fn words_of_the_component_model_are_keywords_only_where_a_statement_begins() {
    let spec = model(
        "module M {\n interface typeid { void f(); };\n interface I {\n  typeid home();\n\
          M::typeid uses(in typeid finder);\n  struct import { typeid emits; };\n\
          typeid import \"IDL:X:1.0\";\n };\n};\ntypeprefix M \"p\";\n",
    );
    let DeclKind::Operation(home) = &find(&spec, "M::I::home").kind else {
        panic!()
    };
    assert_eq!(home.returns, Type::Named(find(&spec, "M::typeid").id));
    assert_eq!(find(&spec, "M::I::import").repository_id, "IDL:X:1.0");
    assert_eq!(find(&spec, "M::typeid").repository_id, "IDL:p/M/typeid:1.0");
}

#[test]
fn what_is_only_accepted_leniently_is_in_the_model() {
    let text = "local interface L {};\ninterface I : L { void f(in I other); };\n\
                union U switch (boolean) { case TRUE: long x; case FALSE: default: short y; };\n";
    let options = Options {
        lenient: true,
        ..Options::default()
    };
    let compiled = compile_source("x.idl", text, &options, &InMemory::new()).unwrap();
    assert_eq!(compiled.warnings.len(), 2);
    let spec = compiled.specification;
    let DeclKind::Interface(interface) = &find(&spec, "I").kind else {
        panic!()
    };
    assert_eq!(interface.flavour, InterfaceFlavour::Local);
    let DeclKind::Union(union) = &find(&spec, "U").kind else {
        panic!()
    };
    assert!(!union.implicit_default);
    let labels = [Label::Value(ConstValue::Boolean(false)), Label::Default];
    assert_eq!(union.cases[1].labels, labels);
}

#[test]
fn typeid_and_typeprefix_set_repository_ids() {
    let text = "module M { interface I {}; interface J {}; typeid J \"IDL:other/J:3.0\"; };\n\
                typeprefix M \"p\";\nmodule M { interface K {}; };\n";
    assert_eq!(
        ids(text, &InMemory::new()),
        [
            "::M IDL:p/M:1.0",
            "::M::I IDL:p/M/I:1.0",
            "::M::J IDL:other/J:3.0",
            "::M IDL:p/M:1.0",
            "::M::K IDL:p/M/K:1.0",
        ]
    );
}

#[test]
fn typeprefix_may_name_module_corba_before_it_is_declared() {
    let text = "typeprefix CORBA \"omg.org\";\nmodule CORBA { typedef long Own; };\n\
                module User { typedef CORBA::Own Mine; };\n";
    let ids = ids(text, &InMemory::new());
    assert!(
        ids.contains(&"::CORBA::Own IDL:omg.org/CORBA/Own:1.0".to_owned()),
        "{ids:?}"
    );
    assert!(ids.contains(&"::User::Mine IDL:User/Mine:1.0".to_owned()));
}

#[test]
fn escaped_names_lose_their_underscore_and_are_no_keywords() {
    let spec = model("interface _interface { void _in(in long _out); };\n");
    assert_eq!(
        find(&spec, "interface::in").repository_id,
        "IDL:interface/in:1.0"
    );
}

#[test]
fn includes_are_searched_and_marked_and_keep_their_places() {
    let loader = InMemory::new()
        .with(
            "dir/near.idl",
            "#pragma once\n#include <far.idl>\nmodule Near { typedef Far F; };\n",
        )
        .with(
            "inc/far.idl",
            "#ifndef FAR\n#define FAR\ntypedef long Far;\n#endif\n",
        );
    let text = "#include \"near.idl\"\n#include \"near.idl\"\n#include <far.idl>\n\
                #define FIELD(t, n) t n;\n#if defined(FAR) && FIELD_COUNT + 1 == 1\n\
                struct S \\\n { FIELD(Far, a) FIELD(Near::F, b) };\n#elif 1\n#error no\n#endif\n";
    let spec = compiled(text, &loader).specification;
    let (far, s) = (find(&spec, "Far"), find(&spec, "S"));
    assert!(!far.in_main_file && s.in_main_file);
    assert_eq!(spec.file(far.file()).name(), "inc/far.idl");
    assert_eq!((far.location.line, far.location.column), (3, 14));
    let members = spec.members(s.id);
    assert_eq!(
        (members[0].location.line, members[1].location.column),
        (7, 18)
    );
}

#[test]
fn defined_macros_reach_the_source() {
    let options = Options {
        defines: vec![("SIZE".into(), Some("4 + 4".into())), ("ON".into(), None)],
        ..Options::default()
    };
    let text = "#if ON\ntypedef long T[SIZE];\n#endif\n#define STR(x) #x\n#define CAT(a, b) a##b\n\
                const string S = STR(a b);\ntypedef T CAT(Two, Parts);\n";
    let spec = compile_source("x.idl", text, &options, &InMemory::new())
        .unwrap()
        .specification;
    let DeclKind::Typedef(t) = &find(&spec, "T").kind else {
        panic!()
    };
    assert!(matches!(&t.ty, Type::Array { dimensions, .. } if dimensions == &[8]));
    assert_eq!(value(&spec, "S"), ConstValue::String("a b".into()));
    assert_eq!(find(&spec, "TwoParts").name, "TwoParts");
}
