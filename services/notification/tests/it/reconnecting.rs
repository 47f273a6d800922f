//! TAO's registry of reconnections: clients are called when the service has been started again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use punctual::{Interface, ObjectRef, SystemException, SystemExceptionKind as Kind};
use punctual_notification::cos_notify_channel_admin::EventChannelFactory;
use punctual_notification::notify_ext::{
    ReconnectionCallback, ReconnectionCallbackServant, ReconnectionRegistry,
};
use punctual_notification::{Limits, NotificationService};

use crate::restarts::{place, stored};
use crate::support::{Program, Served, kind_of, limits, until};

/// Callback that counts its calls, of which the first ones fail.
#[derive(Clone, Default)]
struct Callback(Arc<Calls>);

#[derive(Default)]
struct Calls {
    count: AtomicUsize,
    failing: AtomicUsize,
    last: Mutex<Option<ObjectRef>>,
}

impl Callback {
    fn count(&self) -> usize {
        self.0.count.load(Ordering::SeqCst)
    }
}

impl ReconnectionCallbackServant for Callback {
    fn reconnect(&self, new_connection: Option<&ObjectRef>) -> Result<(), SystemException> {
        let failing = &self.0.failing;
        let fails = |left: usize| left.checked_sub(1);
        if failing
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails)
            .is_ok()
        {
            return Err(Kind::Transient.because("not yet"));
        }
        *self.0.last.lock() = new_connection.cloned();
        self.0.count.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn is_alive(&self) -> Result<bool, SystemException> {
        Ok(true)
    }
}

fn registry(program: &Program, served: &Served) -> ReconnectionRegistry {
    let factory = program.see(&served.factory);
    ReconnectionRegistry::narrow(factory.as_object().clone()).unwrap()
}

fn open(path: &Path) -> NotificationService {
    stored(path)
}

#[test]
fn clients_that_have_registered_are_called_when_the_service_has_been_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notification.redb");
    let (place, program) = (place("127.79.6.1"), Program::new());
    let served = Served::of(open(&path), place);
    let registry = registry(&program, &served);
    assert!(registry.is_alive().unwrap());
    let [staying, leaving, gone] = [(); 3].map(|()| Callback::default());
    let object: ReconnectionCallback = program.object(staying.clone());
    let id = registry.register_callback(Some(&object)).unwrap();
    assert_eq!(registry.register_callback(Some(&object)).unwrap(), id);
    let other: ReconnectionCallback = program.object(leaving.clone());
    let leaving_id = registry.register_callback(Some(&other)).unwrap();
    assert_ne!(leaving_id, id);
    registry.unregister_callback(leaving_id).unwrap();
    registry.unregister_callback(leaving_id).unwrap();
    let ended: ReconnectionCallback = program.object(gone.clone());
    registry.register_callback(Some(&ended)).unwrap();
    program.poa.deactivate(&ended).unwrap();
    assert_eq!(kind_of(registry.register_callback(None)), Kind::BadParam);
    drop(served);

    // Until it answers.
    staying.0.failing.store(2, Ordering::SeqCst);
    let served = Served::of(open(&path), place);
    until(|| staying.count() == 1);
    let factory = staying.0.last.lock().clone().unwrap();
    let factory = EventChannelFactory::narrow(factory).unwrap();
    assert!(factory.get_all_channels().unwrap().is_empty());
    drop(served);
    let _served = Served::of(open(&path), place);
    until(|| staying.count() == 2);
    assert_eq!((leaving.count(), gone.count()), (0, 0));
    assert!(registry.register_callback(Some(&ended)).unwrap() > id);
}

#[test]
fn reconnections_beyond_the_limit_are_refused() {
    let served = Served::with(Limits {
        proxies: 1,
        ..limits()
    });
    let program = Program::new();
    let registry = registry(&program, &served);
    let first = program.object(Callback::default());
    let second = program.object(Callback::default());
    let id = registry.register_callback(Some(&first)).unwrap();
    let refused = registry.register_callback(Some(&second));
    assert_eq!(kind_of(refused), Kind::ImpLimit);
    registry.unregister_callback(id).unwrap();
    registry.register_callback(Some(&second)).unwrap();
}
