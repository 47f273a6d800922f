//! Functions for clients beyond the standard's interface.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{Served, name, object, same};
use punctual::{Interface, ListenEndpoint, ObjectRef, Orb, RootPoa, SystemExceptionKind as Kind};
use punctual_naming::client::Names;
use punctual_naming::cos_naming::{
    NamingContext, NamingContextBindError, NamingContextBindNewContextError, NamingContextExt,
    NamingContextResolveError, NamingContextUnbindError,
};
use punctual_naming::{NamingService, ServeOptions};

#[test]
fn a_name_is_resolved_to_a_typed_reference_in_one_call() {
    let served = Served::in_memory();
    served
        .orb
        .register_initial_reference("NameService", &served.root)
        .unwrap();
    let names = Names::of(&served.orb).unwrap();
    // Contexts on the way are made.
    names.bind("a/b/root", &served.root).unwrap();
    names.rebind("a/b/root", &served.root).unwrap();
    names.rebind("c/d/root", &served.root).unwrap();
    let found: NamingContextExt = names.resolve("a/b/root").unwrap();
    assert!(same(&found, &served.root));
    let missing = names.resolve::<NamingContext>("a/c").unwrap_err();
    assert!(matches!(missing, NamingContextResolveError::NotFound(_)));
    let bad = names.resolve::<NamingContext>("a//c").unwrap_err();
    assert!(matches!(bad, NamingContextResolveError::InvalidName(_)));
    served.root.bind(&name("nil"), None).unwrap();
    let nil = names.resolve::<NamingContext>("nil").unwrap_err();
    assert!(matches!(nil, NamingContextResolveError::System(it) if it.kind() == Kind::InvObjref));
}

#[test]
fn binding_a_bound_name_is_refused_and_rebinding_replaces_it() {
    let served = Served::in_memory();
    let names = Names::below(&served.root);
    let context = names.bind_new_context("plants/north").unwrap();
    names.bind("plants/x", &context).unwrap();
    let taken = names.bind("plants/x", &served.root).unwrap_err();
    assert!(matches!(taken, NamingContextBindError::AlreadyBound(_)));
    assert!(same(
        &names.resolve::<NamingContext>("plants/x").unwrap(),
        &context
    ));
    names.rebind("plants/x", &served.root).unwrap();
    assert!(same(
        &names.resolve::<NamingContext>("plants/x").unwrap(),
        &served.root
    ));
    let taken = names.bind_new_context("plants/north").unwrap_err();
    assert!(matches!(
        taken,
        NamingContextBindNewContextError::AlreadyBound(_)
    ));
    names.unbind("plants/x").unwrap();
    let gone = names.unbind("plants/x").unwrap_err();
    assert!(matches!(gone, NamingContextUnbindError::NotFound(_)));
}

#[test]
fn what_is_remembered_is_called_without_asking_and_forgotten_when_it_is_stale() {
    let served = Served::in_memory();
    let names = Names::below(&served.root);
    let made = || served.root.new_context().unwrap().unwrap();
    let (first, second) = (made(), made());
    names.bind("x", &first).unwrap();
    let calls = AtomicUsize::new(0);
    let list = |context: &NamingContext| {
        calls.fetch_add(1, Ordering::Relaxed);
        context.list(0).map(|_| same(context, &first))
    };
    assert_eq!(names.call("x", list), Ok(true));
    // The name is bound to another object, but the remembered one is still valid.
    names.rebind("x", &second).unwrap();
    assert_eq!(names.call("x", list), Ok(true));
    names.forget("x");
    assert_eq!(names.call("x", list), Ok(false));
    names.rebind("x", &first).unwrap();
    second.destroy().unwrap();
    let before = calls.load(Ordering::Relaxed);
    assert_eq!(names.call("x", list), Ok(true));
    assert_eq!(calls.load(Ordering::Relaxed) - before, 2);
    served.root.unbind(&name("x")).unwrap();
    first.destroy().unwrap();
    let gone = names.call("x", list).unwrap_err();
    assert_eq!(gone.kind(), Kind::ObjectNotExist);
}

fn serve(port: u16) -> (Orb, NamingContextExt) {
    let orb = Orb::builder().listen(ListenEndpoint::iiop("127.0.0.1", port));
    let orb = orb.build().unwrap();
    let service = NamingService::in_memory().unwrap();
    let root = service.serve(&crate::support::root_poa(&orb), ServeOptions::default());
    let root = root.unwrap();
    orb.ior_table().unwrap().bind("NameService", &root).unwrap();
    (orb, root)
}

/// Waits until a name is bound, and returns the bound object.
fn found(root: &NamingContextExt, text: &str) -> ObjectRef {
    loop {
        match root.resolve(&name(text)) {
            Ok(found) => return found.unwrap(),
            Err(_) => std::thread::yield_now(),
        }
    }
}

#[test]
fn a_name_is_bound_again_after_the_naming_service_has_lost_it_and_left_to_who_binds_it_otherwise() {
    let (first, root) = serve(0);
    let port = first.endpoints()[0].port().unwrap();
    let client = Orb::builder().build().unwrap();
    let one = object(&client, 1);
    let url = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/NameService");
    let service = NamingContext::from_object(client.string_to_object(&url).unwrap());
    let kept = Names::below(&service).keep_bound("a/x", &one, Duration::from_millis(20));
    let kept = kept.unwrap();
    assert!(same(&found(&root, "a/x"), &one));
    first.shutdown(true).unwrap();
    drop((first, root));
    let (second, root) = serve(port);
    assert!(same(&found(&root, "a/x"), &one));
    let two = object(&second, 2);
    root.rebind(&name("a/x"), Some(&two)).unwrap();
    drop(kept);
    assert!(same(&found(&root, "a/x"), &two));
    root.unbind(&name("a/x")).unwrap();
    assert!(root.resolve(&name("a/x")).is_err());
    second.shutdown(true).unwrap();
    client.shutdown(true).unwrap();
}
