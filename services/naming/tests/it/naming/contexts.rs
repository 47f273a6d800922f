//! Operations of `NamingContext`: their effects, and each exception with its details.

use crate::support::{Served, name, object, same};
use punctual::{Interface, ObjectRef, SystemException, SystemExceptionKind as Kind};
use punctual_naming::cos_naming::naming_context::{NotFound, NotFoundReason};
use punctual_naming::cos_naming::{
    NamingContext, NamingContextBindContextError, NamingContextBindError,
    NamingContextBindNewContextError, NamingContextDestroyError, NamingContextExt,
    NamingContextRebindContextError, NamingContextRebindError, NamingContextResolveError,
    NamingContextUnbindError,
};

fn not_found(why: NotFoundReason, rest: &str) -> NotFound {
    let rest_of_name = name(rest);
    NotFound { why, rest_of_name }
}

fn kind<T: std::fmt::Debug>(result: Result<T, SystemException>) -> Kind {
    result.unwrap_err().kind()
}

/// Makes a context `a`, an object `a/b` and a context `a/c`.
fn furnished() -> (Served, ObjectRef) {
    let served = Served::in_memory();
    let one = object(&served.orb, 1);
    served.root.bind_new_context(&name("a")).unwrap();
    served.root.bind(&name("a/b"), Some(&one)).unwrap();
    served.root.bind_new_context(&name("a/c")).unwrap();
    (served, one)
}

#[test]
fn an_object_is_resolved_by_the_name_that_it_was_bound_to_and_not_once_that_is_unbound() {
    let (served, one) = furnished();
    let found = served.root.resolve(&name("a/b")).unwrap().unwrap();
    assert!(same(&found, &one));
    // Id and kind together are the name.
    let other = object(&served.orb, 2);
    served.root.bind(&name("a/b.kind"), Some(&other)).unwrap();
    let found = served.root.resolve(&name("a/b.kind")).unwrap().unwrap();
    assert!(same(&found, &other));
    served.root.unbind(&name("a/b")).unwrap();
    let gone = served.root.resolve(&name("a/b")).unwrap_err();
    let expected = not_found(NotFoundReason::MissingNode, "b");
    assert_eq!(gone, NamingContextResolveError::NotFound(expected.clone()));
    let again = served.root.unbind(&name("a/b")).unwrap_err();
    assert_eq!(again, NamingContextUnbindError::NotFound(expected));
    assert!(served.root.resolve(&name("a/b.kind")).unwrap().is_some());
}

#[test]
fn nil_is_bound_as_an_object_and_refused_as_a_context() {
    let (served, _) = furnished();
    served.root.bind(&name("nil"), None).unwrap();
    assert_eq!(served.root.resolve(&name("nil")), Ok(None));
    let refused = served.root.bind_context(&name("c"), None).unwrap_err();
    assert!(
        matches!(&refused, NamingContextBindContextError::System(it) if it.kind() == Kind::BadParam),
        "{refused}"
    );
}

#[test]
fn a_name_that_is_bound_is_bound_again_by_rebind_alone_and_to_the_same_kind_of_thing() {
    let (served, one) = furnished();
    let (root, two) = (&served.root, object(&served.orb, 2));
    let context = root.new_context().unwrap().unwrap();
    let refused = root.bind(&name("a/b"), Some(&two)).unwrap_err();
    assert!(matches!(refused, NamingContextBindError::AlreadyBound(_)));
    let refused = root.bind_context(&name("a/b"), Some(&context)).unwrap_err();
    assert!(matches!(
        refused,
        NamingContextBindContextError::AlreadyBound(_)
    ));
    let refused = root.bind_new_context(&name("a")).unwrap_err();
    assert!(matches!(
        refused,
        NamingContextBindNewContextError::AlreadyBound(_)
    ));
    assert!(same(&root.resolve(&name("a/b")).unwrap().unwrap(), &one));

    root.rebind(&name("a/b"), Some(&two)).unwrap();
    assert!(same(&root.resolve(&name("a/b")).unwrap().unwrap(), &two));
    root.rebind_context(&name("a/c"), Some(&context)).unwrap();
    assert!(same(
        &root.resolve(&name("a/c")).unwrap().unwrap(),
        &context
    ));
    // CosNaming 1.3, §2.2.1.2 and §2.2.1.4.
    let refused = root.rebind(&name("a/c"), Some(&two)).unwrap_err();
    let expected = not_found(NotFoundReason::NotObject, "c");
    assert_eq!(refused, NamingContextRebindError::NotFound(expected));
    let refused = root
        .rebind_context(&name("a/b"), Some(&context))
        .unwrap_err();
    let expected = not_found(NotFoundReason::NotContext, "b");
    assert_eq!(refused, NamingContextRebindContextError::NotFound(expected));
    // An unbound name is bound.
    root.rebind(&name("a/new"), Some(&two)).unwrap();
    root.rebind_context(&name("a/other"), Some(&context))
        .unwrap();
    assert!(same(
        &root.resolve(&name("a/other")).unwrap().unwrap(),
        &context
    ));
}

#[test]
fn a_name_that_leads_nowhere_says_where_it_ended_and_why() {
    let (served, one) = furnished();
    let root = &served.root;
    for (asked, why, rest) in [
        ("x/y/z", NotFoundReason::MissingNode, "x/y/z"),
        ("a/x/z", NotFoundReason::MissingNode, "x/z"),
        ("a/x", NotFoundReason::MissingNode, "x"),
        ("a/b/x/y", NotFoundReason::NotContext, "b/x/y"),
        ("a.k", NotFoundReason::MissingNode, "a.k"),
    ] {
        let expected = not_found(why, rest);
        let refused = root.resolve(&name(asked)).unwrap_err();
        assert_eq!(
            refused,
            NamingContextResolveError::NotFound(expected.clone()),
            "{asked}"
        );
        let refused = root.unbind(&name(asked)).unwrap_err();
        assert_eq!(
            refused,
            NamingContextUnbindError::NotFound(expected.clone()),
            "{asked}"
        );
        if name(asked).len() > expected.rest_of_name.len() || asked.contains("/y") {
            continue;
        }
        root.bind(&name(asked), Some(&one)).unwrap();
    }
    let refused = root.bind(&name("x/y"), Some(&one)).unwrap_err();
    let expected = not_found(NotFoundReason::MissingNode, "x/y");
    assert_eq!(refused, NamingContextBindError::NotFound(expected));
    let refused = root.bind_new_context(&name("a/b/d")).unwrap_err();
    let expected = not_found(NotFoundReason::NotContext, "b/d");
    assert_eq!(
        refused,
        NamingContextBindNewContextError::NotFound(expected)
    );
}

#[test]
fn a_name_without_components_is_invalid_and_one_with_empty_text_is_a_name() {
    let (served, one) = furnished();
    let root = &served.root;
    let refused = root.resolve(&[]).unwrap_err();
    assert!(matches!(refused, NamingContextResolveError::InvalidName(_)));
    let refused = root.bind(&[], Some(&one)).unwrap_err();
    assert!(matches!(refused, NamingContextBindError::InvalidName(_)));
    let refused = root.rebind(&[], Some(&one)).unwrap_err();
    assert!(matches!(refused, NamingContextRebindError::InvalidName(_)));
    let refused = root.unbind(&[]).unwrap_err();
    assert!(matches!(refused, NamingContextUnbindError::InvalidName(_)));
    let refused = root.bind_new_context(&[]).unwrap_err();
    assert!(matches!(
        refused,
        NamingContextBindNewContextError::InvalidName(_)
    ));
    root.bind(&name("."), Some(&one)).unwrap();
    assert!(same(&root.resolve(&name(".")).unwrap().unwrap(), &one));
}

#[test]
fn a_context_that_is_bound_as_an_object_is_no_way_through() {
    let (served, one) = furnished();
    let context = served.root.new_context().unwrap().unwrap();
    context.bind(&name("x"), Some(&one)).unwrap();
    let object = ObjectRef::from(context.clone());
    served.root.bind(&name("o"), Some(&object)).unwrap();
    served
        .root
        .bind_context(&name("c"), Some(&context))
        .unwrap();
    assert!(served.root.resolve(&name("c/x")).unwrap().is_some());
    let refused = served.root.resolve(&name("o/x")).unwrap_err();
    let expected = not_found(NotFoundReason::NotContext, "o/x");
    assert_eq!(refused, NamingContextResolveError::NotFound(expected));
    assert!(same(
        &served.root.resolve(&name("o")).unwrap().unwrap(),
        &context
    ));
}

#[test]
fn contexts_are_called_by_their_own_references_which_say_what_they_are() {
    let (served, one) = furnished();
    let a = served.root.resolve(&name("a")).unwrap().unwrap();
    assert_eq!(a.type_id(), NamingContextExt::REPOSITORY_ID);
    let a = NamingContextExt::narrow(a).unwrap();
    assert!(same(&a.resolve(&name("b")).unwrap().unwrap(), &one));
    a.bind(&name("c/d"), Some(&one)).unwrap();
    assert!(served.root.resolve(&name("a/c/d")).unwrap().is_some());
    assert!(a.as_object().is_a(NamingContext::REPOSITORY_ID).unwrap());
}

#[test]
fn a_context_is_destroyed_when_it_is_empty_and_the_root_never() {
    let (served, one) = furnished();
    let a = NamingContext::narrow(served.root.resolve(&name("a/c")).unwrap().unwrap()).unwrap();
    a.bind(&name("x"), Some(&one)).unwrap();
    let refused = a.destroy().unwrap_err();
    assert!(matches!(refused, NamingContextDestroyError::NotEmpty(_)));
    a.unbind(&name("x")).unwrap();
    assert!(!a.as_object().non_existent().unwrap());
    a.destroy().unwrap();
    assert_eq!(kind(a.new_context()), Kind::ObjectNotExist);
    let refused = a.resolve(&name("x")).unwrap_err();
    assert!(
        matches!(refused, NamingContextResolveError::System(it) if it.kind() == Kind::ObjectNotExist)
    );
    assert!(a.as_object().non_existent().unwrap());
    for root in [&served.root, &Served::in_memory().root] {
        let refused = root.destroy().unwrap_err();
        assert!(
            matches!(refused, NamingContextDestroyError::System(it) if it.kind() == Kind::NoPermission)
        );
    }
}

#[test]
fn a_name_through_a_destroyed_context_cannot_proceed_and_the_binding_to_it_can_be_removed() {
    let (served, one) = furnished();
    let root = &served.root;
    let c = NamingContext::narrow(root.resolve(&name("a/c")).unwrap().unwrap()).unwrap();
    c.destroy().unwrap();
    let NamingContextResolveError::CannotProceed(refused) =
        root.resolve(&name("a/c/x/y")).unwrap_err()
    else {
        panic!("it proceeded");
    };
    assert!(same(refused.cxt.as_ref().unwrap(), &c));
    assert_eq!(refused.rest_of_name, name("x/y"));
    let refused = root.bind(&name("a/c/x"), Some(&one)).unwrap_err();
    assert!(matches!(refused, NamingContextBindError::CannotProceed(_)));
    root.unbind(&name("a/c")).unwrap();
    assert!(root.resolve(&name("a/c")).is_err());
}

#[test]
fn contexts_may_contain_one_another_and_names_go_round_as_long_as_they_are() {
    let (served, one) = furnished();
    let root = &served.root;
    let a = NamingContext::narrow(root.resolve(&name("a")).unwrap().unwrap()).unwrap();
    a.bind_context(&name("c/up"), Some(&a)).unwrap();
    a.bind_context(&name("itself"), Some(&a)).unwrap();
    let round = "c/up/itself/".repeat(30);
    let found = a.resolve(&name(&format!("{round}b"))).unwrap().unwrap();
    assert!(same(&found, &one));
    // A context that contains itself is not empty.
    a.unbind(&name("b")).unwrap();
    let refused = a.destroy().unwrap_err();
    assert!(matches!(refused, NamingContextDestroyError::NotEmpty(_)));
}

#[test]
fn callers_within_the_process_are_served_the_same() {
    let orb = punctual::Orb::builder().build().unwrap();
    let poa = crate::support::root_poa(&orb);
    let service = punctual_naming::NamingService::in_memory().unwrap();
    let root = service.serve(&poa, punctual_naming::ServeOptions::default());
    let root = root.unwrap();
    let one = object(&orb, 1);
    root.bind_new_context(&name("a")).unwrap();
    root.bind(&name("a/b"), Some(&one)).unwrap();
    assert!(same(&root.resolve_str("a/b").unwrap().unwrap(), &one));
    let nul = punctual_naming::cos_naming::NameComponent {
        id: "a\0b".to_owned(),
        kind: String::new(),
    };
    let refused = root.bind(&[nul], Some(&one)).unwrap_err();
    assert!(matches!(refused, NamingContextBindError::InvalidName(_)));
    orb.shutdown(true).unwrap();
}
