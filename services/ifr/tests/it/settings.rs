//! Settings of the Interface Repository: errors in its file, and its documentation page.

use punctual_host::settings::{Values, markdown};
use punctual_ifr::{open, settings};

fn read(text: &str) -> Result<Values, String> {
    let values = Values::from_toml(&settings(), "ifr.toml", text);
    values.map_err(|error| error.to_string())
}

#[test]
fn unknown_keys_wrong_units_and_keys_that_do_not_go_together_are_errors() {
    for (text, part) in [
        (
            "writeable = true",
            "line 1: unknown key `writeable`; did you mean `writable`?",
        ),
        (
            "most_bytes = \"64 MB\"",
            "`most_bytes`: `MB` is not a unit of bytes: B, KiB, MiB or GiB is wanted",
        ),
        ("stop_deadline = 20", "write \"20s\" for seconds"),
        (
            "writable = true\nallow = \"local\"",
            "cannot be given together",
        ),
        ("allow = \"everyone\"", "`everyone`"),
        ("writable = true", "`listen` is required"),
        (
            "naming = \"corbaloc::host/NameService\"",
            "`naming` needs `bind-name`",
        ),
    ] {
        let listen = match part.contains("`listen`") {
            true => "",
            false => "\nlisten = \"iiop://127.0.0.1:0\"",
        };
        let error = read(&format!("{text}{listen}")).unwrap_err();
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn a_repository_is_writable_for_all_for_some_or_for_none() {
    let listen = "listen = \"iiop://127.0.0.1:0\"\n";
    for (text, is_writable) in [
        ("", false),
        ("writable = true", true),
        ("allow = \"::1\"", true),
    ] {
        let values = read(&format!("{listen}{text}")).unwrap();
        assert_eq!(open(&values).unwrap().is_writable, is_writable, "{text}");
    }
}

#[test]
fn the_page_of_settings_is_what_the_table_says() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/settings.md");
    let text = format!(
        "# Settings of the Interface Repository\n\n{}",
        markdown(&settings())
    );
    if std::env::var_os("PUNCTUAL_WRITE_PAGES").is_some() {
        std::fs::write(page, &text).unwrap();
    }
    let written = std::fs::read_to_string(page).unwrap_or_default();
    assert_eq!(written, text, "PUNCTUAL_WRITE_PAGES=1 writes it anew");
}
