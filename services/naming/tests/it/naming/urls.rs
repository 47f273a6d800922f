//! Ways in which clients find the service: `corbaloc:`, `corbaname:`, initial references.

use crate::support::{Served, name, object, same};
use punctual::{Interface, Orb, SystemExceptionKind as Kind, minor};
use punctual_naming::cos_naming::NamingContextExt;

/// Makes a context `a b`, an object `a b/x.k`, and binds `nil` to nil.
fn furnished() -> (Served, Orb) {
    let served = Served::in_memory();
    served.root.bind_new_context(&name("a b")).unwrap();
    let one = object(&served.orb, 1);
    served.root.bind(&name("a b/x.k"), Some(&one)).unwrap();
    served.root.bind(&name("nil"), None).unwrap();
    (served, Orb::builder().build().unwrap())
}

#[test]
fn a_corbaloc_leads_to_the_root_context() {
    let (served, client) = furnished();
    let url = format!("corbaloc:{}/NameService", served.address());
    let root = NamingContextExt::narrow(client.string_to_object(&url).unwrap()).unwrap();
    let found = root.resolve_str("a b/x.k").unwrap().unwrap();
    assert!(same(&found, &object(&client, 1)));
    client.shutdown(true).unwrap();
}

#[test]
fn a_corbaname_leads_to_what_its_name_is_bound_to_and_one_without_to_the_context() {
    let (served, client) = furnished();
    let url = served.root.to_url(&served.address(), "a b/x.k").unwrap();
    let found = client.string_to_object(&url).unwrap();
    assert!(same(&found, &object(&client, 1)));
    let root = client.string_to_object(&format!("corbaname:{}", served.address()));
    let root = NamingContextExt::narrow(root.unwrap()).unwrap();
    assert!(root.resolve_str("a b").unwrap().is_some());
    let nil = format!("corbaname:{}#nil", served.address());
    assert_eq!(client.string_to_nilable(&nil), Ok(None));
    let refused = client.string_to_object(&nil).unwrap_err();
    assert_eq!(refused.kind(), Kind::InvObjref);
    client.shutdown(true).unwrap();
}

#[test]
fn a_corbaname_that_leads_nowhere_says_which_component_and_why() {
    let (served, client) = furnished();
    for (rest, said) in [
        ("a%20b/y/z", "`a b/y`: it is not bound"),
        (
            "a%20b/x.k/z",
            "`a b/x.k`: it is bound, but not to a naming context",
        ),
        ("q", "`q`: it is not bound"),
    ] {
        let url = format!("corbaname:{}#{rest}", served.address());
        let refused = client.string_to_object(&url).unwrap_err();
        let expected = (Kind::BadParam, minor::BAD_SCHEME_SPECIFIC_PART);
        assert_eq!((refused.kind(), refused.minor()), expected);
        let text = refused.to_string();
        assert!(text.contains(said) && text.contains(&url), "{text}");
    }
    let address = served.address();
    drop(served);
    let refused = client.string_to_object(&format!("corbaname:{address}#a"));
    let kind = refused.unwrap_err().kind();
    assert!(
        matches!(kind, Kind::Transient | Kind::CommFailure),
        "{kind:?}"
    );
    let refused = client.string_to_object("corbaname::h#a//b").unwrap_err();
    assert_eq!(refused.minor(), minor::BAD_SCHEME_SPECIFIC_PART);
    client.shutdown(true).unwrap();
}

#[test]
fn initial_references_may_be_names_and_names_may_be_in_initial_references() {
    let (served, _) = furnished();
    let address = served.address();
    let service = format!("NameService=corbaloc:{address}/NameService");
    let direct = format!("Direct=corbaname:{address}#a%20b/x.k");
    let arguments = ["program", "-ORBInitRef", &service, "-ORBInitRef", &direct];
    let (client, _) = Orb::init(arguments.map(str::to_owned)).unwrap();
    let one = object(&client, 1);
    assert!(same(
        &client.resolve_initial_references("Direct").unwrap(),
        &one
    ));
    let found = client.string_to_object("corbaname:rir:#a%20b/x.k").unwrap();
    assert!(same(&found, &one));
    let root = client.resolve_initial_references("NameService").unwrap();
    assert!(NamingContextExt::narrow(root).is_ok());
    client.shutdown(true).unwrap();
}

#[test]
fn a_default_for_initial_references_may_be_a_host_or_a_context() {
    let (served, _) = furnished();
    let by = |prefix: String| {
        let arguments = [
            "program".to_owned(),
            "-ORBDefaultInitRef".to_owned(),
            prefix,
        ];
        Orb::init(arguments).unwrap().0
    };
    let client = by(format!("corbaloc:{}", served.address()));
    let root = client.resolve_initial_references("NameService").unwrap();
    let root = NamingContextExt::narrow(root).unwrap();
    assert!(root.resolve_str("a b").unwrap().is_some());
    let client = by(format!("corbaname:{}#a%20b", served.address()));
    let found = client.resolve_initial_references("x.k").unwrap();
    assert!(same(&found, &object(&client, 1)));
}
