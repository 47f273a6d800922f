//! Writes an interface of 200 operations, a servant, and code that calls each; compiles it with
//! either kind of stub.

use punctual_build::{Builder, Stubs};
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

/// Number of operations in the generated interface, of ten kinds in turn.
const OPERATIONS: usize = 200;

/// Kind of operation, as source text: its IDL, a call, and the servant's signature and body.
struct Kind {
    idl: &'static str,
    call: &'static str,
    signature: &'static str,
    body: &'static str,
}

const fn kind(
    idl: &'static str,
    call: &'static str,
    signature: &'static str,
    body: &'static str,
) -> Kind {
    Kind {
        idl,
        call,
        signature,
        body,
    }
}

const KINDS: [Kind; 10] = [
    kind(
        "void NAME()",
        "stub.NAME()?",
        "(&self) -> Result<(), SystemException>",
        "Ok(())",
    ),
    kind(
        "long NAME(in long a)",
        "black_box(stub.NAME(black_box(7))?)",
        "(&self, a: i32) -> Result<i32, SystemException>",
        "Ok(a)",
    ),
    kind(
        "string NAME(in string a)",
        "black_box(stub.NAME(black_box(\"some text\"))?)",
        "(&self, a: &str) -> Result<String, SystemException>",
        "Ok(a.to_owned())",
    ),
    kind(
        "Point NAME(in Point a)",
        "black_box(stub.NAME(black_box(&Point { x: 1, y: 2, z: 3.5 }))?)",
        "(&self, a: &Point) -> Result<Point, SystemException>",
        "Ok(*a)",
    ),
    kind(
        "Longs NAME(in Longs a)",
        "black_box(stub.NAME(black_box(&[1, 2, 3, 4]))?)",
        "(&self, a: &[i32]) -> Result<Longs, SystemException>",
        "Ok(a.to_vec())",
    ),
    kind(
        "void NAME(in long a, in string b, out double c)",
        "black_box(stub.NAME(black_box(7), black_box(\"text\"))?)",
        "(&self, a: i32, _b: &str) -> Result<f64, SystemException>",
        "Ok(a.into())",
    ),
    kind(
        "boolean NAME(inout long a) raises (Bad)",
        "black_box(stub.NAME(black_box(&mut 7)).map_err(other)?)",
        "(&self, a: &mut i32) -> Result<bool, StubsERROR>",
        "Ok(*a > 0)",
    ),
    kind(
        "Record NAME(in Record a)",
        "black_box(stub.NAME(black_box(&Record { name: \"name\".to_owned(), numbers: vec![1, 2] }))?)",
        "(&self, a: &Record) -> Result<Record, SystemException>",
        "Ok(a.clone())",
    ),
    kind(
        "Shade NAME(in Shade a, in double b)",
        "black_box(stub.NAME(black_box(Shade::Dark), black_box(2.5))?)",
        "(&self, a: Shade, _b: f64) -> Result<Shade, SystemException>",
        "Ok(a)",
    ),
    kind(
        "Names NAME(in Names a, inout string b)",
        "black_box(stub.NAME(black_box(&[\"one\".to_owned()]), black_box(&mut \"b\".to_owned()))?)",
        "(&self, a: &[String], _b: &mut String) -> Result<Names, SystemException>",
        "Ok(a.to_vec())",
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("not run by Cargo")?);
    let (mut idl, mut calls, mut servant) = (String::new(), String::new(), String::new());
    for number in 0..OPERATIONS {
        let kind = &KINDS[number % KINDS.len()];
        let name = format!("op_{number:03}");
        writeln!(idl, "    {};", kind.idl.replace("NAME", &name))?;
        writeln!(
            calls,
            "        {number} => {{ {}; }}",
            kind.call.replace("NAME", &name)
        )?;
        let signature = kind
            .signature
            .replace("ERROR", &format!("Op{number:03}Error"));
        writeln!(servant, "    fn {name}{signature} {{ {} }}", kind.body)?;
    }
    let idl = format!(
        "struct Point {{ long x; long y; double z; }};\n\
         typedef sequence<long> Longs;\ntypedef sequence<string> Names;\n\
         struct Record {{ string name; Longs numbers; }};\n\
         enum Shade {{ light, dark }};\nexception Bad {{ long why; }};\n\
         interface Stubs {{\n{idl}}};\n"
    );
    for (name, stubs) in [
        ("compiled", Stubs::Compiled),
        ("interpreted", Stubs::Interpreted),
    ] {
        let file = out.join(format!("{name}.idl"));
        fs::write(&file, &idl)?;
        Builder::new()
            .stubs(stubs)
            .server(name == "compiled")
            .type_codes(false)
            .compile(&[file])?;
    }
    fs::write(
        out.join("calls.rs"),
        format!(
            "pub(crate) fn call(stub: &Stubs, operation: usize) -> Result<(), Box<dyn Error>> {{\n    \
             match operation {{\n{calls}        _ => return Err(\"there is no such operation\".into()),\n    }}\n    Ok(())\n}}\n"
        ),
    )?;
    fs::write(
        out.join("servant.rs"),
        format!("impl StubsServant for Servant {{\n{servant}}}\n"),
    )?;
    Ok(())
}
