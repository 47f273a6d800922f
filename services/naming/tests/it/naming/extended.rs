//! Operations of `NamingContextExt`, and IDL that includes `CosNaming.idl`.

use crate::support::{Served, name, object, same};
use punctual::Interface;
use punctual_naming::cos_naming::{
    self, NamingContextExtResolveStrError, NamingContextExtToNameError,
    NamingContextExtToStringError, NamingContextExtToUrlError, naming_context::NotFoundReason,
};

/// Code generated from `idl/registry.idl`, which includes `CosNaming.idl`.
mod idl {
    #![allow(missing_docs, missing_debug_implementations)]
    include!(concat!(env!("OUT_DIR"), "/registry.rs"));
}

#[test]
fn names_become_text_and_text_names() {
    let served = Served::in_memory();
    let text = r"a\.b.c\/d/./.k/e";
    assert_eq!(served.root.to_name(text).unwrap(), name(text));
    assert_eq!(served.root.to_string(&name(text)).unwrap(), text);
    for bad in ["", "/", "a/", "a//b", "a.b.c", "a.", r"a\x", r"a\"] {
        let refused = served.root.to_name(bad).unwrap_err();
        assert!(
            matches!(refused, NamingContextExtToNameError::InvalidName(_)),
            "{bad}"
        );
        let refused = served.root.resolve_str(bad).unwrap_err();
        assert!(
            matches!(refused, NamingContextExtResolveStrError::InvalidName(_)),
            "{bad}"
        );
    }
    let refused = served.root.to_string(&[]).unwrap_err();
    assert!(matches!(
        refused,
        NamingContextExtToStringError::InvalidName(_)
    ));
}

#[test]
fn urls_have_the_name_escaped_and_the_address_as_it_was_given() {
    let served = Served::in_memory();
    let url = |address, name| served.root.to_url(address, name);
    assert_eq!(url(":h:9", "a/b.c").unwrap(), "corbaname::h:9#a/b.c");
    assert_eq!(
        url("iiop:1.2@h,:g:7/Other", r"a b\.c/ü<>").unwrap(),
        "corbaname:iiop:1.2@h,:g:7/Other#a%20b%5c.c/%c3%bc%3c%3e"
    );
    assert_eq!(url("rir:", "a").unwrap(), "corbaname:rir:#a");
    for bad in ["", "h", ":h:port", ":h#x", "foo:h"] {
        let refused = url(bad, "a").unwrap_err();
        assert!(
            matches!(refused, NamingContextExtToUrlError::InvalidAddress(_)),
            "{bad}"
        );
    }
    let long = format!(":h/{}", "k".repeat(16 << 10));
    let refused = url(&long, "a").unwrap_err();
    assert!(
        matches!(refused, NamingContextExtToUrlError::InvalidAddress(_)),
        "{refused}"
    );
    for bad in ["", "a//b", "a."] {
        let refused = url(":h", bad).unwrap_err();
        assert!(
            matches!(refused, NamingContextExtToUrlError::InvalidName(_)),
            "{bad}"
        );
    }
}

#[test]
fn text_is_resolved_as_the_name_that_it_is() {
    let served = Served::in_memory();
    let one = object(&served.orb, 1);
    served.root.bind_new_context(&name("a.b")).unwrap();
    served.root.bind(&name(r"a.b/x\/y"), Some(&one)).unwrap();
    let found = served.root.resolve_str(r"a.b/x\/y").unwrap().unwrap();
    assert!(same(&found, &one));
    let NamingContextExtResolveStrError::NotFound(refused) =
        served.root.resolve_str("a.b/z").unwrap_err()
    else {
        panic!("it was found");
    };
    assert_eq!(refused.why, NotFoundReason::MissingNode);
    assert_eq!(refused.rest_of_name, name("z"));
}

#[test]
fn idl_that_includes_cosnaming_shares_its_types() {
    let unknown = idl::registry::Unknown { asked: name("a/b") };
    let asked: cos_naming::Name = unknown.asked;
    assert_eq!(asked, name("a/b"));
    let served = Served::in_memory();
    // A derived interface is widened to its base context.
    let directory = idl::registry::Directory::from_object(served.root.as_object().clone());
    let context: &cos_naming::NamingContext = &directory;
    context.bind_new_context(&name("a")).unwrap();
    assert!(served.root.resolve_str("a").unwrap().is_some());
    let generated = include_str!(concat!(env!("OUT_DIR"), "/registry.rs"));
    assert!(!generated.contains("pub struct NameComponent"));
}

#[test]
fn the_idl_is_where_build_scripts_of_users_are_told() {
    let idl = concat!(env!("CARGO_MANIFEST_DIR"), "/client/idl/CosNaming.idl");
    let text = std::fs::read_to_string(idl).unwrap();
    assert!(text.contains("interface NamingContextExt : NamingContext"));
}
