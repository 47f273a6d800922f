//! Names through contexts of other servers.

use crate::support::{Served, name, object, orb, orb_with, same};
use punctual::config::Concurrency;
use punctual::policy::Wait;
use punctual::{Interface, Orb, SystemExceptionKind as Kind};
use punctual_naming::cos_naming::naming_context::NotFoundReason;
use punctual_naming::cos_naming::{
    NamingContext, NamingContextBindError, NamingContextResolveError,
};
use punctual_naming::{NamingService, ServeOptions};
use std::io::Read;
use std::net::TcpListener;
use std::time::Duration;

/// Returns the reference to a server's root in another server's ORB.
fn seen_by(other: &Served, root: &Served) -> NamingContext {
    let text = root.orb.object_to_string(&root.root).unwrap();
    NamingContext::from_object(other.orb.string_to_object(&text).unwrap())
}

/// Starts two servers, with the second's root bound in the first as `other`.
fn federated() -> (Served, Served) {
    let (here, there) = (Served::in_memory(), Served::in_memory());
    let root = seen_by(&here, &there);
    here.root.bind_context(&name("other"), Some(&root)).unwrap();
    (here, there)
}

#[test]
fn every_operation_reaches_through_a_context_of_another_server() {
    let (here, there) = federated();
    let (one, two) = (object(&here.orb, 1), object(&here.orb, 2));
    here.root.bind_new_context(&name("other/a")).unwrap();
    here.root.bind(&name("other/a/x"), Some(&one)).unwrap();
    assert!(
        there
            .root
            .resolve_str("a/x")
            .unwrap()
            .unwrap()
            .is_equivalent(&one)
    );
    here.root.rebind(&name("other/a/x"), Some(&two)).unwrap();
    let found = here.root.resolve(&name("other/a/x")).unwrap().unwrap();
    assert!(found.is_equivalent(&two));
    assert!(here.root.resolve_str("other/a/x").unwrap().is_some());
    let made = here.root.new_context().unwrap().unwrap();
    let bound = here.root.bind_context(&name("other/back"), Some(&made));
    bound.unwrap();
    here.root
        .rebind_context(&name("other/back"), Some(&made))
        .unwrap();
    // There and back again: each server resolves one step.
    here.root.bind(&name("other/back/y"), Some(&one)).unwrap();
    assert!(same(&made.resolve(&name("y")).unwrap().unwrap(), &one));
    here.root.unbind(&name("other/a/x")).unwrap();
    let refused = here.root.resolve(&name("other/a/x")).unwrap_err();
    let NamingContextResolveError::NotFound(refused) = refused else {
        panic!("{refused}");
    };
    assert_eq!(
        (refused.why, refused.rest_of_name),
        (NotFoundReason::MissingNode, name("x"))
    );
    let refused = here.root.bind(&name("other/a"), Some(&one)).unwrap_err();
    assert!(matches!(refused, NamingContextBindError::AlreadyBound(_)));
}

#[test]
fn the_name_of_a_foreign_context_itself_is_resolved_and_unbound_here() {
    let (here, there) = federated();
    let found = here.root.resolve(&name("other")).unwrap().unwrap();
    assert!(found.is_equivalent(seen_by(&here, &there).as_object()));
    assert!(
        here.root.list(5).unwrap().0[0].binding_type
            == punctual_naming::cos_naming::BindingType::Ncontext
    );
    here.root.unbind(&name("other")).unwrap();
    assert!(there.root.list(5).unwrap().0.is_empty());
}

#[test]
fn a_server_that_is_gone_leaves_cannot_proceed_with_the_context_and_the_rest() {
    let (here, there) = federated();
    let root = seen_by(&here, &there);
    drop(there);
    let refused = here.root.resolve(&name("other/a/x")).unwrap_err();
    let NamingContextResolveError::CannotProceed(refused) = refused else {
        panic!("{refused}");
    };
    assert!(same(&refused.cxt.unwrap(), &root));
    assert_eq!(refused.rest_of_name, name("a/x"));
}

#[test]
fn a_server_that_does_not_follow_says_where_the_client_may_go_on() {
    let there = Served::in_memory();
    let options = ServeOptions {
        federated: false,
        ..ServeOptions::default()
    };
    let here = Served::with(&NamingService::in_memory().unwrap(), options);
    let root = seen_by(&here, &there);
    here.root.bind_context(&name("other"), Some(&root)).unwrap();
    let one = object(&here.orb, 1);
    let refused = here.root.bind(&name("other/x"), Some(&one)).unwrap_err();
    let NamingContextBindError::CannotProceed(refused) = refused else {
        panic!("{refused}");
    };
    refused
        .cxt
        .unwrap()
        .bind(&refused.rest_of_name, Some(&one))
        .unwrap();
    assert!(there.root.resolve_str("x").unwrap().is_some());
}

#[test]
fn servers_that_contain_one_another_resolve_names_that_go_round() {
    let (here, there) = federated();
    let back = seen_by(&there, &here);
    there.root.bind_context(&name("back"), Some(&back)).unwrap();
    let one = object(&here.orb, 1);
    here.root.bind(&name("x"), Some(&one)).unwrap();
    let round = "other/back/".repeat(10);
    let found = here.root.resolve(&name(&format!("{round}x"))).unwrap();
    assert!(found.unwrap().is_equivalent(&one));
    let refused = here.root.resolve(&name(&format!("{round}y"))).unwrap_err();
    assert!(
        matches!(refused, NamingContextResolveError::NotFound(_)),
        "{refused}"
    );
}

#[test]
fn an_object_that_is_no_context_but_bound_as_one_cannot_be_gone_through() {
    let here = Served::in_memory();
    let no_context = NamingContext::from_object(object(&here.orb, 1));
    here.root
        .bind_context(&name("c"), Some(&no_context))
        .unwrap();
    let refused = here.root.resolve(&name("c/x")).unwrap_err();
    assert!(
        matches!(&refused, NamingContextResolveError::CannotProceed(_))
            || matches!(&refused, NamingContextResolveError::System(it) if it.kind() == Kind::BadOperation),
        "{refused}"
    );
}

/// Timeout that is longer than any step of a test.
const HOUR: Duration = Duration::from_secs(3600);

/// Two clients of a server whose one thread serves both, and which contains a context `silent` of a
/// server that accepts connections and never answers.
struct BesideSilent {
    _here: Served,
    clients: [Orb; 2],
    roots: [NamingContext; 2],
}

impl BesideSilent {
    /// Returns the clients, and the socket at which the silent server listens.
    fn new(wait: Wait, federated_timeout: Duration) -> (Self, TcpListener) {
        let served_by = orb_with(|config| {
            config.concurrency = Concurrency::Reactive;
            config.wait = wait;
            config.timeouts.nested_call = None;
        });
        let options = ServeOptions {
            federated_timeout,
            ..ServeOptions::default()
        };
        let here = Served::by(served_by, &NamingService::in_memory().unwrap(), options);
        let clients = [orb(), orb()];
        let seen = |client: &Orb, text: &str| {
            NamingContext::from_object(client.string_to_object(text).unwrap())
        };
        let text = here.orb.object_to_string(&here.root).unwrap();
        let roots = [seen(&clients[0], &text), seen(&clients[1], &text)];
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("corbaloc:iiop:1.2@{}/Context", silent.local_addr().unwrap());
        let context = seen(&clients[0], &url);
        let bound = roots[0].bind_context(&name("silent"), Some(&context));
        bound.unwrap();
        let beside = Self {
            _here: here,
            clients,
            roots,
        };
        (beside, silent)
    }
}

impl Drop for BesideSilent {
    fn drop(&mut self) {
        for client in &self.clients {
            let _ = client.shutdown(true);
        }
    }
}

#[test]
fn a_context_that_never_answers_has_the_only_thread_for_the_time_limit_at_most() {
    let (beside, _silent) = BesideSilent::new(Wait::Read, Duration::from_millis(100));
    let [one, other] = &beside.roots;
    // TIMEOUT, or CannotProceed if there was no time to connect.
    assert!(one.resolve(&name("silent/x")).is_err());
    assert!(other.resolve(&name("silent")).unwrap().is_some());
}

#[test]
fn the_only_thread_serves_others_while_it_waits_for_a_context_if_it_waits_by_its_reactor() {
    let (beside, silent) = BesideSilent::new(Wait::Reactor, HOUR);
    let [one, other] = beside.roots.clone();
    let waiting = std::thread::spawn(move || one.resolve(&name("silent/x")));
    let (mut asked, _) = silent.accept().unwrap();
    asked.read_exact(&mut [0]).unwrap();
    assert!(other.resolve(&name("silent")).unwrap().is_some());
    assert!(!waiting.is_finished());
    drop((asked, silent));
    assert!(waiting.join().unwrap().is_err());
}
