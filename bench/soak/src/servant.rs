//! Servants of the soak.

use crate::idl::soak::{
    Choice, Kind, Maker, MakerServant, Octets, Part, Parts, Refused, Strings, Target,
    TargetAddError, TargetServant,
};
use punctual::poa::{
    Cookie, Current, IdAssignmentPolicy, IdUniquenessPolicy, LifespanPolicy, PoaPolicy,
    RequestProcessingPolicy, ServantActivator, ServantLocator, ServantManager,
    ServantRetentionPolicy,
};
use punctual::stub::{Arc, DispatchError, Servant};
use punctual::{
    Any, CompletionStatus, Implements, Interface, ObjectId, Poa, SystemException,
    SystemExceptionKind,
};
use std::fmt::Display;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// Upper bound of the time that a call makes the servant wait, in milliseconds.
const LONGEST_WAIT: u32 = 10_000;

/// Servant of the test interface `Target`.
#[derive(Debug, Default)]
pub(crate) struct TargetImpl {
    noted: AtomicU64,
}

impl TargetServant for TargetImpl {
    fn noted(&self) -> Result<u64, SystemException> {
        Ok(self.noted.load(Ordering::SeqCst))
    }

    fn id(&self) -> Result<String, SystemException> {
        Current
            .object_id()
            .map(|id| id.to_string())
            .map_err(internal)
    }

    fn add(&self, a: i32, b: i32) -> Result<i32, TargetAddError> {
        let refused = || Refused {
            by: b,
            why: format!("{a} + {b} is too large"),
        };
        Ok(a.checked_add(b).ok_or_else(refused)?)
    }

    fn turn(
        &self,
        _chosen: &mut Choice,
        given: &[Part],
    ) -> Result<(Parts, Strings), SystemException> {
        let names = given.iter().map(|part| part.name.clone()).collect();
        Ok((given.iter().rev().cloned().collect(), names))
    }

    fn pass(&self, value: &Any) -> Result<Any, SystemException> {
        Ok(value.clone())
    }

    fn echo(&self, values: &[u8]) -> Result<Octets, SystemException> {
        Ok(values.to_vec())
    }

    fn same(&self, other: Option<&Target>) -> Result<Option<Target>, SystemException> {
        Ok(other.cloned())
    }

    fn wait(&self, milliseconds: u32) -> Result<(), SystemException> {
        let milliseconds = milliseconds.min(LONGEST_WAIT);
        std::thread::sleep(Duration::from_millis(milliseconds.into()));
        Ok(())
    }

    fn note(&self, _values: &[u8]) -> Result<(), SystemException> {
        self.noted.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// Servant of `Maker`, with an adapter for the objects it makes.
#[derive(Debug)]
pub(crate) struct MakerImpl {
    /// Parent of the adapters that the servant makes.
    root: Poa,
    /// Adapter in which the servant activates objects.
    own: Poa,
    incarnations: Arc<Incarnations>,
}

/// Number of servants that the servant managers have incarnated and not yet etherealized.
#[derive(Debug, Default)]
struct Incarnations(AtomicI64);

impl MakerImpl {
    /// Makes a servant that makes its adapters below `root`.
    ///
    /// # Errors
    /// The servant's own adapter could not be made.
    pub(crate) fn new(root: Poa) -> Result<Self, punctual::poa::CreatePoaError> {
        let own = root.create_poa("made", Some(root.manager()), &[])?;
        Ok(Self {
            root,
            own,
            incarnations: Arc::default(),
        })
    }

    fn policies(how: Kind) -> Vec<PoaPolicy> {
        let user = PoaPolicy::IdAssignment(IdAssignmentPolicy::User);
        let several = PoaPolicy::IdUniqueness(IdUniquenessPolicy::Multiple);
        let none_kept = PoaPolicy::ServantRetention(ServantRetentionPolicy::NonRetain);
        let processing = PoaPolicy::RequestProcessing;
        match how {
            Kind::Activator => vec![user, processing(RequestProcessingPolicy::ServantManager)],
            Kind::Locator => vec![
                user,
                none_kept,
                processing(RequestProcessingPolicy::ServantManager),
            ],
            Kind::OneForAll => vec![
                user,
                several,
                processing(RequestProcessingPolicy::DefaultServant),
            ],
            Kind::Persistent => vec![user, PoaPolicy::Lifespan(LifespanPolicy::Persistent)],
        }
    }

    /// Sets the default servant or the servant manager of a new adapter, as its policies require.
    fn furnish(&self, poa: &Poa, how: Kind, id: &ObjectId) -> Result<(), punctual::poa::PoaError> {
        let servant = Target::servant(TargetImpl::default());
        match how {
            Kind::Activator => {
                poa.set_servant_manager(ServantManager::Activator(self.incarnations.clone()))
            }
            Kind::Locator => {
                poa.set_servant_manager(ServantManager::Locator(self.incarnations.clone()))
            }
            Kind::OneForAll => poa.set_servant(servant),
            Kind::Persistent => poa.activate_object_with_id(id, servant),
        }
    }
}

impl MakerServant for MakerImpl {
    fn activate(&self) -> Result<Option<Target>, SystemException> {
        self.own
            .activate(TargetImpl::default())
            .map(Some)
            .map_err(internal)
    }

    fn deactivate(&self, one: Option<&Target>) -> Result<(), SystemException> {
        let one = one.ok_or_else(|| internal("nil"))?;
        self.own.deactivate(one).map_err(internal)
    }

    fn create_adapter(&self, name: &str, how: Kind) -> Result<Option<Target>, SystemException> {
        let poa = self
            .root
            .create_poa(name, Some(self.root.manager()), &Self::policies(how))
            .map_err(internal)?;
        let id = ObjectId::from(name);
        self.furnish(&poa, how, &id).map_err(internal)?;
        poa.create_reference_with_id(&id)
            .map(Some)
            .map_err(internal)
    }

    fn destroy_adapter(&self, name: &str) -> Result<(), SystemException> {
        let poa = self.root.find_poa(name, false).map_err(internal)?;
        // This upcall belongs to the ORB, so it must not wait for the end of upcalls.
        poa.destroy(true, false)
    }

    fn incarnations(&self) -> Result<i64, SystemException> {
        Ok(self.incarnations.0.load(Ordering::SeqCst))
    }

    fn alive(&self) -> Result<u32, SystemException> {
        let alive = self.own.active_objects() + self.root.children().len();
        u32::try_from(alive).map_err(internal)
    }
}

impl Incarnations {
    fn servant(&self) -> Arc<dyn Servant> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Target::servant(TargetImpl::default())
    }
}

impl ServantActivator for Incarnations {
    fn incarnate(&self, _: &ObjectId, _: &Poa) -> Result<Arc<dyn Servant>, DispatchError> {
        Ok(self.servant())
    }

    fn etherealize(&self, _: &ObjectId, _: &Poa, _: Arc<dyn Servant>, _: bool, _: bool) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl ServantLocator for Incarnations {
    fn preinvoke(
        &self,
        _: &ObjectId,
        _: &Poa,
        _: &str,
    ) -> Result<(Arc<dyn Servant>, Cookie), DispatchError> {
        Ok((self.servant(), Box::new(())))
    }

    fn postinvoke(
        &self,
        _: &ObjectId,
        _: &Poa,
        _: &str,
        _: Cookie,
        _: Arc<dyn Servant>,
    ) -> Result<(), DispatchError> {
        self.0.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    }
}

/// Returns an `INTERNAL` system exception that describes an unexpected error.
fn internal(why: impl Display) -> SystemException {
    SystemException::new(SystemExceptionKind::Internal, 0, CompletionStatus::No)
        .with_detail(why.to_string())
}

/// Activates the `Target` that all callers share, and the `Maker` that makes further objects.
///
/// # Errors
/// The objects could not be activated.
pub(crate) fn serve(root: &Poa) -> Result<(Maker, Target), Box<dyn std::error::Error>> {
    let maker = root.activate(MakerImpl::new(root.clone())?)?;
    let target = root.activate(TargetImpl::default())?;
    root.manager().activate()?;
    Ok((maker, target))
}

/// Returns whether two references are equivalent (`is_equivalent`).
pub(crate) fn are_one(one: &Target, other: &Target) -> bool {
    one.as_object().is_equivalent(other.as_object())
}
