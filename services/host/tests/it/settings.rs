//! Settings of a service: errors in a file, and the combination of a file with the command line.

use std::path::PathBuf;

use punctual_host::settings::{Key, SETTINGS, Setting, SettingsError, Values, markdown};

use crate::board::settings;

fn wrong(text: &str) -> SettingsError {
    Values::from_toml(&settings(), "board.toml", text).unwrap_err()
}

#[test]
fn an_unknown_key_is_an_error_with_its_line_and_the_key_that_may_be_meant() {
    let error = wrong("log = \"warn\"\n\nmost_text = 5\n");
    assert_eq!(
        error.to_string(),
        "board.toml, line 3: unknown key `most_text`; did you mean `most_texts`?"
    );
    let error = wrong("settings = \"other.toml\"");
    assert!(matches!(error, SettingsError::Unknown { .. }), "{error}");
    let error = wrong("[orb]\nlisten = 1\n");
    assert!(
        matches!(error, SettingsError::Unknown { line: 1, .. }),
        "{error}"
    );
}

#[test]
fn wrong_units_types_and_bounds_are_errors_that_say_what_is_wanted() {
    for (text, part) in [
        (
            "stop_deadline = 5",
            "write \"5s\" for seconds, \"5ms\" for milliseconds",
        ),
        ("stop_deadline = \"5\"", "`5s` are seconds"),
        ("stop_deadline = \"5 parsecs\"", "parsecs"),
        ("stop_deadline = \"0s\"", "a time above zero is wanted"),
        (
            "stop_deadline = true",
            "as \"200ms\" or \"2s\", is wanted, not boolean",
        ),
        (
            "most_texts = \"5 KiB\"",
            "a whole number without a unit is wanted",
        ),
        ("most_texts = 0", "0 is not from 1 to 1000"),
        ("most_texts = -1", "`-1` is not a whole number"),
        ("most_texts = [1, 2]", "is wanted, not array"),
        (
            "log = \"loud\"",
            "`loud` is not one of error, warn, info, debug",
        ),
        ("allow = [\"local\", \"someone\"]", "`someone`"),
    ] {
        let error = wrong(text);
        assert!(
            error.to_string().starts_with("board.toml, line 1: `"),
            "{error}"
        );
        assert!(error.to_string().contains(part), "{part}: {error}");
    }
    assert!(matches!(wrong("most_texts = "), SettingsError::File { .. }));
}

#[test]
fn the_command_line_goes_before_the_file_and_both_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("board.toml");
    std::fs::write(&file, "log = \"info\"\nstatus = \"127.0.0.1:1\"\n").unwrap();
    let line = |value: &str| [("log", vec![value.to_owned()])];
    let values = Values::read(&settings(), Some(&file), line("debug")).unwrap();
    assert_eq!(values.get(&punctual_host::settings::LOG), "debug");
    let status = values.get(&punctual_host::settings::STATUS);
    assert_eq!(status.as_deref(), Some("127.0.0.1:1"));
    let error = Values::read(&settings(), Some(&file), line("loud")).unwrap_err();
    assert!(
        error.to_string().starts_with("command line: `--log`"),
        "{error}"
    );
    let missing = folder.path().join("none.toml");
    let error = Values::read(&settings(), Some(&missing), []).unwrap_err();
    assert!(matches!(error, SettingsError::File { .. }), "{error}");
}

#[test]
fn each_key_is_documented_by_the_table_with_type_default_and_bounds() {
    let page = markdown(&settings());
    let row = page.lines().find(|row| row.contains("`--most-texts`"));
    assert_eq!(
        row.unwrap(),
        "| `--most-texts` | `most_texts` | number from 1 to 1000 | `100` | How many texts there may be. |"
    );
    for setting in settings() {
        // The file itself is named on the command line alone.
        let is_file = setting.name == SETTINGS.setting.name;
        assert_eq!(
            page.contains(&format!("| `{}` |", setting.key())),
            !is_file,
            "{}",
            setting.name
        );
        assert!(!setting.doc.is_empty(), "{}", setting.name);
    }
}

#[test]
fn bytes_are_a_number_alone_or_with_a_unit() {
    const MOST_BYTES: Key<u64> = Key::bytes("most-bytes", 1..=1 << 40).default("4 KiB");
    let table: &[&Setting] = &[&MOST_BYTES.setting];
    let read = |text: &str| Values::from_toml(table, "board.toml", text);
    for (text, bytes) in [
        ("", 4096),
        ("most_bytes = 7", 7),
        ("most_bytes = \"7\"", 7),
        ("most_bytes = \"2 KiB\"", 2048),
        ("most_bytes = \"3GiB\"", 3 << 30),
    ] {
        assert_eq!(read(text).unwrap().get(&MOST_BYTES), bytes, "{text}");
    }
    for (text, part) in [
        ("most_bytes = \"5 kB\"", "`kB` is not a unit of bytes"),
        ("most_bytes = \"KiB\"", "`` is not a whole number"),
        ("most_bytes = 0", "0 is not from 1 to"),
        ("most_bytes = \"9999999999999 GiB\"", "is too large"),
        (
            "most_bytes = 1.5",
            "a number of bytes, as 4096 or \"64 MiB\", is wanted, not float",
        ),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn a_flag_goes_before_a_key_of_the_file_that_excludes_it() {
    const MEMORY: Key<bool> = Key::flag("memory").conflicts(&["store"]);
    const STORE: Key<Option<PathBuf>> = Key::path("store");
    const TABLE: &[&Setting] = &[&MEMORY.setting, &STORE.setting];
    let file = tempfile::NamedTempFile::new().unwrap();
    let read = |text: &str, flags: &[(&'static str, &str)]| {
        std::fs::write(file.path(), text).unwrap();
        let flags = flags
            .iter()
            .map(|(name, text)| (*name, vec![(*text).to_owned()]));
        Values::read(TABLE, Some(file.path()), flags)
    };
    let stored = read("memory = true", &[("store", "q.redb")]).unwrap();
    assert!(!stored.get(&MEMORY) && stored.get(&STORE).is_some());
    let kept = read("store = \"q.redb\"", &[("memory", "true")]).unwrap();
    assert!(kept.get(&MEMORY) && kept.get(&STORE).is_none());
    // A flag that is not given changes nothing, and two that exclude one another are refused.
    assert!(
        read("store = \"q.redb\"", &[("memory", "false")])
            .unwrap()
            .get(&STORE)
            .is_some()
    );
    assert!(read("", &[("store", "q.redb"), ("memory", "true")]).is_err());
    assert!(read("memory = true\nstore = \"q.redb\"", &[]).is_err());
}
