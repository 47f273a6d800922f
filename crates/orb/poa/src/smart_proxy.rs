//! Smart proxies: implementations of an interface that are called instead of the references to it,
//! in the caller's process.

use crate::servant::{Implements, Servant};
use punctual_orb::{Collocated, DispatchError, LocalRequest, Orb, Provided, Went};
use std::sync::Arc;

/// Registration of smart proxies at an ORB.
pub trait SmartProxies {
    /// Directs calls through references of interface `I` to the object that `make` makes, on the
    /// caller's thread, without a request. `make` gets the original reference, whose calls go to
    /// the object: a proxy uses it for calls that it cannot answer itself, for example from a
    /// cache, or delays some until others are done.
    ///
    /// It applies to references that name this interface as their type (not one derived from it)
    /// and that are called for the first time from then on, wherever they come from. Each has a
    /// proxy of its own, which ends with the last clone of the reference. The proxy makes an
    /// asynchronous call at once. Dynamic calls, and the operations of every object (`_is_a` and
    /// others), go to the object.
    ///
    /// References of interfaces without a proxy pay nothing for it.
    fn register_smart_proxy<I, S>(&self, make: impl Fn(I) -> S + Send + Sync + 'static)
    where
        I: Implements<S>,
        S: 'static;
}

impl SmartProxies for Orb {
    fn register_smart_proxy<I, S>(&self, make: impl Fn(I) -> S + Send + Sync + 'static)
    where
        I: Implements<S>,
        S: 'static,
    {
        self.stand_in_for(I::REPOSITORY_ID, move |object| {
            Arc::new(Proxy(I::servant(make(I::from_object(object)))))
        });
    }
}

/// Proxy object, which stubs call without a request as they call an object of their own process.
struct Proxy(Arc<dyn Servant>);

impl Collocated for Proxy {
    fn through_adapter(
        &self,
        _: &LocalRequest<'_>,
        run: &mut dyn FnMut(&Provided<'_>),
    ) -> Result<Went, DispatchError> {
        Ok(self.direct(run))
    }

    fn direct(&self, run: &mut dyn FnMut(&Provided<'_>)) -> Went {
        run(&self.0.provide());
        Went::Here
    }
}
