//! Definitions and their parts.

use super::{compiled, find, model, value};
use punctual_idl::InMemory;
use punctual_idl::model::{
    AnnotationValue, ConstValue, DeclKind, Direction, FixedValue, InterfaceFlavour, Label,
    Primitive, Type, ValueFlavour,
};

#[test]
fn modules_keep_their_parts_and_scope() {
    let spec =
        model("module M { typedef long T; };\ninterface I {};\nmodule M { typedef T U; };\n");
    let names: Vec<&str> = spec
        .definitions
        .iter()
        .map(|id| spec[*id].name.as_str())
        .collect();
    assert_eq!(names, ["M", "I", "M"]);
    let DeclKind::Module(second) = &spec[spec.definitions[2]].kind else {
        panic!()
    };
    assert_eq!(second.first_part, spec.definitions[0]);
    assert_eq!(find(&spec, "M::U").parent, Some(spec.definitions[2]));
}

#[test]
fn constants_are_computed_in_their_type() {
    let spec = model(
        "const long A = (1 << 4 | 0x0F) & ~3 ^ 010 % 5;\nconst unsigned short B = ~0;\n\
         const long C = -7 / 2;\nconst unsigned long long D = 0xFFFFFFFFFFFFFFFF;\n\
         const long long E = -9223372036854775808;\nconst octet F = 255 - 1;\n\
         const long G = -1 >> 28;\nconst double H = 1.5e3 / -2.0;\nconst float I = 0.1;\n\
         const fixed J = 1.25d * 3d;\nconst char K = '\\x41';\nconst wchar L = L'\\u20AC';\n\
         const string M = \"a\" \"\\tb\\101\";\nconst wstring N = L\"\\u00e4\" L\"o\";\n\
         const boolean O = FALSE;\nenum Color { red, green };\nconst Color P = green;\n\
         const long Q = A + B;\n",
    );
    let integer = |name| match value(&spec, name) {
        ConstValue::Integer(value) => value,
        other => panic!("{other:?}"),
    };
    assert_eq!(integer("A"), (1 << 4 | 0x0F) & !3 ^ (8 % 5));
    assert_eq!(integer("B"), 65535);
    assert_eq!(integer("C"), -3);
    assert_eq!(integer("D"), u64::MAX.into());
    assert_eq!(integer("E"), i64::MIN.into());
    assert_eq!(integer("F"), 254);
    assert_eq!(integer("G"), 15);
    assert_eq!(integer("Q"), integer("A") + 65535);
    assert_eq!(value(&spec, "H"), ConstValue::Float(-750.0));
    assert_eq!(value(&spec, "I"), ConstValue::Float(f64::from(0.1_f32)));
    let fixed = FixedValue {
        negative: false,
        digits: "375".into(),
        scale: 2,
    };
    assert_eq!(value(&spec, "J"), ConstValue::Fixed(fixed));
    assert_eq!(value(&spec, "K"), ConstValue::Char(b'A'));
    assert_eq!(value(&spec, "L"), ConstValue::WChar('€'));
    assert_eq!(value(&spec, "M"), ConstValue::String("a\tbA".into()));
    assert_eq!(value(&spec, "N"), ConstValue::WString("äo".into()));
    assert_eq!(value(&spec, "O"), ConstValue::Boolean(false));
    assert_eq!(
        value(&spec, "P"),
        ConstValue::Enumerator(find(&spec, "Color").id, 1)
    );
}

#[test]
fn comments_document_what_they_stand_above() {
    let spec = model(
        "// A licence.\n\n/**\n * A point.\n *  Indented.\n */\nstruct Point {\n  long x; // not of y\n\
         \n  /// The height.\n  long y;\n};\n// Unrelated.\n\nenum Color {\n  // Warm.\n  red, green };\n\
         // One.\n// Two.\n@final interface I {};\n",
    );
    let point = find(&spec, "Point");
    assert_eq!(point.doc, ["A point.", " Indented."]);
    let members = spec.members(point.id);
    assert!(members[0].doc.is_empty());
    assert_eq!(members[1].doc, ["The height."]);
    let DeclKind::Enum(color) = &find(&spec, "Color").kind else {
        panic!()
    };
    assert!(find(&spec, "Color").doc.is_empty());
    assert_eq!(color.enumerators[0].doc, ["Warm."]);
    assert_eq!(find(&spec, "I").doc, ["One.", "Two."]);
}

#[test]
fn annotations_keep_their_arguments() {
    let spec = model(
        "const long N = 3;\n@rust_name(\"Foo\") @range(min = -1, max = N) struct S { @key long a; };\n\
         interface I { @rust_name(\"g\") void f(@non_nil in I other, @bits(kind) in long x); };\n",
    );
    let s = find(&spec, "S");
    assert_eq!(s.annotation("rust_name").unwrap().text(), Some("Foo"));
    let range = s.annotation("range").unwrap();
    assert_eq!(range.arguments[1].name.as_deref(), Some("max"));
    assert_eq!(
        range.arguments[1].value,
        AnnotationValue::Const(ConstValue::Integer(3))
    );
    assert_eq!(spec.members(s.id)[0].annotations[0].name, "key");
    let DeclKind::Operation(f) = &find(&spec, "I::f").kind else {
        panic!()
    };
    assert_eq!(f.parameters[0].annotations[0].name, "non_nil");
    let bits = &f.parameters[1].annotations[0].arguments[0].value;
    assert_eq!(*bits, AnnotationValue::Name("kind".into()));
}

#[test]
fn unions_know_whether_a_value_selects_nothing() {
    let spec = model(
        "enum E { a, b };\nunion All switch (E) { case a: long x; case b: long y; };\n\
         union Some switch (E) { case a: long x; };\n\
         union Rest switch (short) { case -1: case 0x10: long x; default: struct Inside { long z; } y; };\n\
         union Flag switch (boolean) { case TRUE: long x; case FALSE: long y; };\n",
    );
    let union = |name: &str| match &find(&spec, name).kind {
        DeclKind::Union(union) => union.clone(),
        other => panic!("{}", other.describe()),
    };
    assert!(!union("All").implicit_default);
    assert!(union("Some").implicit_default);
    assert!(!union("Flag").implicit_default);
    let default = union("Rest");
    assert!(!default.implicit_default);
    let labels: Vec<i128> = default.cases[0]
        .labels
        .iter()
        .map(|label| match label {
            Label::Value(ConstValue::Integer(value)) => *value,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(labels, [-1, 16]);
    assert_eq!(default.cases[1].labels, [Label::Default]);
    assert_eq!(spec[default.nested[0]].absolute_name(), "::Rest::Inside");
}

#[test]
fn ancestors_come_bases_first_and_each_once() {
    let spec = model(
        "interface A { void fa(); };\ninterface B : A { void fb(); };\ninterface C : A { void fc(); };\n\
         interface D : B, C { readonly attribute long fd; };\n",
    );
    let id = |name: &str| find(&spec, name).id;
    assert_eq!(spec.ancestors(id("D")), [id("A"), id("B"), id("C")]);
    assert!(spec.derives_from(id("D"), id("A")));
    assert!(!spec.derives_from(id("A"), id("D")));
    let names: Vec<&str> = spec
        .all_operations(id("D"))
        .into_iter()
        .map(|op| spec[op].name.as_str())
        .collect();
    assert_eq!(names, ["fa", "fb", "fc", "fd"]);
}

#[test]
fn forward_declarations_become_their_definitions() {
    let spec = model(
        "interface Late;\nstruct Tree;\ntypedef sequence<Tree> Forest;\n\
         struct Tree { Forest kids; Late owner; float age; };\ninterface Late { Tree root(); };\n",
    );
    let names: Vec<&str> = spec
        .definitions
        .iter()
        .map(|id| spec[*id].name.as_str())
        .collect();
    assert_eq!(names, ["Forest", "Tree", "Late"]);
    let tree = find(&spec, "Tree");
    let DeclKind::Typedef(forest) = &find(&spec, "Forest").kind else {
        panic!()
    };
    // Through the sequence to the struct's members.
    let is_float = |ty: &Type| matches!(ty, Type::Primitive(p) if p.is_floating());
    assert!(spec.contains(&forest.ty, |ty| *ty == Type::Named(tree.id)));
    assert!(spec.contains(&forest.ty, is_float));
    let late = Type::Named(find(&spec, "Late").id);
    assert!(!spec.contains(&late, is_float), "references are leaves");
    assert_eq!(tree.location.line, 4);
    let DeclKind::Interface(late) = &find(&spec, "Late").kind else {
        panic!()
    };
    assert!(!late.forward_only);
}

#[test]
fn operations_keep_all_their_parts() {
    let spec = model(
        "exception E1 {};\nexception E2 { string why; };\ninterface I {\n\
         long f(in short a, out string b, inout octet c) raises (E1, E2) context (\"x.*\");\n\
         oneway void g();\n readonly attribute double p, q;\n\
         attribute long r getraises (E1) setraises (E2);\n};\n",
    );
    let DeclKind::Operation(f) = &find(&spec, "I::f").kind else {
        panic!()
    };
    assert_eq!(f.returns, Primitive::Long.into());
    let directions: Vec<Direction> = f.parameters.iter().map(|p| p.direction).collect();
    assert_eq!(
        directions,
        [Direction::In, Direction::Out, Direction::InOut]
    );
    assert_eq!(f.raises, [find(&spec, "E1").id, find(&spec, "E2").id]);
    assert_eq!(f.context, ["x.*"]);
    let DeclKind::Operation(g) = &find(&spec, "I::g").kind else {
        panic!()
    };
    assert!(g.oneway && g.returns == Type::Void);
    let DeclKind::Attribute(q) = &find(&spec, "I::q").kind else {
        panic!()
    };
    assert!(q.readonly);
    let DeclKind::Attribute(r) = &find(&spec, "I::r").kind else {
        panic!()
    };
    assert_eq!((r.get_raises.len(), r.set_raises.len()), (1, 1));
}

#[test]
fn types_stay_as_written_and_resolve_through_typedefs() {
    let spec = model(
        "typedef sequence<string<5>, 3> Names;\ntypedef Names Alias;\ntypedef long Grid[2][3];\n\
         struct S { Alias names; Grid grids[4]; unsigned long long big; CORBA::TypeCode code; };\n",
    );
    let members = spec.members(find(&spec, "S").id);
    assert_eq!(members[0].ty, Type::Named(find(&spec, "Alias").id));
    let string = Type::String { bound: Some(5) };
    let names = Type::Sequence {
        element: Box::new(string),
        bound: Some(3),
    };
    assert_eq!(*spec.resolve(&members[0].ty), names);
    let grid = Type::Named(find(&spec, "Grid").id);
    assert_eq!(
        members[1].ty,
        Type::Array {
            element: Box::new(grid),
            dimensions: vec![4]
        }
    );
    assert_eq!(members[2].ty, Primitive::ULongLong.into());
    assert_eq!(members[3].ty, Type::TypeCode);
}

#[test]
fn value_types_keep_all_their_parts() {
    let spec = model(
        "abstract interface Desc { string text(); };\nvaluetype Base { public long a; };\n\
         valuetype V : truncatable Base supports Desc {\n private string b; public float c[2];\n\
         factory make(in long a);\n void op(); };\nvaluetype Box sequence<long>;\n",
    );
    let DeclKind::ValueType(v) = &find(&spec, "V").kind else {
        panic!()
    };
    assert!(v.truncatable && v.flavour == ValueFlavour::Plain);
    assert_eq!((v.bases.len(), v.supports.len()), (1, 1));
    let state: Vec<(bool, &str)> = v
        .state
        .iter()
        .map(|s| (s.public, s.member.name.as_str()))
        .collect();
    assert_eq!(state, [(false, "b"), (true, "c")]);
    assert_eq!(v.factories[0].parameters[0].name, "a");
    assert_eq!(v.body, [find(&spec, "V::op").id]);
    assert!(matches!(find(&spec, "Box").kind, DeclKind::ValueBox(_)));
    let DeclKind::Interface(desc) = &find(&spec, "Desc").kind else {
        panic!()
    };
    assert_eq!(desc.flavour, InterfaceFlavour::Abstract);
}

#[test]
fn an_interface_may_stay_undefined() {
    let compilation = compiled("interface I;\ntypedef sequence<I> Is;\n", &InMemory::new());
    let DeclKind::Interface(i) = &find(&compilation.specification, "I").kind else {
        panic!()
    };
    assert!(i.forward_only);
    assert_eq!(compilation.warnings.len(), 1);
    assert_eq!(compilation.specification.definitions.len(), 2);
}

#[test]
fn sized_integers_are_types_unless_declared_otherwise() {
    let spec = model(
        "struct S { int8 a; uint64 b; };\nmodule M { typedef string int8; typedef int8 T; };\n",
    );
    assert_eq!(
        spec.members(find(&spec, "S").id)[0].ty,
        Primitive::Int8.into()
    );
    let DeclKind::Typedef(t) = &find(&spec, "M::T").kind else {
        panic!()
    };
    assert_eq!(t.ty, Type::Named(find(&spec, "M::int8").id));
}

#[test]
fn bitmasks_place_their_flags_and_bitsets_their_fields() {
    let spec = model(
        "@bit_bound(16) bitmask Access { read, @position(4) write, run };
         bitset Base { bitfield<3> kind; bitfield<1> on; bitfield<4>; };
         bitset Wider : Base { bitfield<12, short> x, y; };
         typedef long bitmask; typedef short map; struct S { bitmask a; map b; };",
    );
    let DeclKind::Bitmask(access) = &find(&spec, "Access").kind else {
        panic!("no bitmask");
    };
    let flags: Vec<(&str, u8)> = access
        .flags
        .iter()
        .map(|flag| (flag.name.as_str(), flag.position))
        .collect();
    assert_eq!(flags, [("read", 0), ("write", 4), ("run", 5)]);
    assert_eq!(access.holder(), Primitive::UShort);
    let DeclKind::Bitset(wider) = &find(&spec, "Wider").kind else {
        panic!("no bitset");
    };
    let fields: Vec<(&str, u8, u8, Primitive)> = wider
        .fields
        .iter()
        .map(|field| (field.name.as_str(), field.position, field.bits, field.ty))
        .collect();
    assert_eq!(
        fields,
        [
            ("x", 8, 12, Primitive::Short),
            ("y", 20, 12, Primitive::Short)
        ]
    );
    assert_eq!((wider.inherited_bits, wider.bits), (8, 32));
    assert_eq!(wider.holder(), Primitive::ULong);
}

#[test]
fn maps_have_keys_values_and_bounds() {
    let spec =
        model("struct S { map<string, sequence<long>> m; map<long, map<short, char>, 5> n; };");
    let members = spec.members(find(&spec, "S").id);
    let Type::Map { key, bound, .. } = &members[0].ty else {
        panic!("no map");
    };
    assert_eq!((&**key, *bound), (&Type::String { bound: None }, None));
    let Type::Map { value, bound, .. } = &members[1].ty else {
        panic!("no map");
    };
    assert!(matches!(**value, Type::Map { .. }));
    assert_eq!(*bound, Some(5));
}

#[test]
fn annotations_of_ones_own_are_declared_and_give_their_values_types() {
    let spec = model(
        "module tools {
           /** How much. */
           @annotation weight { enum Unit { gram, stone }; Unit what default gram; long value; };
           struct weight_ { @weight(value = 3, what = stone) long x; };
         };
         struct S { @tools::weight(7) @default(4) octet y; @key @default(1) double z; };",
    );
    let member = &spec.members(find(&spec, "tools::weight_").id)[0];
    let unit = find(&spec, "tools::weight::Unit").id;
    assert_eq!(
        member.annotations[0].constant("what"),
        Some(&ConstValue::Enumerator(unit, 1))
    );
    let members = spec.members(find(&spec, "S").id);
    let seven = members[0].annotations[0].constant("value");
    assert_eq!(seven, Some(&ConstValue::Integer(7)));
    let default = members[1].annotations[1].constant("value");
    assert_eq!(default, Some(&ConstValue::Float(1.0)));
    assert!(spec.find("tools::weight").is_none());
}

#[test]
fn an_annotation_can_make_an_operation_one_way() {
    let spec = model("interface I { @oneway void f(in long x); @oneway(FALSE) void g(); };");
    let oneway = |name| match &find(&spec, name).kind {
        DeclKind::Operation(operation) => operation.oneway,
        other => panic!("{name} is a {}", other.describe()),
    };
    assert!(oneway("I::f") && !oneway("I::g"));
}

#[test]
fn a_value_type_may_stay_undefined() {
    let compilation = compiled("valuetype V;\nstruct S { V one; };\n", &InMemory::new());
    let DeclKind::ValueType(v) = &find(&compilation.specification, "V").kind else {
        panic!()
    };
    assert!(v.forward_only);
    assert_eq!(v.flavour, ValueFlavour::Abstract);
    assert_eq!(compilation.warnings.len(), 1);
    assert_eq!(compilation.specification.definitions.len(), 2);
}
