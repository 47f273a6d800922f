//! Object of an interface that a peer has: the peer is asked for it once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use punctual::policy::SyncScope;
use punctual::{ObjectRef, Policy, SetOverride, SystemException, SystemExceptionKind as Kind};

use crate::refusal::Refusal;

/// Object of an interface, as soon as the peer has been asked for it.
pub(crate) struct AskedObject {
    /// Repository id of the interface.
    interface: String,
    object: OnceLock<ObjectRef>,
    /// Time limit of its calls, and of the question whether it has the interface.
    timeout: Duration,
    /// States that its calls have no time limit.
    is_unlimited: bool,
}

impl AskedObject {
    pub(crate) fn new(interface: &str, timeout: Duration) -> Self {
        Self {
            interface: interface.to_owned(),
            object: OnceLock::new(),
            timeout,
            is_unlimited: false,
        }
    }

    /// Lets calls of the object take any time.
    pub(crate) fn without_limit(self) -> Self {
        Self {
            is_unlimited: true,
            ..self
        }
    }

    /// Returns the object, which the first time is the result of `operation` of the peer.
    ///
    /// # Errors
    /// Those of the calls; INV_OBJREF if the peer has no object of the interface.
    pub(crate) fn get(
        &self,
        operation: &str,
        ask: impl FnOnce() -> Result<Option<ObjectRef>, SystemException>,
    ) -> Result<&ObjectRef, SystemException> {
        if let Some(object) = self.object.get() {
            return Ok(object);
        }
        let misfit = |returned| {
            Kind::InvObjref.because(format!(
                "`{operation}` returned {returned}, and the proxy's interface is {:?}",
                self.interface
            ))
        };
        let object = ask()?.ok_or_else(|| misfit("nil"))?;
        let scope = [Policy::SyncScope(SyncScope::WithTarget)];
        let object = object.set_policy_overrides(&scope, SetOverride::Add)?;
        let limited = object.with_timeout(self.timeout);
        if !limited.is_a(&self.interface)? {
            return Err(misfit("an object of another interface"));
        }
        Ok(self.object.get_or_init(|| match self.is_unlimited {
            true => object,
            false => limited,
        }))
    }
}

/// Returns whether an exception of [`AskedObject::get`] says that the peer has no object of the interface, and not that it
/// cannot be asked now.
pub(crate) fn is_misfit(exception: &SystemException) -> bool {
    matches!(
        exception.kind(),
        Kind::InvObjref | Kind::BadOperation | Kind::NoImplement
    )
}

/// Guard of a proxy whose peer is asked for its object: a second peer is refused meanwhile. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Connecting(Arc<AtomicBool>);

impl Connecting {
    /// Begins to ask a peer.
    ///
    /// # Errors
    /// Another one is being asked.
    pub(crate) fn begin(&self) -> Result<(), Refusal> {
        // Pairs with the store of the thread that has asked.
        match self.0.swap(true, Ordering::AcqRel) {
            true => Err(Refusal::AlreadyConnected),
            false => Ok(()),
        }
    }

    /// Notes that the peer has been asked.
    pub(crate) fn end(&self) {
        self.0.store(false, Ordering::Release);
    }
}
