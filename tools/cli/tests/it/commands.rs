//! Output of the commands, as transcripts.
#![allow(clippy::unwrap_used, missing_docs)]

use std::process::Command;

#[test]
fn transcripts_are_as_they_stand() {
    trycmd::TestCases::new()
        .case("tests/demo/*.toml")
        .case("tests/it/bridge/*.toml")
        .case("tests/idl/*.toml")
        .case("tests/ior/*.toml")
        .case("tests/notify/*.toml")
        .case("tests/schedule/*.toml");
}

fn punctual() -> Command {
    Command::new(env!("CARGO_BIN_EXE_punctual"))
}

#[test]
fn the_help_on_time_limits_says_what_is_taken() {
    for command in [&["naming", "list"][..], &["call"], &["bridge"]] {
        let help = punctual().args(command).arg("--help").output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let of_timeout = help.split("--timeout").nth(1).unwrap();
        assert!(of_timeout.contains("2s, with its unit"), "{help}");
        let refused = punctual().args(command).args(["--timeout", "2"]).output();
        let refused = String::from_utf8(refused.unwrap().stderr).unwrap();
        assert!(refused.contains("`2s` are seconds"), "{refused}");
    }
}

#[test]
fn files_without_mistakes_are_compiled_beside_one_that_has_some() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let files = [
        file("first.idl", "interface First { void f(); };"),
        file("unknown.idl", "interface Second : Unknown {};"),
        file(
            "native.idl",
            "native N; interface Third { void f(in N n); };",
        ),
        file("last.idl", "interface Last { void f(); };"),
    ];
    let out = folder.path().join("out");
    let output = punctual()
        .arg("idl")
        .args(files)
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("unknown.idl:1") && errors.contains("native.idl:1"),
        "{errors}"
    );
    let written = std::fs::read_dir(&out).unwrap();
    let mut written: Vec<_> = written.map(|entry| entry.unwrap().file_name()).collect();
    written.sort();
    assert_eq!(written, ["first.rs", "last.rs"]);
    for (name, trait_name) in [("first.rs", "FirstServant"), ("last.rs", "LastServant")] {
        let text = std::fs::read_to_string(out.join(name)).unwrap();
        assert!(text.contains(trait_name), "{text}");
    }
}

#[test]
fn the_demo_makes_calls_of_each_kind_and_verifies_them() {
    let output = punctual()
        .args(["demo", "-n", "50", "--json"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let timings: serde_json::Value = serde_json::from_str(&text).unwrap();
    let timings = timings.as_array().unwrap();
    assert!(timings.len() >= 12, "{text}");
    assert!(timings.iter().all(|timing| timing["calls"] == 50), "{text}");
}

#[test]
fn a_trace_decodes_each_message_and_keeps_what_they_carry_to_itself() {
    let traced = |what: &str| {
        let output = punctual()
            .args(["demo", "-n", "1", "--trace", what])
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let plain = traced("giop");
    for part in [
        "GIOP 1.2 Request",
        "\"cube_long\"",
        "GIOP 1.2 Reply",
        "object key",
        "CodeSets",
    ] {
        assert!(plain.contains(part), "`{part}` is not in the trace");
    }
    assert!(
        !plain.contains("00000000  47 49 4f 50"),
        "no hex was asked for"
    );
    assert!(traced("hex").contains("00000000  47 49 4f 50"));
}

#[test]
fn generated_rust_is_the_same_each_time_and_holds_no_path() {
    let folder = tempfile::tempdir().unwrap();
    let idl = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/cubit/idl/cubit.idl"
    );
    let generate = |name: &str| {
        let out = folder.path().join(name);
        let status = punctual()
            .args(["idl", "--out"])
            .arg(&out)
            .arg(idl)
            .status()
            .unwrap();
        assert!(status.success());
        std::fs::read_to_string(out.join("cubit.rs")).unwrap()
    };
    let first = generate("first");
    assert_eq!(first, generate("second"));
    assert!(!first.contains(env!("CARGO_MANIFEST_DIR")));
    assert!(first.contains("pub struct Cubit"));
}

#[test]
fn types_that_files_share_are_generated_once_without_being_told() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "common.idl",
        "#ifndef COMMON\n#define COMMON\nmodule Plant { struct Reading { double DEPTH; }; };\n#endif",
    );
    for name in ["Pump", "Tank"] {
        let text = format!(
            "#include \"common.idl\"\nmodule Plant {{ interface {name} {{ void take(in Reading r); }}; }};"
        );
        write(&format!("{name}.idl"), &text);
    }
    let out = folder.path().join("out");
    let compile = |options: &[&str], files: &[&str]| {
        let mut idl = punctual();
        idl.current_dir(&folder).arg("idl").args(options);
        let output = idl.args(files).args(["--out", "out"]).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{text}");
        text
    };
    let generated = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let has_reading = |name: &str| generated(name).contains("pub struct Reading");
    let files = ["Pump.idl", "Tank.idl"];

    // The first file that includes it has its types.
    assert_eq!(compile(&[], &files), "");
    assert_eq!(
        (has_reading("Pump.rs"), has_reading("Tank.rs")),
        (true, false)
    );
    let tank = generated("Tank.rs");
    assert!(
        tank.contains("super::super::pump::plant::Reading"),
        "{tank}"
    );
    assert!(
        tank.contains("// The types of common.idl are in the module `super::pump`.\n"),
        "{tank}"
    );

    // The file itself has its types, if it is given.
    assert_eq!(
        compile(&["--modules", "crate::idl"], &["Pump.idl", "common.idl"]),
        ""
    );
    assert!(!has_reading("Pump.rs") && has_reading("common.rs"));
    assert!(generated("Pump.rs").contains("crate::idl::common::plant::Reading"));

    // Each file has its own types, all files are one, or another crate has the types.
    assert_eq!(compile(&["--separate"], &files), "");
    assert!(has_reading("Pump.rs") && has_reading("Tank.rs"));
    assert_eq!(compile(&["--together", "plant"], &files), "");
    assert_eq!(
        generated("plant.rs").matches("pub struct Reading").count(),
        1
    );
    assert_eq!(
        compile(&["--extern-path", "::Plant=crate::plant"], &files),
        ""
    );
    assert!(!has_reading("Pump.rs") && !has_reading("Tank.rs"));

    // A type that macros change is a different type.
    write(
        "Tank.idl",
        "#define DEPTH level\n#include \"common.idl\"\ninterface Tank {};",
    );
    write(
        "Pump.idl",
        "#define DEPTH\n#define double double bars; double d\n#include \"common.idl\"\ninterface Pump {};",
    );
    let text = compile(&[], &files);
    let warning = "`common.idl` does not declare the same wherever it is included";
    assert!(
        text.contains(warning) && text.contains("Pump.idl, Tank.idl"),
        "{text}"
    );
    assert!(has_reading("Pump.rs") && has_reading("Tank.rs"));
}

#[test]
fn completion_scripts_name_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = punctual().args(["completions", shell]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success());
        for command in ["bench", "bridge", "doctor", "idl", "ior", "demo", "trace"] {
            assert!(text.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn the_doctor_says_the_same_as_text_as_json_and_by_its_exit_status() {
    let json = punctual().args(["doctor", "--json"]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(report["granted"].as_bool(), Some(json.status.success()));
    let text = punctual().arg("doctor").output().unwrap();
    assert_eq!(text.status.code(), json.status.code());
    let text = String::from_utf8(text.stdout).unwrap();
    for finding in report["findings"].as_array().unwrap() {
        let name = finding["name"].as_str().unwrap();
        assert!(text.contains(name), "{name}: {text}");
    }
}
