//! Exceeded limits, and malicious clients.

use crate::support::{Served, name, object};
use punctual::{Interface, SystemException, SystemExceptionKind as Kind};
use punctual_host::metrics::Exposition;
use punctual_naming::cos_naming::{
    NameComponent, NamingContext, NamingContextBindError, NamingContextBindNewContextError,
    NamingContextResolveError,
};
use punctual_naming::extension::{Choice, ExtendedContext};
use punctual_naming::{Limits, NamingService, Size};

fn limited(limits: Limits) -> Served {
    let service = NamingService::in_memory().unwrap();
    service.set_limits(limits);
    Served::new(&service)
}

fn is_no_resources(exception: &SystemException) -> bool {
    exception.kind() == Kind::NoResources
}

#[test]
fn a_name_of_a_million_components_is_refused_and_the_server_goes_on() {
    let served = Served::in_memory();
    let component = |_| NameComponent {
        id: "x".to_owned(),
        kind: String::new(),
    };
    let name: Vec<NameComponent> = (0..1_000_000).map(component).collect();
    let refused = served.root.resolve(&name).unwrap_err();
    assert!(
        matches!(refused, NamingContextResolveError::InvalidName(_)),
        "{refused}"
    );
    let one = object(&served.orb, 1);
    let refused = served.root.bind(&name, Some(&one)).unwrap_err();
    assert!(
        matches!(refused, NamingContextBindError::InvalidName(_)),
        "{refused}"
    );
    let text = vec!["x"; 1_000_000].join("/");
    assert!(served.root.to_name(&text).is_err());
    assert!(served.root.resolve_str(&text).is_err());
    assert!(served.root.to_url(":h", &text).is_err());
    assert_eq!(served.service.size().bindings, 0);
}

#[test]
fn names_are_as_long_and_as_deep_as_the_limits_and_no_more() {
    let served = limited(Limits {
        name_components: 3,
        component_bytes: 8,
        ..Limits::default()
    });
    let one = object(&served.orb, 1);
    served.root.bind(&name("1234.5678"), Some(&one)).unwrap();
    let refused = served
        .root
        .bind(&name("1234.56789"), Some(&one))
        .unwrap_err();
    assert!(matches!(refused, NamingContextBindError::InvalidName(_)));
    let mut path = String::new();
    for part in ["a", "b", "c"] {
        path = format!("{path}/{part}").trim_start_matches('/').to_owned();
        served.root.bind_new_context(&name(&path)).unwrap();
    }
    let refused = served.root.bind_new_context(&name("a/b/c/d")).unwrap_err();
    assert!(matches!(
        refused,
        NamingContextBindNewContextError::InvalidName(_)
    ));
    // From a context below it is not too deep.
    let c = served.root.resolve(&name("a/b/c")).unwrap().unwrap();
    let c = NamingContext::narrow(c).unwrap();
    c.bind(&name("d"), Some(&one)).unwrap();
}

#[test]
fn contexts_are_made_in_one_another_as_deep_as_the_limit_and_no_deeper() {
    let served = limited(Limits {
        depth: 3,
        ..Limits::default()
    });
    let mut context: NamingContext = served.root.clone().into();
    for _ in 0..3 {
        context = context.bind_new_context(&name("x")).unwrap().unwrap();
    }
    let refused = context.bind_new_context(&name("x")).unwrap_err();
    let NamingContextBindNewContextError::System(refused) = refused else {
        panic!("{refused}");
    };
    assert!(is_no_resources(&refused), "{refused}");
    assert!(is_no_resources(&context.new_context().unwrap_err()));
    // Names of existing contexts are bound anywhere.
    context
        .bind_context(&name("root"), Some(&served.root))
        .unwrap();
}

#[test]
fn there_are_as_many_contexts_and_bindings_as_the_limits_and_no_more() {
    let served = limited(Limits {
        contexts: 3,
        bindings: 3,
        ..Limits::default()
    });
    let one = object(&served.orb, 1);
    served.root.bind_new_context(&name("a")).unwrap();
    let loose = served.root.new_context().unwrap().unwrap();
    let refused = served.root.new_context().unwrap_err();
    assert!(is_no_resources(&refused), "{refused}");
    let refused = served.root.bind_new_context(&name("b")).unwrap_err();
    assert!(
        matches!(&refused, NamingContextBindNewContextError::System(it) if is_no_resources(it))
    );
    served.root.bind(&name("x"), Some(&one)).unwrap();
    loose.bind(&name("y"), Some(&one)).unwrap();
    let refused = served.root.bind(&name("z"), Some(&one)).unwrap_err();
    assert!(matches!(&refused, NamingContextBindError::System(it) if is_no_resources(it)));
    served.root.rebind(&name("x"), Some(&one)).unwrap();
    let size = Size {
        contexts: 3,
        bindings: 3,
    };
    assert_eq!(served.service.size(), size);
    loose.unbind(&name("y")).unwrap();
    loose.destroy().unwrap();
    served.root.bind(&name("z"), Some(&one)).unwrap();
    served.root.new_context().unwrap();
    assert_eq!(served.service.size(), size);
}

#[test]
fn bindings_take_as_many_bytes_as_the_limit_in_every_store_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    for service in [
        NamingService::in_memory().unwrap(),
        NamingService::open(&path).unwrap(),
    ] {
        service.set_limits(Limits {
            bytes: 20_000,
            ..Limits::default()
        });
        let served = Served::new(&service);
        let long = |letter: &str| {
            let text = format!("corbaloc::127.0.0.1:1/{}", letter.repeat(7000));
            served.orb.string_to_object(&text).unwrap()
        };
        let short = object(&served.orb, 1);
        served.root.bind(&name("a"), Some(&long("a"))).unwrap();
        served.root.bind(&name("b"), Some(&long("b"))).unwrap();
        let refused = served.root.bind(&name("c"), Some(&long("c"))).unwrap_err();
        assert!(matches!(&refused, NamingContextBindError::System(it) if is_no_resources(it)));
        // Neither does it fit in place of a short one, which stays.
        served.root.bind(&name("c"), Some(&short)).unwrap();
        served
            .root
            .rebind(&name("c"), Some(&long("c")))
            .unwrap_err();
        served.root.rebind(&name("a"), Some(&long("d"))).unwrap();
        // Contexts count, and what is refused leaves nothing.
        let refused = (0..100)
            .find_map(|_| served.root.new_context().err())
            .unwrap();
        assert!(is_no_resources(&refused), "{refused}");
        let before = served.service.size();
        served.root.bind_new_context(&name("n")).unwrap_err();
        assert_eq!(served.service.size(), before);
        // What is unbound makes room.
        served.root.unbind(&name("b")).unwrap();
        served.root.rebind(&name("c"), Some(&long("c"))).unwrap();
        served.root.bind_new_context(&name("n")).unwrap_err();
    }
    // What was there stays, and counts.
    let service = NamingService::open(&path).unwrap();
    service.set_limits(Limits {
        bytes: 1000,
        ..Limits::default()
    });
    let served = Served::new(&service);
    served.root.resolve(&name("a")).unwrap();
    served
        .root
        .rebind(&name("a"), Some(&object(&served.orb, 1)))
        .unwrap();
    served
        .root
        .bind(&name("z"), Some(&object(&served.orb, 1)))
        .unwrap_err();
}

/// Returns the number of bytes that bindings take, as the metrics have it.
fn bytes(service: &NamingService) -> u64 {
    let mut out = Exposition::of("naming");
    service.write_metrics(&mut out);
    let text = out.into_text();
    let mut lines = text.lines();
    let number = lines.find_map(|line| line.strip_prefix("punctual_naming_bindings_bytes "));
    number.unwrap().parse().unwrap()
}

#[test]
fn what_was_unbound_counts_no_more_and_a_file_counts_the_same_when_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    let service = NamingService::open(&path).unwrap();
    let served = Served::new(&service);
    let one = object(&served.orb, 1);
    let empty = bytes(&service);
    served.root.bind(&name("a"), Some(&one)).unwrap();
    served
        .root
        .rebind(&name("a"), Some(&object(&served.orb, 10)))
        .unwrap();
    let inner = served.root.bind_new_context(&name("n")).unwrap().unwrap();
    inner.bind(&name("b"), Some(&one)).unwrap();
    let context = ExtendedContext::narrow(served.root.as_object().clone()).unwrap();
    context.bind_group(&name("g"), Choice::RoundRobin).unwrap();
    for id in ["m", "n"] {
        context.join(&name("g"), id, Some(&one), 0).unwrap();
    }
    context.leave(&name("g"), "n").unwrap();
    let full = bytes(&service);
    assert!(full > empty + 1000, "{empty} and {full}");
    drop(served);
    drop(service);
    let service = NamingService::open(&path).unwrap();
    assert_eq!(bytes(&service), full);
    let served = Served::new(&service);
    let inner = served.root.resolve(&name("n")).unwrap().unwrap();
    let inner = NamingContext::narrow(inner).unwrap();
    inner.unbind(&name("b")).unwrap();
    inner.destroy().unwrap();
    for bound in ["a", "n", "g"] {
        served.root.unbind(&name(bound)).unwrap();
    }
    assert_eq!(bytes(&service), empty);
}

#[test]
fn a_reference_that_is_too_long_is_refused() {
    let served = Served::in_memory();
    let key = "k".repeat(20_000);
    let text = format!("corbaloc::127.0.0.1:1/{key}");
    let long = served.orb.string_to_object(&text).unwrap();
    let refused = served.root.bind(&name("x"), Some(&long)).unwrap_err();
    assert!(matches!(&refused, NamingContextBindError::System(it) if is_no_resources(it)));
    assert_eq!(served.service.size().bindings, 0);
}

#[test]
fn object_keys_that_are_made_up_lead_to_no_context() {
    let served = Served::in_memory();
    let ior = served.root.as_object().ior().clone();
    let key = served.root.as_object().object_key().unwrap();
    for change in 0..key.len() {
        let mut other = key.clone();
        other[change] ^= 0x55;
        let mut ior = ior.clone();
        for profile in &mut ior.profiles {
            let at = profile
                .data
                .windows(key.len())
                .position(|some| *some == *key);
            if let Some(at) = at {
                profile.data[at..at + key.len()].copy_from_slice(&other);
            }
        }
        let text = ior.stringify(punctual::stub::ByteOrder::NATIVE).unwrap();
        let forged = served.orb.string_to_object(&text).unwrap();
        let forged = NamingContext::from_object(forged);
        let refused = forged.list(1).unwrap_err();
        assert!(
            matches!(
                refused.kind(),
                Kind::ObjectNotExist | Kind::ObjAdapter | Kind::Transient
            ),
            "{change}: {refused}"
        );
    }
    assert!(served.root.list(1).is_ok());
}
