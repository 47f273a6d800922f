//! Sources of interfaces: IDL that the service has read, and an Interface Repository that it asks, once for each interface.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use punctual::any::DynamicFactory;
use punctual::description::{InterfaceDescription, Repository};
use punctual::{Orb, Policy, SetOverride, SystemException, TypeCode};
use punctual_idl::diagnostic::render;
use punctual_idl::model::{DeclKind, Declaration};
use punctual_idl_describe as describe;

use super::{Interface, PullInterface};
use crate::refusal::Refusal;

/// Maximum number of bases of an interface, at any distance.
const MOST_BASES: usize = 1_000;

/// Maximum number of interfaces that are remembered; others are asked for each time.
const MOST_KNOWN: usize = 10_000;

/// Longest part of a repository id in a log line, in characters.
const SHOWN: usize = 200;

/// Number of refused interfaces that are logged as warnings; later ones are logged for debugging, since a client that
/// asks for ever must not fill a disk.
const LOGGED: u64 = 10;

/// Interface Repository of the ORB's configuration.
const INITIAL_REFERENCE: &str = "InterfaceRepository";

/// Interfaces whose calls can be events of typed channels. A service without any has no typed channel.
#[derive(Clone, Debug, Default)]
pub struct EventInterfaces {
    /// Descriptions of interfaces, their bases among them.
    pub described: Vec<InterfaceDescription>,
    /// Valuetypes, so that values of derived types pass whole where a base is declared.
    pub value_types: Vec<TypeCode>,
    /// Reference to an Interface Repository as text, which is asked about other interfaces. Without it, the ORB's initial
    /// reference `InterfaceRepository`, if it has one.
    pub repository: Option<String>,
}

impl EventInterfaces {
    /// Adds all interfaces and valuetypes of an IDL file and of the files that it includes from these folders. Takes IDL that
    /// the standard refuses and other compilers accept.
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn add_idl(&mut self, file: &Path, include_dirs: &[PathBuf]) -> Result<(), String> {
        let options = punctual_idl::Options {
            include_dirs: include_dirs.to_vec(),
            // No code is written of it.
            lenient: true,
            ..punctual_idl::Options::default()
        };
        let compilation = punctual_idl::compile(file, &options)
            .map_err(|failure| render(&failure.diagnostics, false).trim_end().to_owned())?;
        let specification = &compilation.specification;
        let is_whole = |one: &&Declaration| match &one.kind {
            DeclKind::Interface(interface) => !interface.forward_only,
            _ => false,
        };
        let declared = describe::interfaces(specification).filter(is_whole);
        let described = declared.filter_map(|one| describe::interface(specification, one.id));
        self.described.extend(described);
        self.value_types
            .extend(describe::value_types(specification));
        Ok(())
    }
}

/// Answer of the sources about an interface.
pub(crate) enum Found {
    /// Its calls can be events.
    Interface(Arc<Interface>),
    /// There is no such interface, or its calls cannot be events.
    Unsupported,
    /// Only the Interface Repository may know it.
    Unasked,
}

/// Interfaces of a service that is served.
#[derive(Debug)]
pub(crate) struct Catalogue {
    described: HashMap<String, InterfaceDescription>,
    repository: Option<Repository>,
    orb: Orb,
    timeout: Duration,
    /// Interfaces that have been asked for, and their calls can be events.
    known: RwLock<HashMap<String, Arc<Interface>>>,
    /// States that the repository's valuetypes are registered, which the first interface with values needs.
    has_value_types: Mutex<bool>,
    refused: AtomicU64,
}

impl Catalogue {
    /// Makes the catalogue of these sources; `timeout` is the time limit of calls to the repository.
    ///
    /// # Errors
    /// The reference to the repository is wrong.
    pub(crate) fn new(
        sources: &EventInterfaces,
        orb: &Orb,
        timeout: Duration,
    ) -> Result<Self, Refusal> {
        register(orb, &sources.value_types);
        let described = sources.described.iter();
        Ok(Self {
            described: described.map(|one| (one.id.clone(), one.clone())).collect(),
            repository: repository(sources.repository.as_deref(), orb)?,
            orb: orb.clone(),
            timeout,
            known: RwLock::default(),
            has_value_types: Mutex::new(false),
            refused: AtomicU64::new(0),
        })
    }

    /// Returns whether there are sources.
    pub(crate) fn has_sources(&self) -> bool {
        self.repository.is_some() || !self.described.is_empty()
    }

    /// Returns an interface without a call.
    pub(crate) fn find(&self, id: &str) -> Found {
        if let Some(known) = self.known.read().get(id) {
            return Found::Interface(known.clone());
        }
        match self.described.get(id) {
            Some(described) => {
                let base = |id: &str| Ok(self.described.get(id).cloned());
                self.judged(id, bases(described, base).map(|bases| (described, bases)))
            }
            None if self.repository.is_some() => Found::Unasked,
            None => {
                self.log(id, &"no IDL and no Interface Repository describes it");
                Found::Unsupported
            }
        }
    }

    /// Checks that the IDL has the operations of an interface `Pull<I>` in it, if it has it at all.
    ///
    /// # Errors
    /// The first difference.
    pub(crate) fn check_pulled(&self, interface: &PullInterface) -> Result<(), String> {
        match self.described.get(interface.id()) {
            Some(described) => interface.check(described),
            None => Ok(()),
        }
    }

    /// Asks the Interface Repository for an interface. Blocks.
    ///
    /// # Errors
    /// The repository cannot be asked.
    pub(crate) fn ask(&self, id: &str) -> Result<Found, SystemException> {
        let Some(repository) = &self.repository else {
            return Ok(Found::Unsupported);
        };
        let asked = self.within_time(|| {
            let Some(described) = repository.interface(id)? else {
                return Ok(None);
            };
            let bases = bases(&described, |id| repository.interface(id))?;
            if has_values(&described) {
                let mut has_value_types = self.has_value_types.lock();
                if !*has_value_types {
                    register(&self.orb, &repository.value_types()?);
                    *has_value_types = true;
                }
            }
            Ok(Some((described, bases)))
        });
        let asked = asked.map_err(|exception| exception.in_context("the Interface Repository"))?;
        let Some((described, bases)) = asked else {
            self.log(id, &"the Interface Repository does not describe it");
            return Ok(Found::Unsupported);
        };
        Ok(self.judged(id, Ok((&described, bases))))
    }

    fn judged(
        &self,
        id: &str,
        described: Result<(&InterfaceDescription, Vec<String>), SystemException>,
    ) -> Found {
        let interface = described.map_err(|exception| exception.to_string());
        let interface = interface.and_then(|(described, bases)| Interface::of(described, bases));
        match interface {
            Ok(interface) => Found::Interface(self.remembered(id, interface)),
            Err(reason) => {
                self.log(id, &reason);
                Found::Unsupported
            }
        }
    }

    /// Remembers an interface, unless there are too many: peers may be able to define them in the repository.
    fn remembered(&self, id: &str, interface: Interface) -> Arc<Interface> {
        let mut known = self.known.write();
        let interface = Arc::new(interface);
        if known.len() >= MOST_KNOWN {
            return interface;
        }
        known.entry(id.to_owned()).or_insert(interface).clone()
    }

    /// Logs why an interface is not supported: the exceptions of the standard have no text.
    pub(crate) fn log(&self, id: &str, reason: &dyn std::fmt::Display) {
        let id: String = id.chars().take(SHOWN).collect();
        // Relaxed: only the number matters.
        if self.refused.fetch_add(1, Ordering::Relaxed) < LOGGED {
            tracing::warn!("the interface {id:?} is not supported by typed channels: {reason}");
        } else {
            tracing::debug!("the interface {id:?} is not supported by typed channels: {reason}");
        }
    }

    /// Makes calls of the calling thread, each of which takes no longer than the time limit.
    fn within_time<R>(
        &self,
        calls: impl FnOnce() -> Result<R, SystemException>,
    ) -> Result<R, SystemException> {
        let policies = self.orb.policy_current();
        let limit = [Policy::RelativeRoundtripTimeout(self.timeout)];
        policies.set_policy_overrides(&limit, SetOverride::Set)?;
        let result = calls();
        policies.set_policy_overrides(&[], SetOverride::Set)?;
        result
    }
}

/// Registers factories of valuetypes.
fn register(orb: &Orb, value_types: &[TypeCode]) {
    for type_code in value_types {
        // Only their own code reads the state of custom ones.
        if let Ok(factory) = DynamicFactory::new(type_code) {
            orb.register_value_factory(factory);
        }
    }
}

/// Returns whether operations of an interface have parameters that are or hold valuetypes.
fn has_values(interface: &InterfaceDescription) -> bool {
    let operations = interface.operations.iter();
    let mut parameters = operations.flat_map(|operation| &operation.parameters);
    parameters.any(|one| one.type_code.holds_values().unwrap_or(false))
}

fn repository(reference: Option<&str>, orb: &Orb) -> Result<Option<Repository>, Refusal> {
    let object = match reference {
        Some(text) => orb.string_to_object(text),
        None if orb
            .list_initial_services()
            .iter()
            .any(|one| one == INITIAL_REFERENCE) =>
        {
            orb.resolve_initial_references(INITIAL_REFERENCE)
        }
        None => return Ok(None),
    };
    let object = object.map_err(|exception| {
        Refusal::NoResources(format!("the Interface Repository: {exception}"))
    })?;
    Ok(Some(Repository::new(&object)))
}

/// Returns the repository ids of all bases of an interface, at any distance.
///
/// # Errors
/// Those of `describe`; IMP_LIMIT beyond the maximum.
fn bases(
    interface: &InterfaceDescription,
    describe: impl Fn(&str) -> Result<Option<InterfaceDescription>, SystemException>,
) -> Result<Vec<String>, SystemException> {
    let (mut to_see, mut seen) = (interface.bases.clone(), Vec::new());
    while let Some(id) = to_see.pop() {
        if seen.contains(&id) {
            continue;
        }
        if seen.len() == MOST_BASES {
            let kind = punctual::SystemExceptionKind::ImpLimit;
            return Err(kind.because(format!("it has more than {MOST_BASES} bases")));
        }
        if let Some(base) = describe(&id)? {
            to_see.extend(base.bases);
        }
        seen.push(id);
    }
    Ok(seen)
}
