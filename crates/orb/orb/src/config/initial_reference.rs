//! Checks of initial references when they are configured, so that a mistake stops the start rather
//! than the first use.

use super::error::{ConfigError, bad_value};
use punctual_ior::{Corbaloc, Corbaname, Ior};

/// Form of an initial reference.
const EXPECTED: &str = "IOR:…, corbaloc:…, corbaname:… or file://…";

/// Checks a reference as far as possible without the network and the file system: a `file://` is
/// read when it is resolved. `key` and `value` are shown in errors.
pub(super) fn check(key: &str, value: &str, reference: &str) -> Result<(), ConfigError> {
    let reference = reference.trim();
    let bad = |expected: String| bad_value(key, shown(value), expected);
    if has_scheme(reference, "IOR:") {
        let parsed = reference.parse::<Ior>();
        return parsed
            .map(drop)
            .map_err(|error| bad(format!("an IOR: that decodes, but {error}")));
    }
    if has_scheme(reference, "corbaloc:") {
        let parsed = reference.parse::<Corbaloc>();
        return parsed
            .map(drop)
            .map_err(|error| bad(format!("a corbaloc: that can be used, but {error}")));
    }
    if has_scheme(reference, "corbaname:") {
        let parsed = reference.parse::<Corbaname>();
        return parsed
            .map(drop)
            .map_err(|error| bad(format!("a corbaname: that can be used, but {error}")));
    }
    let has_path = reference.len() > "file://".len();
    if has_scheme(reference, "file://") && has_path {
        return Ok(());
    }
    Err(bad(EXPECTED.to_owned()))
}

/// Checks a prefix by the reference that it forms with a name.
pub(super) fn check_prefix(key: &str, prefix: &str) -> Result<(), ConfigError> {
    if has_scheme(prefix.trim(), "IOR:") {
        // An IOR is no prefix: a name behind it is not hexadecimal.
        let expected = "the beginning of a URL, corbaloc:…, corbaname:… or file://…";
        return Err(bad_value(key, shown(prefix), expected));
    }
    let reference = format!("{}/Name", prefix.trim_end_matches('/'));
    check(key, prefix, &reference)
}

/// Returns whether a URL has this scheme, ignoring case.
pub(crate) fn has_scheme(text: &str, scheme: &str) -> bool {
    text.get(..scheme.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

/// Returns the beginning of a stringified reference, which may be long, for errors.
fn shown(value: &str) -> String {
    const LONGEST: usize = 80;
    match value.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(reference: &str) -> String {
        check("-ORBInitRef", &format!("X={reference}"), reference)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn references_that_can_be_resolved_are_accepted_whatever_the_case_of_their_scheme() {
        for reference in [
            "corbaloc::h:2809/NameService",
            "CorbaLoc:rir:/NameService",
            "CorbaName::h:2809#plants/pump%207",
            "file:///no/such/file/yet.ior",
            "FILE://names.ior",
            "ior:01000000010000000000000000000000",
        ] {
            check("-ORBInitRef", reference, reference).unwrap();
        }
    }

    #[test]
    fn a_mistake_is_refused_with_the_option_the_value_and_what_was_expected() {
        assert_eq!(
            refused("bad"),
            "`X=bad` does not fit `-ORBInitRef`: expected IOR:…, corbaloc:…, corbaname:… or \
             file://…"
        );
        assert_eq!(
            refused("corbaloc::h:port/X"),
            "`X=corbaloc::h:port/X` does not fit `-ORBInitRef`: expected a corbaloc: that can be \
             used, but 'port' is not a port"
        );
        assert!(refused("IOR:01zz").contains("expected an IOR: that decodes, but "));
        assert!(refused("IOR:0100").contains("expected an IOR: that decodes, but "));
        for reference in [
            "",
            "file://",
            "corbaname::h#x//y",
            "iiop://h:1",
            "corbaloc:",
        ] {
            assert!(refused(reference).contains("expected "), "{reference}");
        }
    }

    #[test]
    fn a_long_value_is_shown_by_its_beginning() {
        let text = refused(&format!("IOR:{}", "q".repeat(5000)));
        assert!(text.len() < 400 && text.contains('…'), "{text}");
    }

    #[test]
    fn a_prefix_is_judged_by_what_it_makes_of_a_name() {
        for prefix in [
            "corbaloc::h:2809",
            "corbaloc::h/",
            "corbaname::h#plants",
            "file:///var/refs",
        ] {
            check_prefix("-ORBDefaultInitRef", prefix).unwrap();
        }
        for prefix in ["", "h:2809", "IOR:00", "corbaloc::h:0", "corbaloc"] {
            let error = check_prefix("-ORBDefaultInitRef", prefix).unwrap_err();
            assert!(error.to_string().contains("-ORBDefaultInitRef"), "{error}");
        }
    }
}
