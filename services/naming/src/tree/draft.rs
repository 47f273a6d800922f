//! Draft: the state of the tree with changes that are not committed yet.
//! The operations of many callers are performed on one draft, each as if those before it were
//! committed. Then the changes of the draft are committed together. An operation that is refused
//! leaves the draft unchanged.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

mod group;

use super::walk::{Place, View, walk, walk_to};
use super::{Done, ENTRY, Operation, RequestedChange, Tree, bytes_of};
use crate::access::Access;
use crate::cos_naming::NameComponent;
use crate::cos_naming::naming_context::NotFoundReason;
use crate::limits::Limits;
use crate::name::key;
use crate::refusal::Refusal;
use crate::store::{Change, ContextId, Fact, ROOT, StoreError, Target};

/// Uncommitted changes to a naming tree.
#[derive(Debug)]
pub(crate) struct Draft<'t> {
    tree: &'t Tree,
    limits: &'t Limits,
    access: &'t Access,
    /// New targets of bindings by context and key; `None` for removed bindings.
    slots: HashMap<ContextId, HashMap<Box<str>, Option<Target>>>,
    /// Home contexts of created contexts by id; `None` for destroyed contexts.
    contexts: HashMap<ContextId, Option<ContextId>>,
    /// Number of bindings that the draft adds, negative if it removes more.
    more_bindings: isize,
    more_contexts: isize,
    /// Number of bytes that the draft adds, negative if it removes more.
    more_bytes: isize,
    /// Bindings and contexts that the operations have read, if requested.
    seen: Option<Seen>,
}

/// Bindings and contexts on which the drafted operations depend.
#[derive(Debug, Default)]
struct Seen {
    bindings: HashSet<(ContextId, Box<str>)>,
    contexts: HashSet<ContextId>,
    emptied: HashSet<ContextId>,
}

type Result<T> = std::result::Result<T, Refusal>;

impl View for Draft<'_> {
    fn home(&self, context: ContextId) -> Option<ContextId> {
        match self.contexts.get(&context) {
            Some(home) => *home,
            None => self.tree.home(context),
        }
    }

    fn target(&self, context: ContextId, key: &str) -> Option<&Target> {
        let changed = self.slots.get(&context).and_then(|slots| slots.get(key));
        match changed {
            Some(target) => target.as_ref(),
            None => self.tree.target(context, key),
        }
    }
}

impl<'t> Draft<'t> {
    pub(crate) fn new(tree: &'t Tree, limits: &'t Limits, access: &'t Access) -> Self {
        Self {
            tree,
            limits,
            access,
            slots: HashMap::new(),
            contexts: HashMap::new(),
            more_bindings: 0,
            more_contexts: 0,
            more_bytes: 0,
            seen: None,
        }
    }

    /// Makes a draft that records the facts that operations depend on.
    pub(crate) fn noting(tree: &'t Tree, limits: &'t Limits, access: &'t Access) -> Self {
        Self {
            seen: Some(Seen::default()),
            ..Self::new(tree, limits, access)
        }
    }

    /// Returns an upper bound of the number of facts and changes.
    pub(crate) fn size(&self) -> usize {
        let seen = self.seen.as_ref().map_or(0, |seen| {
            seen.bindings.len() + seen.contexts.len() + seen.emptied.len()
        });
        let slots: usize = self.slots.values().map(HashMap::len).sum();
        // A destroyed context takes its bindings along.
        seen.max(slots + 2 * self.contexts.len())
    }

    /// Returns the facts that the operations depend on, as they are before the operations.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        let Some(seen) = &self.seen else {
            return Vec::new();
        };
        let bound = seen.bindings.iter().map(|(context, key)| Fact::Bound {
            context: *context,
            key: key.clone(),
            target: self.tree.target(*context, key).cloned(),
        });
        // The root always exists, and contexts made by this draft do not exist yet.
        let is_old = |context: &&ContextId| **context != ROOT && self.tree.has(**context);
        let present = seen.contexts.iter().filter(is_old);
        let present = present.map(|context| Fact::Present(*context));
        let empty = seen.emptied.iter().map(|context| Fact::Empty(*context));
        bound.chain(present).chain(empty).collect()
    }

    /// Records the bindings and contexts that an operation reads.
    fn note(&mut self, operation: &Operation) {
        let Some(mut seen) = self.seen.take() else {
            return;
        };
        let mut here = operation.context;
        match &operation.wanted {
            RequestedChange::Bind { name, .. }
            | RequestedChange::Unbind { name }
            | RequestedChange::BindNewContext { name }
            | RequestedChange::BindGroup { name, .. }
            | RequestedChange::Join { name, .. }
            | RequestedChange::Leave { name } => {
                for (at, component) in name.iter().enumerate() {
                    let key = key(component);
                    seen.bindings.insert((here, (*key).into()));
                    match self.target(here, &key) {
                        Some(Target::Context(next)) if at + 1 < name.len() => here = *next,
                        Some(Target::Group { context, .. })
                            if at + 2 == name.len() && operation.wanted.is_of_members() =>
                        {
                            here = *context;
                        }
                        _ => break,
                    }
                }
            }
            RequestedChange::Destroy => {
                seen.emptied.insert(here);
            }
            RequestedChange::Lapse(bindings) => {
                let bindings = bindings.iter().map(|one| (one.context, one.key.clone()));
                seen.bindings.extend(bindings);
            }
            RequestedChange::NewContext | RequestedChange::Expire => {}
        }
        // Contexts on the way exist as long as their bindings do.
        seen.contexts.insert(here);
        self.seen = Some(seen);
    }

    /// Performs a naming operation on the draft, without committing it.
    pub(crate) fn perform(&mut self, operation: &Operation) -> Result<Done> {
        self.note(operation);
        let Operation {
            context,
            wanted,
            by,
        } = operation;
        let permitted = |draft: &Self, context| match draft.access.permits(draft, context, by) {
            true => Ok(()),
            false => Err(Refusal::NotPermitted),
        };
        match wanted {
            RequestedChange::Bind {
                name,
                target,
                replaces,
            } => {
                let (here, key) = walk(self, *context, name)?;
                permitted(self, here)?;
                self.check_bind(here, &key, target, *replaces, name)?;
                self.bind(here, &key, target.clone())?;
            }
            RequestedChange::Unbind { name } => {
                let (here, key) = walk(self, *context, name)?;
                permitted(self, here)?;
                let group = match self.target(here, &key) {
                    None => return Err(missing(name)),
                    Some(Target::Group { context, .. }) => Some(*context),
                    Some(_) => None,
                };
                self.set(here, &key, None);
                if let Some(group) = group {
                    self.dissolve(group);
                }
            }
            RequestedChange::NewContext => {
                if !self.has(*context) {
                    return Err(Refusal::missing(*context));
                }
                permitted(self, *context)?;
                return self.create(*context).map(Done::Context);
            }
            RequestedChange::BindNewContext { name } => {
                let (here, key) = walk(self, *context, name)?;
                permitted(self, here)?;
                if self.target(here, &key).is_some() {
                    return Err(Refusal::AlreadyBound);
                }
                self.check_bindings()?;
                let target = Target::Context(here);
                self.check_bytes(signed(ENTRY) + self.growth(here, &key, Some(&target)))?;
                let made = self.create(here)?;
                self.bind(here, &key, Target::Context(made))?;
                return Ok(Done::Context(made));
            }
            RequestedChange::Destroy => {
                self.check_destroy(*context)?;
                permitted(self, *context)?;
                self.contexts.insert(*context, None);
                self.more_contexts -= 1;
                self.more_bytes -= signed(ENTRY);
            }
            // Expired bindings are removed by `expire`; the service knows them.
            RequestedChange::Expire => {}
            RequestedChange::BindGroup { name, choice } => {
                let (here, key) = walk(self, *context, name)?;
                permitted(self, here)?;
                self.bind_group(here, &key, *choice)?;
            }
            RequestedChange::Join { name, target } => {
                let (group, key) = walk_to(self, *context, name, Place::Group)?;
                permitted(self, group)?;
                self.join(group, &key, target)?;
            }
            RequestedChange::Leave { name } => {
                let (group, key) = walk_to(self, *context, name, Place::Group)?;
                permitted(self, group)?;
                if self.target(group, &key).is_none() {
                    return Err(missing(name));
                }
                self.set(group, &key, None);
            }
            RequestedChange::Lapse(bindings) => self.lapse(bindings),
        }
        Ok(Done::It)
    }

    /// Removes expired temporary bindings, except those that other operations of this draft change.
    pub(crate) fn expire(&mut self, due: &[(ContextId, Arc<str>)]) {
        for (context, key) in due {
            let slots = self.slots.get(context);
            let is_changed = slots.is_some_and(|slots| slots.contains_key(&**key));
            let is_temporary = || {
                let target = self.target(*context, key);
                matches!(target, Some(Target::Temporary { .. }))
            };
            if !is_changed && self.has(*context) && is_temporary() {
                self.set(*context, key, None);
            }
        }
    }

    /// Checks that a target may be bound to a name, possibly replacing another (§2.2.1.1 to
    /// §2.2.1.4).
    fn check_bind(
        &self,
        context: ContextId,
        key: &str,
        target: &Target,
        replaces: bool,
        name: &[NameComponent],
    ) -> Result<()> {
        let Some(before) = self.target(context, key) else {
            return Ok(());
        };
        let why = match (replaces, before.is_context(), target.is_context()) {
            (false, ..) => return Err(Refusal::AlreadyBound),
            (true, true, false) => NotFoundReason::NotObject,
            // Its members would be lost by a client that does not know of them.
            (true, false, false) if matches!(before, Target::Group { .. }) => {
                NotFoundReason::NotObject
            }
            (true, false, true) => NotFoundReason::NotContext,
            _ => return Ok(()),
        };
        let at = name.len().saturating_sub(1);
        Err(Refusal::not_found(why, name, at))
    }

    fn check_bindings(&self) -> Result<()> {
        let count = self
            .tree
            .bindings()
            .saturating_add_signed(self.more_bindings);
        if count >= self.limits.bindings {
            let most = format!("{} bindings", self.limits.bindings);
            return Err(Refusal::LimitExceeded(most));
        }
        Ok(())
    }

    fn check_destroy(&self, context: ContextId) -> Result<()> {
        if !self.has(context) {
            return Err(Refusal::missing(context));
        }
        if context == ROOT {
            return Err(Refusal::Root);
        }
        let slots = self.slots.get(&context);
        let is_bound = |key: &str| self.target(context, key).is_some();
        let changed = slots.is_some_and(|slots| slots.values().any(Option::is_some));
        let as_before = self.tree.keys(context).any(is_bound);
        match changed || as_before {
            true => Err(Refusal::NotEmpty),
            false => Ok(()),
        }
    }

    fn bind(&mut self, context: ContextId, key: &str, target: Target) -> Result<()> {
        if self.target(context, key).is_none() {
            self.check_bindings()?;
        }
        self.check_bytes(self.growth(context, key, Some(&target)))?;
        self.set(context, key, Some(target));
        Ok(())
    }

    /// Checks that the bindings may take so many more bytes.
    fn check_bytes(&self, more: isize) -> Result<()> {
        let bytes = self
            .tree
            .bytes()
            .saturating_add_signed(self.more_bytes)
            .saturating_add_signed(more);
        if more > 0 && bytes > self.limits.bytes {
            let most = format!("{} bytes of bindings", self.limits.bytes);
            return Err(Refusal::LimitExceeded(most));
        }
        Ok(())
    }

    /// Returns by how many bytes the bindings grow if a target is set.
    fn growth(&self, context: ContextId, key: &str, target: Option<&Target>) -> isize {
        let bytes = |target: Option<&Target>| {
            let bytes = target.map_or(0, |target| bytes_of(key, target));
            signed(bytes)
        };
        bytes(target) - bytes(self.target(context, key))
    }

    fn set(&mut self, context: ContextId, key: &str, target: Option<Target>) {
        let before = self.target(context, key).is_some();
        self.more_bytes += self.growth(context, key, target.as_ref());
        self.more_bindings += isize::from(target.is_some()) - isize::from(before);
        let slots = self.slots.entry(context).or_default();
        slots.insert(key.into(), target);
    }

    fn create(&mut self, home: ContextId) -> Result<ContextId> {
        let count = self
            .tree
            .contexts()
            .saturating_add_signed(self.more_contexts);
        if count >= self.limits.contexts {
            let most = format!("{} contexts", self.limits.contexts);
            return Err(Refusal::LimitExceeded(most));
        }
        if self.depth(home, self.limits.depth) >= self.limits.depth {
            let most = format!("contexts {} deep in one another", self.limits.depth);
            return Err(Refusal::LimitExceeded(most));
        }
        self.check_bytes(signed(ENTRY))?;
        let random = || getrandom::u64().map_err(|error| StoreError::Io(error.to_string()));
        let mut number = random().map_err(Refusal::Store)?;
        while number == ROOT || self.has(number) {
            number = random().map_err(Refusal::Store)?;
        }
        self.contexts.insert(number, Some(home));
        self.more_contexts += 1;
        self.more_bytes += signed(ENTRY);
        Ok(number)
    }

    /// Returns the changes of the draft, to be committed.
    pub(crate) fn changes(self) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut destroyed = Vec::new();
        for (context, home) in self.contexts {
            match home {
                Some(home) => changes.push(Change::Create { context, home }),
                None => destroyed.push(Change::Destroy(context)),
            }
        }
        for (context, slots) in self.slots {
            changes.extend(slots.into_iter().map(|(key, target)| match target {
                Some(target) => Change::Bind {
                    context,
                    key,
                    target,
                },
                None => Change::Unbind { context, key },
            }));
        }
        changes.append(&mut destroyed);
        changes
    }
}

/// Converts a number of bytes to a signed difference.
fn signed(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}

/// Returns the refusal for an unbound last component of a name.
fn missing(name: &[NameComponent]) -> Refusal {
    let at = name.len().saturating_sub(1);
    Refusal::not_found(NotFoundReason::MissingNode, name, at)
}
