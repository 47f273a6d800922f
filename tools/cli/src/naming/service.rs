//! The naming service to be called, of any ORB.

use super::names::parsed;
use super::raised::Raised;
use super::service_options::Common;
use crate::call::{self, Problem};
use crate::shown;
use punctual::{CompletionStatus, Interface, ObjectRef, Orb, SystemException, SystemExceptionKind};
use punctual_naming::cos_naming::{Binding, BindingType, NameComponent, NamingContext};
use punctual_naming::extension::ExtendedContext;
use serde_json::{Value, json};
use std::cell::Cell;

/// Address at which the service is looked for by default.
const DEFAULT: &str = "corbaloc::localhost:2809/NameService";

/// Number of bindings in one request.
const AT_ONCE: u32 = 500;

const ON_SERVICES: &str = "--service names a naming context: an `IOR:`, `corbaloc:` or `corbaname:` text, or a file \
                           that holds one; `punctual naming serve` starts one";

/// Naming service: its root context, and the ORB by which it is called.
pub(super) struct Service {
    pub(super) orb: Orb,
    pub(super) root: NamingContext,
    /// Number of bindings that may be listed.
    most: u64,
    /// Number of bindings that have been listed.
    listed: Cell<u64>,
    /// Maximum number of bytes of bindings that are kept, a quarter of the memory.
    most_bytes: u64,
    /// Number of bytes of bindings that are kept.
    kept: Cell<u64>,
}

/// Bytes that a binding takes beside its name and reference.
const ENTRY: u64 = 500;
/// Memory that is assumed where the system does not say.
const MEMORY: u64 = 1 << 30;

/// A listed binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) component: NameComponent,
    pub(super) is_context: bool,
}

impl Service {
    pub(super) fn new(common: &Common, orb_options: &[String]) -> Result<Self, Problem> {
        // Options on the command line follow, and take precedence.
        let timeout = format!("{}ms", common.timeout.as_millis().max(1));
        let mut all = vec!["-ORBCallTimeout".to_owned(), timeout];
        all.extend_from_slice(orb_options);
        let orb = call::orb(common.config.as_deref(), &all)?;
        let object = match &common.service {
            Some(reference) => call::object_of(&orb, reference),
            None => initial(&orb),
        };
        let object = object.map_err(|message| Problem::usage(message, ON_SERVICES))?;
        let root = NamingContext::from_object(object);
        Ok(Self {
            orb,
            root,
            most: common.most,
            listed: Cell::new(0),
            most_bytes: punctual_host::memory().unwrap_or(MEMORY) / 4,
            kept: Cell::new(0),
        })
    }

    /// Returns the context with a name; the empty name is the root.
    pub(super) fn context(&self, name: &str) -> Result<NamingContext, Problem> {
        if name.is_empty() {
            return Ok(self.root.clone());
        }
        let found = self.root.resolve(&parsed(name)?);
        let found = found.map_err(|error| problem(name, &error))?;
        self.as_context(name, found)
    }

    /// Returns the root as a context of Punctual's naming service; fails if it is not one.
    pub(super) fn extended(&self) -> Result<ExtendedContext, Problem> {
        self.is_extended()?.ok_or_else(|| {
            Problem::usage(
                "this naming service is not Punctual's: it has neither bindings with a time to live nor groups",
                "`punctual naming serve` has",
            )
        })
    }

    /// Returns the root as a context of Punctual's naming service, if it is one.
    pub(super) fn is_extended(&self) -> Result<Option<ExtendedContext>, Problem> {
        match ExtendedContext::narrow(self.root.as_object().clone()) {
            Ok(context) => Ok(Some(context)),
            Err(exception) if exception.kind() == SystemExceptionKind::BadParam => Ok(None),
            Err(exception) => Err(raised_by("_is_a", exception)),
        }
    }

    /// Returns an object as a context; the object itself is asked for its type if the reference
    /// does not name it.
    pub(super) fn as_context(
        &self,
        name: &str,
        object: Option<ObjectRef>,
    ) -> Result<NamingContext, Problem> {
        let object = object
            .ok_or_else(|| Problem::usage(format!("`{name}` is bound to nil"), "name a context"))?;
        NamingContext::narrow(object).map_err(|exception| {
            let help = "the name has to lead to a naming context".to_owned();
            Problem::System(exception.in_context(format_args!("`{name}`")), Some(help))
        })
    }

    /// Returns the object that a reference on the command line denotes; `nil` is nil.
    pub(super) fn object(&self, reference: &str) -> Result<Option<ObjectRef>, Problem> {
        if reference == "nil" {
            return Ok(None);
        }
        let object = call::object_of(&self.orb, reference);
        let object = object.map_err(|message| {
            Problem::usage(message, "a reference is an `IOR:`, `corbaloc:` or `corbaname:` text, or a file that holds one")
        })?;
        Ok(Some(object))
    }

    /// Counts bindings that were listed.
    fn count_listed(&self, bindings: &[Entry]) -> Result<(), Problem> {
        let listed = self.listed.get().saturating_add(bindings.len() as u64);
        self.listed.set(listed);
        match listed > self.most {
            true => Err(Problem::usage(
                format!("the server lists more than {} bindings", self.most),
                "a server may go on without end; --most allows for more",
            )),
            false => Ok(()),
        }
    }

    /// Counts a binding that is kept in memory, with so many bytes of text.
    pub(super) fn count_kept(&self, bytes: usize) -> Result<(), Problem> {
        let kept = self.kept.get().saturating_add(bytes as u64 + ENTRY);
        self.kept.set(kept);
        match kept > self.most_bytes {
            true => Err(Problem::usage(
                format!(
                    "the bindings take more than {} bytes of memory",
                    self.most_bytes
                ),
                "a server may go on without end; `punctual naming list` keeps none",
            )),
            false => Ok(()),
        }
    }

    /// Returns a reference as text.
    pub(super) fn text(&self, object: Option<&ObjectRef>) -> Result<String, Problem> {
        let text = match object {
            Some(object) => self.orb.object_to_string(object),
            None => return Ok("nil".to_owned()),
        };
        text.map_err(|exception| Problem::System(exception, None))
    }
}

/// Returns the ORB's initial reference NameService, or the service at the default port of this
/// machine.
pub(super) fn initial(orb: &Orb) -> Result<ObjectRef, String> {
    let is_known = orb
        .list_initial_services()
        .iter()
        .any(|name| name == "NameService")
        || orb.config().default_initial_reference.is_some();
    let object = match is_known {
        true => orb.resolve_initial_references("NameService"),
        false => orb.string_to_object(DEFAULT),
    };
    object.map_err(shown::exception)
}

/// Lists all bindings of a context; `take` is called for a portion at a time.
pub(super) fn list(
    service: &Service,
    context: &NamingContext,
    mut take: impl FnMut(Vec<Entry>) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let mut each = |some: Vec<Entry>| {
        service.count_listed(&some)?;
        take(some)
    };
    let raised = |exception| raised_by("list", exception);
    let entries = |bindings: Vec<Binding>| {
        let entry = |mut one: Binding| {
            Some(Entry {
                component: one.binding_name.pop()?,
                is_context: one.binding_type == BindingType::Ncontext,
            })
        };
        bindings.into_iter().filter_map(entry).collect()
    };
    let (first, iterator) = context.list(AT_ONCE).map_err(raised)?;
    each(entries(first))?;
    let Some(iterator) = iterator else {
        return Ok(());
    };
    loop {
        let (has_more, some) = iterator.next_n(AT_ONCE).map_err(raised)?;
        if has_more && some.is_empty() {
            return Err(Problem::usage(
                "the server says that there are more bindings, and returns none",
                "it breaks the protocol of `next_n`: it would be asked without end",
            ));
        }
        each(entries(some))?;
        if !has_more {
            // It may be gone already: servers may destroy iterators at any time.
            let _ = iterator.destroy();
            return Ok(());
        }
    }
}

/// Returns the problem for an exception of an operation on a name.
pub(super) fn problem(name: &str, error: &impl Raised) -> Problem {
    match error.system() {
        Some(exception) => raised_by(&format!("`{name}`"), exception.clone()),
        None => match error.user() {
            Some(exception) => exception.problem(name),
            None => Problem::Usage(format!("`{name}`: {error}"), None),
        },
    }
}

fn raised_by(what: &str, exception: SystemException) -> Problem {
    let help = unreachable(&exception).then(|| ON_SERVICES.to_owned());
    Problem::System(exception.in_context(format_args!("{what}")), help)
}

fn unreachable(exception: &SystemException) -> bool {
    use SystemExceptionKind as Kind;
    matches!(exception.kind(), Kind::Transient | Kind::CommFailure)
        && exception.completed() == CompletionStatus::No
}

/// Returns a binding as JSON.
pub(super) fn as_json(name: &str, entry: &Entry) -> Value {
    json!({
        "name": name,
        "id": entry.component.id,
        "kind": entry.component.kind,
        "type": if entry.is_context { "context" } else { "object" },
    })
}
