//! Servant managers and adapter activators, which log each request to them.

use super::bank::{Account, Ledger};
use crate::adapters as a;
use punctual::poa::{
    AdapterActivator, Cookie, DispatchError, IdAssignmentPolicy, IdUniquenessPolicy,
    LifespanPolicy, PoaPolicy, RequestProcessingPolicy, ServantActivator, ServantLocator,
    ServantManager, ServantRetentionPolicy, servant_of,
};
use punctual::{
    CompletionStatus, ObjectId, ObjectRef, Poa, Servant, SystemException, SystemExceptionKind,
};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

fn servant(ledger: &Arc<Ledger>) -> Arc<dyn Servant> {
    servant_of::<a::Account, _>(Account(ledger.clone()))
}

/// Checks for ids that no servant serves: `moved` is forwarded, and `missing` raises
/// OBJECT_NOT_EXIST.
fn check(id: &ObjectId, moved_to: &ObjectRef) -> Result<(), DispatchError> {
    match id.as_bytes() {
        b"moved" => Err(DispatchError::forward(moved_to)),
        b"missing" => {
            let kind = SystemExceptionKind::ObjectNotExist;
            Err(SystemException::new(kind, 0, CompletionStatus::No).into())
        }
        _ => Ok(()),
    }
}

/// Servant locator that makes a servant for each request; the cookie is the number of the request.
struct Locator {
    ledger: Arc<Ledger>,
    moved_to: ObjectRef,
    requests: AtomicU32,
}

impl ServantLocator for Locator {
    fn preinvoke(
        &self,
        id: &ObjectId,
        _: &Poa,
        operation: &str,
    ) -> Result<(Arc<dyn Servant>, Cookie), DispatchError> {
        check(id, &self.moved_to)?;
        assert!(id.as_bytes() != b"panic", "as the account's name says");
        let cookie = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        self.ledger
            .note(format!("preinvoke {id} {operation}, cookie {cookie}"));
        Ok((servant(&self.ledger), Box::new(cookie)))
    }

    fn postinvoke(
        &self,
        id: &ObjectId,
        _: &Poa,
        operation: &str,
        cookie: Cookie,
        _: Arc<dyn Servant>,
    ) -> Result<(), DispatchError> {
        let cookie = cookie.downcast_ref::<u32>().copied().unwrap_or_default();
        self.ledger
            .note(format!("postinvoke {id} {operation}, cookie {cookie}"));
        Ok(())
    }
}

/// Servant activator that makes a servant for each account, which is kept until the account is
/// closed.
struct Activator {
    ledger: Arc<Ledger>,
    moved_to: ObjectRef,
}

impl ServantActivator for Activator {
    fn incarnate(&self, id: &ObjectId, _: &Poa) -> Result<Arc<dyn Servant>, DispatchError> {
        check(id, &self.moved_to)?;
        self.ledger.note(format!("incarnate {id}"));
        Ok(servant(&self.ledger))
    }

    fn etherealize(&self, id: &ObjectId, _: &Poa, _: Arc<dyn Servant>, cleanup: bool, _: bool) {
        if !cleanup {
            self.ledger.note(format!("etherealize {id}"));
        }
    }
}

/// Adapter activator of the persistent adapters: `lasting`, and its child `branch`.
struct Lasting {
    ledger: Arc<Ledger>,
    moved_to: ObjectRef,
}

impl Lasting {
    fn make(&self, parent: &Poa, name: &str) -> Result<(), Box<dyn Error>> {
        let persistent = PoaPolicy::Lifespan(LifespanPolicy::Persistent);
        match name {
            "lasting" => {
                let mut policies = by_default();
                policies.push(persistent);
                let lasting = parent.create_poa(name, Some(parent.manager()), &policies)?;
                lasting.set_servant(servant(&self.ledger))?;
                lasting.set_adapter_activator(parent.adapter_activator());
            }
            "branch" => {
                let mut policies = by_manager(ServantRetentionPolicy::Retain);
                policies.push(persistent);
                let branch = parent.create_poa(name, Some(parent.manager()), &policies)?;
                branch.set_servant_manager(ServantManager::Activator(Arc::new(Activator {
                    ledger: self.ledger.clone(),
                    moved_to: self.moved_to.clone(),
                })))?;
            }
            other => return Err(format!("no adapter is called `{other}`").into()),
        }
        Ok(())
    }
}

impl AdapterActivator for Lasting {
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> bool {
        self.ledger.note(format!("unknown adapter {name}"));
        self.make(parent, name)
            .inspect_err(|error| eprintln!("no adapter `{name}`: {error}"))
            .is_ok()
    }
}

/// Returns the policies of an adapter with a default servant for all ids and without an active
/// object map.
fn by_default() -> Vec<PoaPolicy> {
    vec![
        PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
        PoaPolicy::IdUniqueness(IdUniquenessPolicy::Multiple),
        PoaPolicy::ServantRetention(ServantRetentionPolicy::NonRetain),
        PoaPolicy::RequestProcessing(RequestProcessingPolicy::DefaultServant),
    ]
}

/// Returns the policies of an adapter with a servant manager: a servant activator or a servant
/// locator, depending on the retention policy.
fn by_manager(retention: ServantRetentionPolicy) -> Vec<PoaPolicy> {
    vec![
        PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
        PoaPolicy::ServantRetention(retention),
        PoaPolicy::RequestProcessing(RequestProcessingPolicy::ServantManager),
    ]
}

/// Makes the transient adapters below the root POA, and installs the activator of the persistent
/// ones.
///
/// # Errors
/// Exceptions that the adapters raise.
pub(super) fn set_servants(root: &Poa, ledger: &Arc<Ledger>) -> Result<(), Box<dyn Error>> {
    let manager = Some(root.manager());
    let shared = root.create_poa("shared", manager, &by_default())?;
    shared.set_servant(servant(ledger))?;
    let here: a::Account = shared.create_reference_with_id(&ObjectId::from("here"))?;
    let moved_to = ObjectRef::from(here);

    let policies = by_manager(ServantRetentionPolicy::NonRetain);
    let located = root.create_poa("located", manager, &policies)?;
    located.set_servant_manager(ServantManager::Locator(Arc::new(Locator {
        ledger: ledger.clone(),
        moved_to: moved_to.clone(),
        requests: AtomicU32::new(0),
    })))?;

    let policies = by_manager(ServantRetentionPolicy::Retain);
    let activated = root.create_poa("activated", manager, &policies)?;
    activated.set_servant_manager(ServantManager::Activator(Arc::new(Activator {
        ledger: ledger.clone(),
        moved_to: moved_to.clone(),
    })))?;

    root.set_adapter_activator(Some(Arc::new(Lasting {
        ledger: ledger.clone(),
        moved_to,
    })));
    Ok(())
}
