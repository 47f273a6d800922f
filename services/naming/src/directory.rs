//! Access to the service for other parts of the same process that are not CORBA clients, such as a
//! console.
//!
//! They act on behalf of their own peers, whose addresses are checked by [`Access`](crate::Access)
//! like those of clients.

use std::net::IpAddr;
use std::sync::Arc;

use punctual::stub::{Block, ByteOrder, Coding, Decoder, Encoder, Marshal, Unmarshal};
use punctual_ior::Ior;

use crate::access::Requester;
use crate::cos_naming::naming_context::NotFoundReason;
use crate::cos_naming::{Name, NameComponent};
use crate::name::{check, component, key};
use crate::observe::Observer;
use crate::refusal::Refusal;
use crate::service::{NamingService, OpenError, Size};
use crate::store::{ContextId, ROOT, Target};
use crate::tree::{Operation, RequestedChange, Tree, View};

/// Names of a naming service, for the process that serves them. Clones share the same service.
/// Names start at the root context; an empty name is the root itself.
#[derive(Clone, Debug)]
pub struct Directory(NamingService);

/// Some bindings of one context, as of one moment.
#[derive(Clone, Debug)]
pub struct Portion {
    /// Contexts that the name leads through, from the root to the context itself.
    pub way: Vec<ContextId>,
    /// Total number of bindings in the context.
    pub size: usize,
    /// Some of the bindings, in the order of ids and kinds.
    pub entries: Vec<Entry>,
    /// Component of the next binding, if there is one.
    pub next: Option<NameComponent>,
    /// True if the peer has the right to change the context.
    pub may_change: bool,
}

/// Binding in a naming context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Component of the name that is bound.
    pub component: NameComponent,
    /// Target to which the name is bound.
    pub leads: Leads,
}

/// Target of a binding in a naming context.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Leads {
    /// Reference to an object, possibly nil.
    Object(Ior),
    /// A context of this service, with its number of bindings; `None` if the context was destroyed.
    Context(Option<usize>),
    /// Reference to a naming context of another server.
    Elsewhere(Ior),
    /// Group of objects, with its number of members.
    Group(usize),
    /// Stored data that cannot be decoded as a reference.
    Unreadable,
}

impl NamingService {
    /// Returns a view of the service for other parts of this process.
    #[must_use]
    pub fn directory(&self) -> Directory {
        Directory(self.clone())
    }
}

impl Directory {
    /// Returns the number of contexts and bindings of the naming service.
    #[must_use]
    pub fn size(&self) -> Size {
        self.0.size()
    }

    /// Checks that names can be read and changed now, as far as known.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub fn check_ready(&self) -> Result<(), OpenError> {
        self.0.check_ready()
    }

    /// Notifies an observer of changes from now on, until the observer is dropped.
    pub fn observe(&self, observer: &Arc<dyn Observer>) {
        self.0.observers().add(observer);
    }

    /// Returns at most `most` bindings of a context, beginning at a component.
    ///
    /// # Errors
    /// The name does not lead to a context of this service, is too long, or this server's copy of
    /// the names is out of date.
    pub fn portion(
        &self,
        name: &[NameComponent],
        from: Option<&NameComponent>,
        most: usize,
        by: IpAddr,
    ) -> Result<Portion, Refusal> {
        self.check(name)?;
        self.0.read(|tree, access| {
            let way = way(tree, name)?;
            let context = way.last().copied().unwrap_or(ROOT);
            let from = from.map(key).unwrap_or_default();
            let mut bindings = tree.from(context, &from);
            let entries = bindings.by_ref().take(most);
            let entries = entries.map(|(key, target)| Entry {
                component: component(key),
                leads: leads(tree, target),
            });
            Ok(Portion {
                size: tree.bindings_of(context).unwrap_or_default(),
                entries: entries.collect(),
                next: bindings.next().map(|(key, _)| component(key)),
                may_change: access.permits(tree, context, &requester(by)),
                way,
            })
        })?
    }

    /// Returns the binding of a component in a context, if there is one.
    ///
    /// # Errors
    /// As of [`Directory::portion`].
    pub fn entry(
        &self,
        name: &[NameComponent],
        at: &NameComponent,
    ) -> Result<Option<Entry>, Refusal> {
        self.check(name)?;
        self.0.read(|tree, _| {
            let way = way(tree, name)?;
            let context = way.last().copied().unwrap_or(ROOT);
            let target = tree.target(context, &key(at));
            Ok(target.map(|target| Entry {
                component: at.clone(),
                leads: leads(tree, target),
            }))
        })?
    }

    /// Returns the components that are bound to contexts, at most `most`, among the first `among`
    /// bindings of a context; and `true` if these are all of them.
    ///
    /// # Errors
    /// As of [`Directory::portion`].
    pub fn contexts(
        &self,
        name: &[NameComponent],
        most: usize,
        among: usize,
    ) -> Result<(Vec<NameComponent>, bool), Refusal> {
        self.check(name)?;
        self.0.read(|tree, _| {
            let way = way(tree, name)?;
            let context = way.last().copied().unwrap_or(ROOT);
            let mut bindings = tree.from(context, "");
            let contexts = bindings.by_ref().take(among);
            let contexts = contexts.filter(|(_, target)| matches!(target, Target::Context(_)));
            let mut found: Vec<_> = contexts
                .take(most + 1)
                .map(|(key, _)| component(key))
                .collect();
            let are_all = found.len() <= most && bindings.next().is_none();
            found.truncate(most);
            Ok((found, are_all))
        })?
    }

    /// Binds a name to an object, and returns when that is durable. Blocks.
    ///
    /// # Errors
    /// As `bind` and `rebind` of naming contexts, or the peer has no right to change the context.
    pub fn bind(
        &self,
        name: Name,
        object: &Ior,
        replaces: bool,
        by: IpAddr,
    ) -> Result<(), Refusal> {
        let most = self.0.limits().reference_bytes;
        let too_long = || Refusal::LimitExceeded(format!("references of {most} bytes"));
        let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
        object.marshal(&mut out).map_err(|_| too_long())?;
        let bytes = out.into_block();
        if bytes.len() > most {
            return Err(too_long());
        }
        let target = Target::Object(bytes.to_vec().into());
        self.change(name, by, |name| RequestedChange::Bind {
            name,
            target,
            replaces,
        })
    }

    /// Makes a context and binds a name to it, and returns when that is durable. Blocks.
    ///
    /// # Errors
    /// As `bind_new_context` of naming contexts, or the peer has no right to change the context.
    pub fn bind_new_context(&self, name: Name, by: IpAddr) -> Result<(), Refusal> {
        self.change(name, by, |name| RequestedChange::BindNewContext { name })
    }

    /// Removes a binding, and returns when that is durable. Blocks.
    ///
    /// # Errors
    /// As `unbind` of naming contexts, or the peer has no right to change the context.
    pub fn unbind(&self, name: Name, by: IpAddr) -> Result<(), Refusal> {
        self.change(name, by, |name| RequestedChange::Unbind { name })
    }

    /// Destroys a context, which has to be empty. The bindings to it stay. Blocks.
    ///
    /// # Errors
    /// As `destroy` of naming contexts, or the peer has no right to change the context.
    pub fn destroy(&self, name: &[NameComponent], by: IpAddr) -> Result<(), Refusal> {
        self.check(name)?;
        let context = self.0.read(|tree, _| way(tree, name))??;
        let context = context.last().copied().unwrap_or(ROOT);
        let (wanted, by) = (RequestedChange::Destroy, requester(by));
        let operation = Operation {
            context,
            wanted,
            by,
        };
        self.0.change(operation).map(drop)
    }

    fn change(
        &self,
        name: Name,
        by: IpAddr,
        wanted: impl FnOnce(Name) -> RequestedChange,
    ) -> Result<(), Refusal> {
        check(&name, &self.0.limits())?;
        let operation = Operation {
            context: ROOT,
            wanted: wanted(name),
            by: requester(by),
        };
        self.0.change(operation).map(drop)
    }

    fn check(&self, name: &[NameComponent]) -> Result<(), Refusal> {
        match name.is_empty() {
            true => Ok(()),
            false => check(name, &self.0.limits()),
        }
    }
}

/// Returns the requester for a peer with this address that uses TCP and has no certificate.
fn requester(address: IpAddr) -> Requester {
    Requester::Peer {
        is_owner: false,
        is_local: false,
        address: Some(address),
        names: Vec::new(),
    }
}

/// Returns the contexts that a name leads through, from the root to the named one.
fn way(tree: &Tree, name: &[NameComponent]) -> Result<Vec<ContextId>, Refusal> {
    let mut way = vec![ROOT];
    let mut here = ROOT;
    for (at, one) in name.iter().enumerate() {
        here = match tree.target(here, &key(one)) {
            Some(Target::Context(next)) if tree.has(*next) => *next,
            None => return Err(Refusal::not_found(NotFoundReason::MissingNode, name, at)),
            Some(Target::Object(_) | Target::Temporary { .. } | Target::Group { .. }) => {
                return Err(Refusal::not_found(NotFoundReason::NotContext, name, at));
            }
            Some(other) => {
                let context = other.clone();
                let rest = name.get(at + 1..).unwrap_or_default().to_vec();
                return Err(Refusal::Elsewhere { context, rest });
            }
        };
        way.push(here);
    }
    Ok(way)
}

fn leads(tree: &Tree, target: &Target) -> Leads {
    let read = |bytes: &[u8]| {
        let mut input = Decoder::new(bytes, ByteOrder::Big, Coding::default());
        Ior::unmarshal(&mut input).ok()
    };
    match target {
        Target::Context(context) => Leads::Context(tree.bindings_of(*context)),
        Target::Group { context, .. } => {
            Leads::Group(tree.bindings_of(*context).unwrap_or_default())
        }
        Target::Object(bytes)
        | Target::Temporary {
            reference: bytes, ..
        } => read(bytes).map_or(Leads::Unreadable, Leads::Object),
        Target::Foreign(bytes) => read(bytes).map_or(Leads::Unreadable, Leads::Elsewhere),
    }
}
