//! Checks of initial references when they are configured, so that a mistake prevents the ORB from
//! starting rather than failing the first use.

use punctual_ior::{Corbaloc, Corbaname, Ior};

/// Valid forms of an initial reference.
const EXPECTED: &str = "IOR:…, corbaloc:…, corbaname:… or file://…";

/// Checks a reference as far as possible without the network and the file system: a `file://` is
/// read when it is resolved.
///
/// # Errors
/// The expected form, or what is wrong with a reference of that form.
pub(super) fn check(reference: &str) -> Result<(), String> {
    let reference = reference.trim();
    if has_scheme(reference, "IOR:") {
        let parsed = reference.parse::<Ior>().map(drop);
        return parsed.map_err(|error| format!("an IOR: that decodes, but {error}"));
    }
    if has_scheme(reference, "corbaloc:") {
        let parsed = reference.parse::<Corbaloc>().map(drop);
        return parsed.map_err(|error| format!("a valid corbaloc:, but {error}"));
    }
    if has_scheme(reference, "corbaname:") {
        let parsed = reference.parse::<Corbaname>().map(drop);
        return parsed.map_err(|error| format!("a valid corbaname:, but {error}"));
    }
    let has_path = reference.len() > "file://".len();
    if has_scheme(reference, "file://") && has_path {
        return Ok(());
    }
    Err(EXPECTED.to_owned())
}

/// Checks a URL prefix for initial references, by appending a name to it and checking the result.
///
/// # Errors
/// Those of [`check`].
pub(super) fn check_prefix(prefix: &str) -> Result<(), String> {
    if has_scheme(prefix.trim(), "IOR:") {
        // An IOR is not a prefix: a name behind it is not hexadecimal.
        return Err("the beginning of a URL, corbaloc:…, corbaname:… or file://…".to_owned());
    }
    check(&format!("{}/Name", prefix.trim_end_matches('/')))
}

/// Returns whether a URL has this scheme, ignoring case.
pub(crate) fn has_scheme(text: &str, scheme: &str) -> bool {
    text.get(..scheme.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(reference: &str) -> String {
        check(reference).unwrap_err()
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
            check(reference).unwrap();
        }
    }

    #[test]
    fn a_mistake_is_refused_with_what_was_expected() {
        assert_eq!(refused("bad"), EXPECTED);
        assert_eq!(
            refused("corbaloc::h:port/X"),
            "a valid corbaloc:, but 'port' is not a port"
        );
        for reference in ["IOR:01zz", "IOR:0100"] {
            let error = refused(reference);
            assert!(error.starts_with("an IOR: that decodes, but "), "{error}");
        }
        for reference in [
            "",
            "file://",
            "corbaname::h#x//y",
            "iiop://h:1",
            "corbaloc:",
        ] {
            assert!(!refused(reference).is_empty(), "{reference}");
        }
    }

    #[test]
    fn a_prefix_is_judged_by_what_it_makes_of_a_name() {
        for prefix in [
            "corbaloc::h:2809",
            "corbaloc::h/",
            "corbaname::h#plants",
            "file:///var/refs",
        ] {
            check_prefix(prefix).unwrap();
        }
        for prefix in ["", "h:2809", "IOR:00", "corbaloc::h:0", "corbaloc"] {
            assert!(check_prefix(prefix).is_err(), "{prefix}");
        }
    }
}
