//! Access to names from the serving process itself (`Directory`).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use punctual::Interface;
use punctual_ior::Ior;
use punctual_naming::store::{ContextId, ROOT};
use punctual_naming::{Access, Leads, Limits, Observer, Refusal};

use crate::support::{Served, name, object};

const HERE: std::net::IpAddr = std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

/// Observer that records the changes of which it is notified.
#[derive(Debug, Default)]
struct Told {
    contexts: Mutex<Vec<ContextId>>,
    all: AtomicUsize,
}

impl Observer for Told {
    fn changed(&self, contexts: &[ContextId]) {
        self.contexts.lock().unwrap().extend(contexts);
    }

    fn replaced(&self) {
        self.all.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_context_is_read_in_portions_with_what_each_binding_leads_to() {
    let served = Served::in_memory();
    let directory = served.service.directory();
    served.root.bind_new_context(&name("a")).unwrap();
    served.root.bind_new_context(&name("a/c")).unwrap();
    let one = object(&served.orb, 1);
    served.root.bind(&name("a/o.kind"), Some(&one)).unwrap();
    served.root.bind(&name("a/nil"), None).unwrap();
    let portion = directory.portion(&name("a"), None, 2, HERE).unwrap();
    assert_eq!((portion.size, portion.way.len()), (3, 2));
    assert_eq!(portion.way[0], ROOT);
    let leads: Vec<_> = portion.entries.into_iter().map(|one| one.leads).collect();
    assert_eq!(leads, [Leads::Context(Some(0)), Leads::Object(Ior::nil())]);
    let next = portion.next.unwrap();
    assert_eq!((&*next.id, &*next.kind), ("o", "kind"));
    let rest = directory.portion(&name("a"), Some(&next), 2, HERE).unwrap();
    assert_eq!((rest.entries.len(), rest.next), (1, None));
    assert_eq!(rest.entries[0].leads, Leads::Object(one.ior().clone()));
    let (contexts, are_all) = directory.contexts(&[], 9, 9).unwrap();
    assert_eq!((contexts.len(), are_all), (1, true));
    assert!(!directory.contexts(&name("a"), 9, 2).unwrap().1);
    served.service.set_limits(Limits {
        name_components: 2,
        ..Limits::default()
    });
    let refused = directory.portion(&name("a/b/c"), None, 1, HERE);
    assert!(matches!(refused, Err(Refusal::InvalidName(_))));
}

#[test]
fn an_observer_is_told_which_contexts_change_until_it_is_dropped() {
    let served = Served::in_memory();
    let directory = served.service.directory();
    served.root.bind_new_context(&name("a")).unwrap();
    let a = directory.portion(&name("a"), None, 0, HERE).unwrap().way[1];
    let told = Arc::<Told>::default();
    let observer: Arc<dyn Observer> = told.clone();
    directory.observe(&observer);
    served.root.bind(&name("a/o"), None).unwrap();
    assert_eq!(*told.contexts.lock().unwrap(), [a]);
    served.root.bind(&name("a/o"), None).unwrap_err();
    directory.unbind(name("a/o"), HERE).unwrap();
    served.root.bind(&name("o"), None).unwrap();
    assert_eq!(*told.contexts.lock().unwrap(), [a, a, ROOT]);
    drop(observer);
    let weak = Arc::downgrade(&told);
    drop(told);
    served.root.unbind(&name("o")).unwrap();
    assert!(weak.upgrade().is_none());
}

#[test]
fn peers_of_this_process_change_what_is_granted_to_their_addresses() {
    let served = Served::in_memory();
    let directory = served.service.directory();
    directory.bind_new_context(name("a"), HERE).unwrap();
    let mut access = Access::default();
    access.grant("a", "10.0.0.0/8".parse().unwrap()).unwrap();
    access.grant("a", "local".parse().unwrap()).unwrap();
    served.service.set_access(access);
    let granted = "10.1.2.3".parse().unwrap();
    let one = object(&served.orb, 1);
    let bind = |text: &str, by| directory.bind(name(text), one.ior(), false, by);
    assert!(matches!(bind("a/o", HERE), Err(Refusal::NotPermitted)));
    assert!(matches!(bind("o", granted), Err(Refusal::NotPermitted)));
    bind("a/o", granted).unwrap();
    let found = served.root.resolve(&name("a/o")).unwrap().unwrap();
    assert!(found.is_equivalent(one.as_object()));
    let may = |by| {
        directory
            .portion(&name("a"), None, 0, by)
            .unwrap()
            .may_change
    };
    assert!(may(granted) && !may(HERE));
    assert!(matches!(
        directory.unbind(name("a/o"), HERE),
        Err(Refusal::NotPermitted)
    ));
    assert!(matches!(
        directory.destroy(&name("a"), granted),
        Err(Refusal::NotEmpty)
    ));
    directory.unbind(name("a/o"), granted).unwrap();
    assert!(matches!(
        directory.destroy(&name("a"), HERE),
        Err(Refusal::NotPermitted)
    ));
    directory.destroy(&name("a"), granted).unwrap();
    let long = Ior {
        type_id: "x".repeat(17 << 10),
        ..one.ior().clone()
    };
    let refused = directory.bind(name("long"), &long, false, HERE);
    assert!(matches!(refused, Err(Refusal::LimitExceeded(_))));
}
