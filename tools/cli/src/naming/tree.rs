//! A context and everything below it, within one server.

use std::collections::HashMap;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};

use super::names::below;
use super::service::{Entry, Service, list, problem};
use crate::call::Problem;
use punctual::protocol::{Address, endpoints_of};
use punctual::{Interface, ObjectRef, SystemExceptionKind};
use punctual_naming::cos_naming::{NamingContext, NamingContextResolveError};
use punctual_naming::extension::{
    BindingKind, Choice, ExtendedContext, ExtendedContextAboutError, Member,
};

/// A binding and its target.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) entry: Entry,
    /// Complete name.
    pub(super) name: String,
    pub(super) leads: Leads,
}

/// Target of a binding.
#[derive(Debug)]
pub(super) enum Leads {
    /// An object; `None` for nil.
    Object(Option<ObjectRef>),
    /// An object that is bound for a limited time.
    Temporary(Option<ObjectRef>),
    /// A group, with its choice and members.
    Group(Choice, Vec<Member>),
    /// A context with these bindings.
    Context(Vec<Node>),
    /// A context that has been visited already, under this name.
    Again(String),
    /// A context of another server.
    Elsewhere(ObjectRef),
    /// A context that could not be listed, and the reason.
    Broken(ObjectRef, String),
}

/// Maximum nesting of contexts.
const DEEPEST: usize = 128;

/// Traversal of a context and those below it.
pub(super) struct Walk<'s> {
    service: &'s Service,
    /// Names of the contexts found so far, by their references.
    met: HashMap<String, String>,
    /// True if contexts of other servers are entered.
    follows: bool,
    /// True if objects are resolved.
    resolves: bool,
    /// True if the naming service is Punctual's, and is asked for temporary bindings and groups.
    is_extended: bool,
}

impl<'s> Walk<'s> {
    pub(super) fn new(
        service: &'s Service,
        follows: bool,
        resolves: bool,
    ) -> Result<Self, Problem> {
        Ok(Self {
            service,
            met: HashMap::new(),
            follows,
            resolves,
            is_extended: resolves && service.is_extended()?.is_some(),
        })
    }

    /// Returns everything below a context of that name.
    pub(super) fn below(
        &mut self,
        context: &NamingContext,
        name: &str,
    ) -> Result<Vec<Node>, Problem> {
        let text = self.service.text(Some(context.as_object()))?;
        self.met.insert(text, name.to_owned());
        self.nodes(context, name, DEEPEST)
    }

    fn nodes(
        &mut self,
        context: &NamingContext,
        name: &str,
        depth: usize,
    ) -> Result<Vec<Node>, Problem> {
        let mut entries = Vec::new();
        list(self.service, context, |some| {
            for Entry { component, .. } in &some {
                let bytes = component.id.len() + component.kind.len() + name.len();
                // The entry, its complete name, and what is printed.
                self.service.count_kept(3 * bytes)?;
            }
            entries.extend(some);
            Ok(())
        })?;
        entries.sort_by(|one, other| {
            let key = |entry: &Entry| (entry.component.id.clone(), entry.component.kind.clone());
            key(one).cmp(&key(other))
        });
        let mut nodes = Vec::new();
        for entry in entries {
            let whole = below(name, &entry.component);
            if let Some(leads) = self.leads(context, &entry, &whole, depth)? {
                let name = whole;
                nodes.push(Node { entry, name, leads });
            }
        }
        Ok(nodes)
    }

    /// Returns the target of a binding; `None` if it was removed meanwhile.
    fn leads(
        &mut self,
        context: &NamingContext,
        entry: &Entry,
        whole: &str,
        depth: usize,
    ) -> Result<Option<Leads>, Problem> {
        if !entry.is_context && !self.resolves {
            return Ok(Some(Leads::Object(None)));
        }
        // Groups are queried first: resolving a group without members fails.
        let is_asked = self.is_extended && !entry.is_context;
        let mut is_temporary = false;
        if is_asked {
            match self.beyond(context, entry, whole)? {
                ExtendedBinding::Nothing => {}
                ExtendedBinding::Temporary => is_temporary = true,
                ExtendedBinding::Group(choice, members) => {
                    return Ok(Some(Leads::Group(choice, members)));
                }
                ExtendedBinding::Gone => return Ok(None),
            }
        }
        let found = match context.resolve(std::slice::from_ref(&entry.component)) {
            Ok(found) => found,
            Err(NamingContextResolveError::NotFound(_)) => return Ok(None),
            Err(error) => return Err(problem(whole, &error)),
        };
        if let Some(object) = &found {
            self.service
                .count_kept(self.service.text(Some(object))?.len())?;
        }
        let object = match found {
            Some(object) if entry.is_context => object,
            found if is_temporary => return Ok(Some(Leads::Temporary(found))),
            found => return Ok(Some(Leads::Object(found))),
        };
        let text = self.service.text(Some(&object))?;
        if let Some(name) = self.met.get(&text) {
            return Ok(Some(Leads::Again(name.clone())));
        }
        if !self.follows && !is_at(&object, &self.service.root) {
            return Ok(Some(Leads::Elsewhere(object)));
        }
        if depth == 0 {
            let why = "it is too deep".to_owned();
            return Ok(Some(Leads::Broken(object, why)));
        }
        self.met.insert(text, whole.to_owned());
        let nodes = self.nodes(
            &NamingContext::from_object(object.clone()),
            whole,
            depth - 1,
        );
        Ok(Some(match nodes {
            Ok(nodes) => Leads::Context(nodes),
            // The other bindings are shown nevertheless.
            Err(Problem::System(exception, _)) => Leads::Broken(object, exception.to_string()),
            Err(other) => return Err(other),
        }))
    }
}

/// Properties of a binding that only Punctual's naming service has: a time to live, or an object group.
enum ExtendedBinding {
    Nothing,
    Temporary,
    Group(Choice, Vec<Member>),
    /// The binding was removed meanwhile.
    Gone,
}

impl Walk<'_> {
    fn beyond(
        &self,
        context: &NamingContext,
        entry: &Entry,
        whole: &str,
    ) -> Result<ExtendedBinding, Problem> {
        let context = ExtendedContext::from_object(context.as_object().clone());
        let name = std::slice::from_ref(&entry.component);
        let about = match context.about(name) {
            Ok(about) => about,
            Err(ExtendedContextAboutError::NotFound(_)) => return Ok(ExtendedBinding::Gone),
            // A context of another ORB's naming service.
            Err(ExtendedContextAboutError::System(exception))
                if exception.kind() == SystemExceptionKind::BadOperation =>
            {
                return Ok(ExtendedBinding::Nothing);
            }
            Err(error) => return Err(problem(whole, &error)),
        };
        if about.leads == BindingKind::ToGroup {
            let members = context.members(name);
            let members = members.map_err(|error| problem(whole, &error))?;
            return Ok(ExtendedBinding::Group(about.choosing, members));
        }
        Ok(match about.ttl_ms {
            0 => ExtendedBinding::Nothing,
            _ => ExtendedBinding::Temporary,
        })
    }
}

/// Returns `true` if a context belongs to the called server, by the endpoints of its reference. As
/// the server's host may have several names, the address that the calls use also counts.
fn is_at(context: &ObjectRef, root: &NamingContext) -> bool {
    let root = root.as_object();
    let addresses = |object: &ObjectRef| endpoints_of(object.orb(), object.ior());
    let own = addresses(root).into_iter().map(|endpoint| endpoint.address);
    let known: Vec<Address> = own.chain(root.connected_to()).collect();
    addresses(context).iter().any(|endpoint| {
        let is_it =
            |known: &Address| *known == endpoint.address || is_same_place(known, &endpoint.address);
        known.iter().any(is_it)
    })
}

/// Returns `true` if two addresses have the same port and the same host: equal IP addresses, or
/// both of this machine.
fn is_same_place(one: &Address, other: &Address) -> bool {
    let port = |address: &Address| address.host_and_port().map(|(_, port)| port);
    if port(one).is_none() || port(one) != port(other) {
        return false;
    }
    let (ours, others) = (numbers(one), numbers(other));
    let are_here = || ours.iter().any(is_here) && others.iter().any(is_here);
    ours.iter().any(|number| others.contains(number)) || are_here()
}

fn numbers(address: &Address) -> Vec<SocketAddr> {
    let place = address.host_and_port();
    let found = place.and_then(|place| place.to_socket_addrs().ok());
    found.into_iter().flatten().collect()
}

/// Returns `true` if an address belongs to this machine, which is tested by binding a socket to it.
fn is_here(address: &SocketAddr) -> bool {
    UdpSocket::bind((address.ip(), 0)).is_ok()
}
