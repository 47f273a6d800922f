//! Settings of the repository and of activators: errors in their files, and their documentation page.

use punctual_host::settings::{Values, markdown};
use punctual_imr::{activator_settings, settings};

#[test]
fn unknown_principals_and_times_out_of_bounds_are_errors() {
    for (text, part) in [
        ("allow = \"everyone\"", "`everyone`"),
        ("allow_servers = \"10.0.0.0/33\"", "10.0.0.0/33"),
        ("start_time = \"0s\"", "start_time"),
        ("shel = true", "did you mean `shell`?"),
    ] {
        let text = format!("{text}\nlisten = \"iiop://127.0.0.1:0\"");
        let error = Values::from_toml(&settings(), "imr.toml", &text)
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn the_page_of_settings_is_what_the_tables_say() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/settings.md");
    let text = format!(
        "# Settings of the Implementation Repository\n\n`punctual imr serve`:\n\n{}\n`punctual imr activator`:\n\n{}",
        markdown(&settings()),
        markdown(&activator_settings())
    );
    if std::env::var_os("PUNCTUAL_WRITE_PAGES").is_some() {
        std::fs::write(page, &text).unwrap();
    }
    let written = std::fs::read_to_string(page).unwrap_or_default();
    assert_eq!(written, text, "PUNCTUAL_WRITE_PAGES=1 writes it anew");
}
