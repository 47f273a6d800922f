//! Settings of the service: errors in its file, and its documentation page.

use punctual_groups_service::settings;
use punctual_host::settings::{Values, markdown};

#[test]
fn unknown_principals_and_times_out_of_bounds_are_errors() {
    for (text, part) in [
        ("allow = \"everyone\"", "`everyone`"),
        ("allow_members = \"10.0.0.0/33\"", "10.0.0.0/33"),
        ("call_time = \"0s\"", "call_time"),
        ("most_member = 3", "did you mean `most_members`?"),
    ] {
        let text = format!("{text}\nlisten = \"iiop://127.0.0.1:0\"");
        let error = Values::from_toml(&settings(), "group.toml", &text)
            .unwrap_err()
            .to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
}

const WHERE: &str = "\
`punctual group serve`; those of the groups themselves, and `etcd_prefix` and `etcd_take_over`, are also the keys in the file of
`punctual naming serve --group-settings` ([names and groups in one process](../../../docs/guide/naming.md#names-and-groups-in-one-process)):";

#[test]
fn the_page_of_settings_is_what_the_table_says() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/settings.md");
    let text = format!(
        "# Settings of object groups\n\n{WHERE}\n\n{}",
        markdown(&settings())
    );
    if std::env::var_os("PUNCTUAL_WRITE_PAGES").is_some() {
        std::fs::write(page, &text).unwrap();
    }
    let written = std::fs::read_to_string(page).unwrap_or_default();
    assert_eq!(written, text, "PUNCTUAL_WRITE_PAGES=1 writes it anew");
}
