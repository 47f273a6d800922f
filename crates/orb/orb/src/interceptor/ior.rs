//! IOR interceptors: called when an object adapter is created, to put components into its
//! references (CORBA 3.3 part 1, §16.5), or to create the references themselves.

use super::guard::guarded;
use super::template::{ObjectReferenceFactory, ObjectReferenceTemplate};
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::policy::{Components, Policy};
use punctual_ior::{Ior, TaggedComponent};
use std::fmt;
use std::sync::Arc;

/// State of an object adapter, or of its manager (`PortableInterceptor::AdapterState`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AdapterState {
    /// Requests are queued until the adapter becomes active.
    Holding,
    /// Requests are served.
    Active,
    /// Requests are refused temporarily, with TRANSIENT.
    Discarding,
    /// Requests are refused permanently.
    Inactive,
    /// The adapter no longer exists.
    NonExistent,
}

/// Interceptor that is called when an object adapter is created, and when it or its manager changes
/// its state (CORBA 3.3 part 1, §16.5.4). Called on the thread that creates the adapter, without a
/// lock that operations on other adapters need.
pub trait IorInterceptor: Send + Sync {
    /// Returns the name, unique among the ORB's IOR interceptors. Any number of interceptors may
    /// have an empty name.
    fn name(&self) -> &str {
        ""
    }

    /// Called when an adapter is created, to add components to all its references.
    fn establish_components(&self, info: &mut IorInfo<'_>) {
        let _ = info;
    }

    /// Called when all interceptors have added their components, to replace the factory that
    /// creates the adapter's references if desired ([`IorInfo::set_current_factory`]).
    ///
    /// # Errors
    /// A system exception: the POA is not created, and `create_poa` fails with it.
    fn components_established(&self, info: &mut IorInfo<'_>) -> Result<(), SystemException> {
        let _ = info;
        Ok(())
    }

    /// Called when the state of a POA manager changes.
    fn adapter_manager_state_changed(&self, manager: u32, state: AdapterState) {
        let _ = (manager, state);
    }

    /// Called when the state of adapters themselves changes, that is, when they are destroyed. Each
    /// is given by the names from the root adapter to it.
    fn adapter_state_changed(&self, adapters: &[Vec<String>], state: AdapterState) {
        let _ = (adapters, state);
    }
}

/// Object adapter that is being created (`IORInfo`; CORBA 3.3 part 1, §16.5.3).
pub struct IorInfo<'a> {
    policies: &'a dyn Fn(u32) -> Option<Policy>,
    manager_id: u32,
    state: AdapterState,
    template: &'a ObjectReferenceTemplate,
    /// Factory that an interceptor has set in place of the template, if one has.
    factory: Option<Arc<dyn ObjectReferenceFactory>>,
    /// Components, each with the tag of the profiles that it is added to; `None` for all profiles.
    components: Components,
    /// True while IOR interceptors may still add tagged components.
    is_open: bool,
}

impl IorInfo<'_> {
    /// Returns the policy of a type that the adapter has.
    ///
    /// # Errors
    /// INV_POLICY 2 if it has none.
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

    /// Adds a component to every profile of the adapter's references.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14 after all components have been established.
    pub fn add_ior_component(&mut self, component: TaggedComponent) -> Result<(), SystemException> {
        self.add(None, component)
    }

    /// Adds a component to the profiles with this tag in the adapter's references.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14 after all components have been established.
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

    /// Returns the number of the adapter's manager, by which its state changes are reported.
    #[must_use]
    pub fn manager_id(&self) -> u32 {
        self.manager_id
    }

    /// Returns the state of the object adapter that is being created.
    #[must_use]
    pub fn state(&self) -> AdapterState {
        self.state
    }

    /// Returns the names from the root adapter to this one.
    #[must_use]
    pub fn adapter_name(&self) -> &[String] {
        self.template.adapter_name()
    }

    /// Returns the template of the adapter, which creates its references once the adapter exists.
    ///
    /// # Errors
    /// BAD_INV_ORDER 14 before all components are established.
    pub fn adapter_template(&self) -> Result<&ObjectReferenceTemplate, SystemException> {
        match self.is_open {
            true => Err(super::error::not_valid_here("adapter_template")),
            false => Ok(self.template),
        }
    }

    /// Returns the factory that will create the adapter's references: the template, or the one that
    /// an interceptor has set.
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

    /// Sets the factory that creates all references of the adapter.
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

/// Facts about an object adapter that is being created.
pub(crate) struct Adapter<'a> {
    pub(crate) policies: &'a dyn Fn(u32) -> Option<Policy>,
    /// Number and state of the adapter's POA manager.
    pub(crate) manager: (u32, AdapterState),
    pub(crate) template: &'a ObjectReferenceTemplate,
}

/// Calls all IOR interceptors for an adapter that is being created. Returns the components that
/// they have added to its references, and the factory that replaces the adapter's own, if one was
/// set.
///
/// An error of an interceptor while it adds components is logged, and does not affect the others
/// (§16.5.4.1).
///
/// # Errors
/// The exception that an interceptor has raised after all had added their components.
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
        // A forward is meaningless here.
        if let Err(super::InterceptorError::System(exception)) = established {
            return Err(exception);
        }
    }
    Ok((info.components, info.factory))
}

/// Returns a reference that the factory creates. A panic of the factory raises UNKNOWN.
///
/// # Errors
/// The exception that the factory has raised.
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
        // A forward is meaningless here.
        _ => Ok(made),
    }
}

/// Calls the same notification operation of every IOR interceptor.
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
