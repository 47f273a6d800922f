//! Settings of the notification service: errors in its file, and its documentation page.

use punctual_host::settings::{Values, markdown};
use punctual_notification::settings;

#[test]
fn unknown_words_and_numbers_out_of_bounds_are_errors() {
    for (text, part) in [
        ("queue_events = 0", "1"),
        ("most_batch = 0", "1"),
        ("allow = \"everyone\"", "`everyone`"),
        ("queue_event = 3", "did you mean `queue_events`?"),
    ] {
        let text = format!("{text}\nlisten = \"iiop://127.0.0.1:0\"");
        let values = Values::from_toml(&settings(), "notification.toml", &text);
        let error = values.unwrap_err().to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn the_page_of_settings_is_what_the_table_says() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/settings.md");
    let table = markdown(&settings());
    let text = format!("# Settings of the notification service\n\n{table}");
    if std::env::var_os("PUNCTUAL_WRITE_PAGES").is_some() {
        std::fs::write(page, &text).unwrap();
    }
    let written = std::fs::read_to_string(page).unwrap_or_default();
    assert_eq!(written, text, "PUNCTUAL_WRITE_PAGES=1 writes it anew");
}
