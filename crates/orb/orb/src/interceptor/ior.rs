//! IOR interceptors: what is called when an object adapter is made, to put components into its references
//! (CORBA 3.3 part 1, §16.5), or to make these themselves.

use super::guard::guarded;
use super::template::{ObjectReferenceFactory, ObjectReferenceTemplate};
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::policy::{Components, Policy};
use punctual_ior::{Ior, TaggedComponent};
use std::fmt;
use std::sync::Arc;

/// The state of an object adapter, or of its manager (`PortableInterceptor::AdapterState`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AdapterState {
    /// Requests wait.
    Holding,
    /// Requests are served.
    Active,
    /// Requests are refused for a while.
    Discarding,
    /// Requests are refused for good.
    Inactive,
    /// It is no more.
    NonExistent,
}

/// Is called when an object adapter is made, and when it or its manager changes its state (CORBA 3.3 part 1,
/// §16.5.4). Called with no lock held that another adapter would want, on the thread that makes the adapter.
pub trait IorInterceptor: Send + Sync {
    /// Tells it from others of the list. Any number may be without one.
    fn name(&self) -> &str {
        ""
    }

    /// An adapter is being made: components may be added, which all its references then have.
    fn establish_components(&self, info: &mut IorInfo<'_>) {
        let _ = info;
    }

    /// All have added their components: the adapter's references may be made by another factory from now on
    /// ([`IorInfo::set_current_factory`]).
    ///
    /// # Errors
    /// A system exception: the POA is not made, and `create_poa` fails with it.
    fn components_established(&self, info: &mut IorInfo<'_>) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// A manager of adapters has changed its state.
    fn adapter_manager_state_changed(&self, manager: u32, state: AdapterState) {
        let _ = (manager, state);
    }

    /// Adapters have changed their state by themselves: they are destroyed. Each is named from the root adapter on.
    fn adapter_state_changed(&self, adapters: &[Vec<String>], state: AdapterState) {
        let _ = (adapters, state);
    }
}

/// An adapter that is being made (`IORInfo`; CORBA 3.3 part 1, §16.5.3).
pub struct IorInfo<'a> {
    policies: &'a dyn Fn(u32) -> Option<Policy>,
    manager_id: u32,
    state: AdapterState,
    template: &'a ObjectReferenceTemplate,
    /// In the template's place, if another is.
    factory: Option<Arc<dyn ObjectReferenceFactory>>,
    /// Each with the tag of the profiles that it is for, if not for all.
    components: Components,
    /// Whether components may still be added.
    is_open: bool,
}

impl IorInfo<'_> {
    /// The policy of a type that the adapter has.
    ///
    /// # Errors
    /// INV_POLICY 2 where it has none.
    pub fn get_effective_policy(&self, policy_type: u32) -> Result<Policy, SystemException> {
        (self.policies)(policy_type).ok_or_else(|| {
            SystemException::new(
                Kind::InvPolicy,
                minor::INVALID_POLICY_TYPE,
                CompletionStatus::No,
            )
            .with_detail(format!("the adapter has no policy of type {policy_type}"))
        })
    }

    /// Has every profile of the adapter's references carry a component.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14 when all components are established.
    pub fn add_ior_component(&mut self, component: TaggedComponent) -> Result<(), SystemException> {
        self.add(None, component)
    }

    /// The same of profiles of one tag.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14 when all components are established.
    pub fn add_ior_component_to_profile(
        &mut self,
        component: TaggedComponent,
        profile: u32,
    ) -> Result<(), SystemException> {
        self.add(Some(profile), component)
    }

    fn add(
        &mut self,
        profile: Option<u32>,
        component: TaggedComponent,
    ) -> Result<(), SystemException> {
        if !self.is_open {
            return Err(super::error::not_valid_here("add_ior_component"));
        }
        self.components.push((profile, component));
        Ok(())
    }

    /// The number of the adapter's manager, by which its changes of state are told.
    #[must_use]
    pub fn manager_id(&self) -> u32 {
        self.manager_id
    }

    /// The state of the adapter.
    #[must_use]
    pub fn state(&self) -> AdapterState {
        self.state
    }

    /// The names from the root adapter to this one.
    #[must_use]
    pub fn adapter_name(&self) -> &[String] {
        self.template.adapter_name()
    }

    /// The adapter as what makes its references. It makes none before the adapter is there.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14 before all components are established.
    pub fn adapter_template(&self) -> Result<&ObjectReferenceTemplate, SystemException> {
        match self.is_open {
            true => Err(super::error::not_valid_here("adapter_template")),
            false => Ok(self.template),
        }
    }

    /// What will make the adapter's references: the template, or what an interceptor has put in its place.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14 before all components are established.
    pub fn current_factory(&self) -> Result<Arc<dyn ObjectReferenceFactory>, SystemException> {
        if self.is_open {
            return Err(super::error::not_valid_here("current_factory"));
        }
        Ok(match &self.factory {
            Some(factory) => factory.clone(),
            None => Arc::new(self.template.clone()),
        })
    }

    /// Has the adapter's references made by another, from the first on.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14 before all components are established.
    pub fn set_current_factory(
        &mut self,
        factory: Arc<dyn ObjectReferenceFactory>,
    ) -> Result<(), SystemException> {
        if self.is_open {
            return Err(super::error::not_valid_here("current_factory"));
        }
        self.factory = Some(factory);
        Ok(())
    }
}

impl fmt::Debug for IorInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IorInfo")
            .field("adapter_name", &self.adapter_name())
            .field("components", &self.components)
            .finish_non_exhaustive()
    }
}

/// An adapter that is being made.
pub(crate) struct Adapter<'a> {
    pub(crate) policies: &'a dyn Fn(u32) -> Option<Policy>,
    /// Its manager, and the state of that.
    pub(crate) manager: (u32, AdapterState),
    pub(crate) template: &'a ObjectReferenceTemplate,
}

/// Has all of them see an adapter that is being made: what they have added to its references, and what makes these, if it is
/// not the adapter.
///
/// What one of them does wrong while it adds is logged, and is nothing to the others (§16.5.4.1).
///
/// # Errors
/// What one has raised when all had added theirs.
pub(crate) fn establish(
    interceptors: &[Arc<dyn IorInterceptor>],
    adapter: &Adapter<'_>,
) -> Result<(Components, Option<Arc<dyn ObjectReferenceFactory>>), SystemException> {
    let (manager_id, state) = adapter.manager;
    let mut info = IorInfo {
        policies: adapter.policies,
        manager_id,
        state,
        template: adapter.template,
        factory: None,
        components: Components::new(),
        is_open: true,
    };
    tell(interceptors, "establish_components", |one| {
        one.establish_components(&mut info);
    });
    info.is_open = false;
    for one in interceptors {
        let established = guarded((one.name(), "components_established"), || {
            Ok(one.components_established(&mut info)?)
        });
        // There is nothing that could be forwarded.
        if let Err(super::InterceptorError::System(exception)) = established {
            return Err(exception);
        }
    }
    Ok((info.components, info.factory))
}

/// The reference that a factory makes. One that panics raises UNKNOWN.
///
/// # Errors
/// What it has raised.
pub(crate) fn made_by(
    factory: &dyn ObjectReferenceFactory,
    repository_id: &str,
    object_id: &[u8],
) -> Result<Ior, SystemException> {
    let mut made = Ior::default();
    let called = guarded(("", "make_object"), || {
        made = factory.make_object(repository_id, object_id)?;
        Ok(())
    });
    match called {
        Err(super::InterceptorError::System(exception)) => Err(exception),
        // There is nothing that could be forwarded.
        _ => Ok(made),
    }
}

/// Tells each of them something.
pub(crate) fn tell(
    interceptors: &[Arc<dyn IorInterceptor>],
    point: &'static str,
    mut each: impl FnMut(&dyn IorInterceptor),
) {
    for one in interceptors {
        // A panic is logged by the guard.
        let _ = guarded((one.name(), point), || {
            each(&**one);
            Ok(())
        });
    }
}
