//! Permissions to change contexts, by address and by certificate.

use crate::authority::Authority;
use crate::support::{Served, name, object};
use punctual::policy::Collocation;
use punctual::protocol::ssliop::{ClientCertificate, TlsOptions};
use punctual::{Interface, ListenEndpoint, Orb, RootPoa, SystemExceptionKind as Kind};
use punctual_naming::cos_naming::{
    NamingContext, NamingContextBindContextError, NamingContextBindError,
    NamingContextDestroyError, NamingContextExt, NamingContextUnbindError,
};
use punctual_naming::{Access, NamingService, ServeOptions};

fn granted(grants: &[(&str, &str)]) -> Access {
    let mut access = Access::default();
    for (below, who) in grants {
        access.grant(below, who.parse().unwrap()).unwrap();
    }
    access
}

/// Makes contexts `a`, `a/x` and `b` before anything is granted.
fn furnished() -> Served {
    let served = Served::in_memory();
    for context in ["a", "a/x", "b"] {
        served.root.bind_new_context(&name(context)).unwrap();
    }
    served
}

fn is_refused(result: Result<(), NamingContextBindError>) -> bool {
    matches!(result, Err(NamingContextBindError::System(it)) if it.kind() == Kind::NoPermission)
}

#[test]
fn a_peer_changes_what_was_made_below_the_contexts_that_it_was_granted_and_nothing_else() {
    let served = furnished();
    let root = &served.root;
    let one = object(&served.orb, 1);
    served
        .service
        .set_access(granted(&[("a", "127.0.0.0/8"), ("", "10.0.0.0/8")]));
    root.bind(&name("a/o"), Some(&one)).unwrap();
    root.bind(&name("a/x/o"), Some(&one)).unwrap();
    root.bind_new_context(&name("a/x/new")).unwrap();
    root.bind(&name("a/x/new/o"), Some(&one)).unwrap();
    assert!(is_refused(root.bind(&name("o"), Some(&one))));
    assert!(is_refused(root.bind(&name("b/o"), Some(&one))));
    let refused = root.unbind(&name("a")).unwrap_err();
    assert!(
        matches!(refused, NamingContextUnbindError::System(it) if it.kind() == Kind::NoPermission)
    );
    assert_eq!(root.new_context().unwrap_err().kind(), Kind::NoPermission);
    let b = NamingContext::from_object(root.resolve(&name("b")).unwrap().unwrap());
    let refused = b.destroy().unwrap_err();
    assert!(
        matches!(refused, NamingContextDestroyError::System(it) if it.kind() == Kind::NoPermission)
    );
    // Everything can be read, and a context below is removed with its grant.
    assert_eq!(root.list(9).unwrap().0.len(), 2);
    served.service.set_access(Access::default());
    root.bind(&name("o"), Some(&one)).unwrap();
}

#[test]
fn binding_a_context_elsewhere_gives_no_right_to_change_it() {
    let served = furnished();
    let root = &served.root;
    let one = object(&served.orb, 1);
    served.service.set_access(granted(&[("a", "any")]));
    let b = NamingContext::from_object(root.resolve(&name("b")).unwrap().unwrap());
    root.bind_context(&name("a/mine"), Some(&b)).unwrap();
    assert!(is_refused(root.bind(&name("a/mine/o"), Some(&one))));
    assert!(is_refused(b.bind(&name("o"), Some(&one))));
    let refused = root.rebind_context(&name("b"), Some(&b));
    assert!(refused.is_err());
    // A grant does not follow its name to a context that was made elsewhere.
    served.service.set_access(granted(&[("a/mine", "any")]));
    assert!(is_refused(b.bind(&name("o"), Some(&one))));
    let refused = root.bind_context(&name("c"), Some(&b)).unwrap_err();
    assert!(
        matches!(refused, NamingContextBindContextError::System(it) if it.kind() == Kind::NoPermission)
    );
}

#[test]
fn this_process_changes_everything_and_links_within_the_machine_are_local() {
    let folder = tempfile::tempdir().unwrap();
    let service = NamingService::in_memory().unwrap();
    service.set_access(granted(&[("", "local")]));
    let socket = folder.path().join("names");
    let orb = Orb::builder()
        .listen(ListenEndpoint::new("uiop", &socket.display().to_string()))
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let root = service.serve(&poa, ServeOptions::default()).unwrap();
    orb.ior_table().unwrap().bind("NameService", &root).unwrap();
    root.bind_new_context(&name("by_itself")).unwrap();
    let text = orb.object_to_string(&root).unwrap();
    let by = |protocol: &str| {
        let arguments = ["p", "-ORBClientProtocols", protocol].map(str::to_owned);
        let client = Orb::builder().configure(|config| config.collocation = Collocation::None);
        let client = client.arguments(arguments).unwrap().0.build().unwrap();
        NamingContextExt::from_object(client.string_to_object(&text).unwrap())
    };
    by("uiop").bind_new_context(&name("by_socket")).unwrap();
    let refused = by("iiop").new_context().unwrap_err();
    assert_eq!(refused.kind(), Kind::NoPermission);
    orb.shutdown(true).unwrap();
}

#[test]
fn a_peer_is_known_by_the_names_in_its_certificate() {
    let authority = Authority::new();
    let service = NamingService::in_memory().unwrap();
    let options = TlsOptions {
        client_certificate: ClientCertificate::Required,
        ..authority.options("127.0.0.1")
    };
    let orb = Orb::builder()
        .configure(|config| config.tls = Some(options))
        .listen(ListenEndpoint::new("ssliop", "127.0.0.1:0"))
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let root = service.serve(&poa, ServeOptions::default()).unwrap();
    root.bind_new_context(&name("plants")).unwrap();
    service.set_access(granted(&[("plants", "cert:crew"), ("", "cert:chief")]));
    let text = orb.object_to_string(&root).unwrap();
    let by = |who: &str| {
        let options = authority.options(who);
        let client = Orb::builder().configure(|config| {
            config.tls = Some(options);
            config.collocation = Collocation::None;
        });
        let client = client.build().unwrap();
        NamingContextExt::from_object(client.string_to_object(&text).unwrap())
    };
    let (crew, chief, other) = (by("crew"), by("chief"), by("other"));
    crew.bind_new_context(&name("plants/north")).unwrap();
    assert_eq!(crew.new_context().unwrap_err().kind(), Kind::NoPermission);
    chief.bind_new_context(&name("offices")).unwrap();
    assert!(other.bind_new_context(&name("plants/south")).is_err());
    assert!(other.resolve(&name("plants/north")).unwrap().is_some());
    assert!(chief.as_object().connected_to().is_some());
    orb.shutdown(true).unwrap();
}
