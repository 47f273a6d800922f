//! Tests of the output for a build script.
#![allow(clippy::unwrap_used)]

use std::fs;

use punctual_build::{Builder, Encoding, Error};

#[test]
fn each_file_becomes_a_file_of_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let (common, out) = (dir.path().join("common"), dir.path().join("out"));
    fs::create_dir(&common).unwrap();
    fs::write(common.join("c.idl"), "struct Common { long l; };").unwrap();
    fs::write(
        dir.path().join("a.idl"),
        "#include <c.idl>\nstruct A { Common c; };",
    )
    .unwrap();
    fs::write(
        dir.path().join("b.idl"),
        "#if N == 3\nstruct B { long l; };\n#endif",
    )
    .unwrap();
    let builder = Builder::new()
        .include_dir(&common)
        .define("UNUSED")
        .define_as("N", "3")
        .out_dir(&out);
    builder
        .compile(&[dir.path().join("a.idl"), dir.path().join("b.idl")])
        .unwrap();
    let a = fs::read_to_string(out.join("a.rs")).unwrap();
    assert!(a.contains("pub struct A") && a.contains("pub struct Common"));
    assert!(
        fs::read_to_string(out.join("b.rs"))
            .unwrap()
            .contains("pub struct B")
    );
}

#[test]
fn files_that_share_an_include_share_its_types_in_one_file() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    write(
        "common.idl",
        "#ifndef COMMON\n#define COMMON\nmodule Plant { struct Common { long l; }; };\n#endif",
    );
    let own = "module Plant { interface NAME { void take(in Common c); }; };";
    let files = ["Pump", "Tank"].map(|name| {
        let own = own.replace("NAME", name);
        write(
            &format!("{name}.idl"),
            &format!("#include \"common.idl\"\n{own}"),
        )
    });
    let builder = Builder::new().out_dir(dir.path());
    builder.compile_together("plant", &files).unwrap();
    let plant = fs::read_to_string(dir.path().join("plant.rs")).unwrap();
    for once in [
        "pub mod plant",
        "pub struct Common",
        "pub struct Pump",
        "pub struct Tank",
    ] {
        assert_eq!(plant.matches(once).count(), 1, "{once}");
    }

    // Other crates' types are referred to, except those that these files declare themselves.
    let builder = builder.extern_path("::Plant", "elsewhere::plant");
    builder.compile_together("plant", &files).unwrap();
    let plant = fs::read_to_string(dir.path().join("plant.rs")).unwrap();
    assert!(!plant.contains("pub struct Common") && plant.contains("pub struct Pump"));

    fs::write(
        &files[1],
        "module Plant { interface Tank { void take(in Lost c); }; };",
    )
    .unwrap();
    let error = builder.compile_together("plant", &files).unwrap_err();
    assert!(format!("{error:?}").contains("Tank.idl:1"), "{error:?}");
}

#[test]
fn a_file_that_comes_out_as_it_was_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let idl = dir.path().join("a.idl");
    fs::write(&idl, "struct A { long l; };").unwrap();
    let builder = Builder::new().out_dir(dir.path());
    builder.compile(&[&idl]).unwrap();
    let generated = dir.path().join("a.rs");
    let mut permissions = fs::metadata(&generated).unwrap().permissions();
    let before = fs::metadata(&generated).unwrap().modified().unwrap();
    permissions.set_readonly(true);
    fs::set_permissions(&generated, permissions).unwrap();
    builder.compile(&[&idl]).unwrap();
    assert_eq!(
        fs::metadata(&generated).unwrap().modified().unwrap(),
        before
    );
}

#[test]
fn diagnostics_are_readable_where_an_error_is_shown_by_debug() {
    let dir = tempfile::tempdir().unwrap();
    let idl = dir.path().join("bad.idl");
    fs::write(&idl, "struct A { lung l; };\nstruct B { any a; };").unwrap();
    let error = Builder::new()
        .out_dir(dir.path())
        .compile(&[&idl])
        .unwrap_err();
    let shown = format!("{error:?}");
    assert!(
        shown.contains("lung l") && shown.contains("bad.idl:1:12"),
        "{shown}"
    );
    assert!(
        !shown.contains('\u{1b}'),
        "no colours in a build script's output"
    );
    fs::write(&idl, "native N; struct B { N a; };").unwrap();
    let error = Builder::new()
        .out_dir(dir.path())
        .compile(&[&idl])
        .unwrap_err();
    assert!(format!("{error:?}").contains("native type `N` has no Rust type yet"));
    assert!(!dir.path().join("bad.rs").exists());
}

#[test]
fn a_missing_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing.idl");
    let error = Builder::new()
        .out_dir(dir.path())
        .compile(&[missing])
        .unwrap_err();
    assert!(matches!(&error, Error::Idl { .. }));
    assert!(error.to_string().contains("missing.idl"), "{error}");
}

#[test]
fn two_files_of_one_name_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    for folder in [&one, &two] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("a.idl"), "struct A { long l; };").unwrap();
    }
    let result = Builder::new()
        .out_dir(dir.path())
        .compile(&[one.join("a.idl"), two.join("a.idl")]);
    assert!(matches!(result, Err(Error::SameName { stem }) if stem == "a"));
}

#[test]
fn the_encoding_and_how_strict_names_are_can_be_said() {
    let dir = tempfile::tempdir().unwrap();
    let idl = dir.path().join("a.idl");
    let text = b"const string NAME = \"caf\xE9\";\nstruct A { long a, A; };".to_vec();
    fs::write(&idl, text).unwrap();
    let builder = Builder::new().out_dir(dir.path());
    let error = builder.compile(&[&idl]).unwrap_err().to_string();
    assert!(error.contains("--lenient"), "{error}");
    let builder = builder.lenient(true).encoding(Encoding::Latin1);
    builder.compile(&[&idl]).unwrap();
    let generated = fs::read_to_string(dir.path().join("a.rs")).unwrap();
    assert!(generated.contains("caf\u{e9}"), "{generated}");
    let error = builder.encoding(Encoding::Utf8).compile(&[&idl]);
    assert!(error.unwrap_err().to_string().contains("not UTF-8"));
}
