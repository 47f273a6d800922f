//! Settings of the Naming Service: errors in its file, and its documentation page.

use punctual_host::settings::Values;
#[cfg(feature = "etcd")]
use punctual_host::settings::markdown;
use punctual_naming::{open, settings};

fn wrong(text: &str) -> String {
    let error = Values::from_toml(&settings(), "naming.toml", text).unwrap_err();
    error.to_string()
}

#[test]
fn unknown_keys_wrong_units_and_keys_that_do_not_go_together_are_errors() {
    for (text, part) in [
        (
            "most_binding = 5",
            "line 1: unknown key `most_binding`; did you mean `most_bindings`?",
        ),
        (
            "memory = true\niterator_idle = 600",
            "line 2: `iterator_idle`: a time has its unit",
        ),
        (
            "most_bindings = \"5M\"",
            "a whole number without a unit is wanted",
        ),
        ("federation_timeout = \"never\"", "`federation_timeout`"),
        (
            "memory = true\nstore = \"names.redb\"",
            "`memory` and `store` cannot be given together",
        ),
        ("etcd_prefix = \"/names\"", "`etcd-prefix` needs `etcd`"),
        (
            "allow = [\"plants=local\", \"local\"]",
            "expected CONTEXT=WHO",
        ),
    ] {
        // Without etcd built in, its keys are unknown.
        if part.contains("etcd") && cfg!(not(feature = "etcd")) {
            continue;
        }
        let error = wrong(text);
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn a_grant_below_a_text_that_is_not_a_name_ends_the_start() {
    let text = "memory = true\nallow = \"a//b=local\"";
    let values = Values::from_toml(&settings(), "naming.toml", text).unwrap();
    let problem = open(&values).unwrap_err();
    assert!(problem.message.starts_with("--allow a//b"), "{problem}");
    assert!(problem.help().is_some());
}

/// Settings of the command that are none of the service.
#[cfg(feature = "etcd")]
const BESIDE: &str = "\
Beside these, `punctual naming serve` has `--groups`, `--group-settings` and `--write-group-reference`
([names and groups in one process](../../docs/guide/naming.md#names-and-groups-in-one-process)), and `--web`
([a page to look at](../../docs/guide/naming.md#a-page-to-look-at)).";

#[cfg(feature = "etcd")]
#[test]
fn the_page_of_settings_is_what_the_table_says() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/settings.md");
    let text = format!(
        "# Settings of the Naming Service\n\n{BESIDE}\n\n{}",
        markdown(&settings())
    );
    if std::env::var_os("PUNCTUAL_WRITE_PAGES").is_some() {
        std::fs::write(page, &text).unwrap();
    }
    let written = std::fs::read_to_string(page).unwrap_or_default();
    assert_eq!(written, text, "PUNCTUAL_WRITE_PAGES=1 writes it anew");
}
