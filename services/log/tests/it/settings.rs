//! Settings of the log service: errors in its file, and its documentation page.

use punctual_host::settings::{Values, markdown};
use punctual_log::settings;

fn read(text: &str) -> Result<Values, String> {
    let values = Values::from_toml(&settings(), "log.toml", text);
    values.map_err(|error| error.to_string())
}

#[test]
fn unknown_words_numbers_out_of_bounds_and_strangers_are_errors() {
    for (text, part) in [
        ("reply_records = 0", "1"),
        ("iterator_idle = \"0s\"", "0"),
        ("allow = \"everyone\"", "`everyone`"),
        ("most_record = 3", "did you mean `most_records`?"),
    ] {
        let text = format!("{text}\nlisten = \"iiop://127.0.0.1:0\"\nstore = \"logs\"");
        let error = read(&text).unwrap_err();
        assert!(error.contains(part), "{part}: {error}");
    }
    let error = read("listen = \"iiop://127.0.0.1:0\"").unwrap_err();
    assert!(error.contains("`store` is required"), "{error}");
}

#[test]
fn the_page_of_settings_is_what_the_table_says() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/settings.md");
    let text = format!("# Settings of the log service\n\n{}", markdown(&settings()));
    if std::env::var_os("PUNCTUAL_WRITE_PAGES").is_some() {
        std::fs::write(page, &text).unwrap();
    }
    let written = std::fs::read_to_string(page).unwrap_or_default();
    assert_eq!(written, text, "PUNCTUAL_WRITE_PAGES=1 writes it anew");
}
