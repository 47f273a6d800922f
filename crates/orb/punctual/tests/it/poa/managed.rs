//! Servant managers and servants that run closures.

use super::teller::{TellerImpl, telling};
use punctual::poa::{Cookie, ServantActivator, ServantLocator, ServantManager};
use punctual::stub::{Arc, DispatchError, Servant};
use punctual::{ObjectId, Poa};
use std::sync::{Mutex, mpsc};

type Incarnate = dyn Fn(&Poa) -> Arc<dyn Servant> + Send + Sync;
type Etherealize = dyn Fn(&ObjectId, &Poa, Arc<dyn Servant>) + Send + Sync;
type Postinvoke = dyn Fn(&Poa) + Send + Sync;

struct Activator {
    incarnate: Box<Incarnate>,
    etherealize: Box<Etherealize>,
}

impl ServantActivator for Activator {
    fn incarnate(&self, _: &ObjectId, poa: &Poa) -> Result<Arc<dyn Servant>, DispatchError> {
        Ok((self.incarnate)(poa))
    }

    fn etherealize(&self, id: &ObjectId, poa: &Poa, servant: Arc<dyn Servant>, _: bool, _: bool) {
        (self.etherealize)(id, poa, servant);
    }
}

/// Makes a servant activator from the given functions.
pub fn activator(
    incarnate: impl Fn(&Poa) -> Arc<dyn Servant> + Send + Sync + 'static,
    etherealize: impl Fn(&ObjectId, &Poa, Arc<dyn Servant>) + Send + Sync + 'static,
) -> ServantManager {
    ServantManager::Activator(Arc::new(Activator {
        incarnate: Box::new(incarnate),
        etherealize: Box::new(etherealize),
    }))
}

struct Locator {
    preinvoke: Box<Incarnate>,
    postinvoke: Box<Postinvoke>,
}

impl ServantLocator for Locator {
    fn preinvoke(
        &self,
        _: &ObjectId,
        poa: &Poa,
        _: &str,
    ) -> Result<(Arc<dyn Servant>, Cookie), DispatchError> {
        Ok(((self.preinvoke)(poa), Box::new(())))
    }

    fn postinvoke(
        &self,
        _: &ObjectId,
        poa: &Poa,
        _: &str,
        _: Cookie,
        _: Arc<dyn Servant>,
    ) -> Result<(), DispatchError> {
        (self.postinvoke)(poa);
        Ok(())
    }
}

/// Makes a servant locator from the given functions.
pub fn locator(
    preinvoke: impl Fn(&Poa) -> Arc<dyn Servant> + Send + Sync + 'static,
    postinvoke: impl Fn(&Poa) + Send + Sync + 'static,
) -> ServantManager {
    ServantManager::Locator(Arc::new(Locator {
        preinvoke: Box::new(preinvoke),
        postinvoke: Box::new(postinvoke),
    }))
}

/// Guard that runs a closure when it is dropped.
pub struct AtItsEnd(Box<dyn Fn() + Send + Sync>);

impl AtItsEnd {
    pub fn does(what: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Box::new(what))
    }
}

impl Drop for AtItsEnd {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Makes a servant that runs a closure when it is dropped.
pub fn ending(what: impl Fn() + Send + Sync + 'static) -> Arc<TellerImpl> {
    let end = AtItsEnd::does(what);
    telling(move || {
        let _kept = &end;
        Ok(String::new())
    })
}

/// Wraps a closure so that it runs only when permitted; also returns a receiver that reports the
/// calls, and a sender that permits them.
pub fn slowly<T>(
    what: impl Fn() -> T + Send + Sync + 'static,
) -> (
    impl Fn() -> T + Send + Sync + 'static,
    mpsc::Receiver<()>,
    mpsc::Sender<()>,
) {
    let (enter, entered) = mpsc::channel();
    let (leave, may_leave) = mpsc::channel();
    let (enter, may_leave) = (Mutex::new(enter), Mutex::new(may_leave));
    let slow = move || {
        enter.lock().unwrap().send(()).unwrap();
        may_leave.lock().unwrap().recv().unwrap();
        what()
    };
    (slow, entered, leave)
}
