//! Smart proxies: an implementation of an interface that stands in the place of references to it, at their callers.

use crate::servant::{Implements, Servant};
use punctual_orb::{Collocated, DispatchError, LocalRequest, Orb, Provided, Went};
use std::sync::Arc;

/// An ORB that can have proxies in the place of references.
pub trait SmartProxies {
    /// Has calls through references of interface `I` go to what `make` makes, on the caller's thread, without a request.
    /// `make` is given the reference as it is, whose calls go to the object: a proxy makes those that it cannot answer itself, such
    /// as from a cache, or lets some wait for others.
    ///
    /// It holds for references that name this interface as their type (not one derived from it) and that are called for
    /// the first time from then on, wherever they come from. Each has a proxy of its own, which ends with the last clone of the
    /// reference. A call whose caller goes on is made by the proxy at once. Calls that are put together at run time, and what every
    /// object answers (`_is_a` and its like), go to the object.
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

/// A servant that is called as an object of this process would be.
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
