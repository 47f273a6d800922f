//! Tests of `punctual schedule noise`.

use crate::support::punctual;

#[test]
fn a_measurement_ends_with_a_line_for_a_model() {
    let output = punctual(&["schedule", "noise", "--for", "1s", "--window", "20ms"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let lines: Vec<_> = text.lines().collect();
    assert!(
        lines[0].starts_with("processor ") && lines[0].contains("watched for 900ms"),
        "{text}"
    );
    for window in ["1ms", "10ms", "20ms", "50ms", "100ms", "500ms"] {
        let is_its = |line: &&str| line.trim_start().starts_with(&format!("{window} "));
        assert!(lines.iter().any(is_its), "{window}: {text}");
    }
    // A busy machine may take all of a window.
    let last = lines.last().unwrap();
    let is_key =
        last.starts_with("interference = { most = \"") && last.ends_with("every = \"20ms\" }");
    assert!(is_key || last.starts_with("no line for a model"), "{text}");
}

#[test]
fn json_has_the_windows_and_the_key() {
    let output = punctual(&["schedule", "noise", "--for", "1s", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["watched"], "900ms");
    assert_eq!(json["windows"].as_array().unwrap().len(), 5);
    let key = &json["interference"];
    assert!(key.is_null() || key["every"] == "50ms", "{json}");
}

#[test]
fn a_window_that_is_not_measured_is_refused() {
    let output = punctual(&["schedule", "noise", "--window", "2s"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(
        text.contains("a window of 2s is not measured: give one of up to 500ms"),
        "{text}"
    );
}

#[test]
fn a_time_of_zero_is_refused() {
    let model = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/schedule/fits.toml"
    );
    for args in [
        &["noise", "--for", "0s"][..],
        &["noise", "--window", "0us"],
        &["rehearse", model, "--for", "0ms"],
        &["draw", model, "-o", "/dev/null", "--until", "0s"],
        &[
            "compare", model, "ran.json", "--draw", "ran.svg", "--until", "0s",
        ],
    ] {
        let output = punctual(&[&["schedule"], args].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        let option = args.iter().rev().find(|one| one.starts_with("--")).unwrap();
        let expected = format!("for '{option} <TIME>': it has to be longer than zero");
        assert!(text.contains(&expected), "{args:?}: {text}");
    }
}
