//! Graph of contexts and bindings, in memory.
//!
//! It mirrors the store: only committed changes are applied ([`Tree::apply`]). The effect of a
//! change is computed by a [`Draft`] over it. A context has a permanent *home*, the context that it
//! was made in; bindings may lead to it from anywhere, in circles too.

mod draft;
mod operation;
mod walk;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use crate::store::{Change, ContextId, Loading, ROOT, Target, Ttl};

pub(crate) use draft::Draft;
pub(crate) use operation::{Done, Operation, Removal, RequestedChange};
pub(crate) use walk::{Place, View, walk_to};

/// Tree of all naming contexts and their bindings in memory.
#[derive(Debug)]
pub(crate) struct Tree {
    contexts: HashMap<ContextId, Context>,
    bindings: usize,
    /// Approximate number of bytes that all bindings and contexts occupy.
    bytes: usize,
    /// Contexts of groups that are bound to a name.
    groups: BTreeSet<ContextId>,
}

#[derive(Debug, Default)]
struct Context {
    home: ContextId,
    bindings: BTreeMap<Box<str>, Target>,
}

/// Bytes that a binding or a context takes beside its key and its reference: its place in a map, and
/// the allocator's own.
const ENTRY: usize = 200;

/// Returns the approximate number of bytes that a binding occupies.
fn bytes_of(key: &str, target: &Target) -> usize {
    let reference = match target {
        Target::Object(reference)
        | Target::Foreign(reference)
        | Target::Temporary { reference, .. } => reference.len(),
        Target::Context(_) | Target::Group { .. } => 0,
    };
    key.len() + reference + ENTRY
}

impl Context {
    /// Returns the approximate number of bytes that the context's bindings occupy.
    fn bytes(&self) -> usize {
        let bindings = self.bindings.iter();
        bindings.map(|(key, target)| bytes_of(key, target)).sum()
    }
}

/// Bindings of a naming context returned by one listing, possibly not all.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// Key of each binding, and `true` if it is bound to a context.
    pub(crate) bindings: Vec<(Box<str>, bool)>,
    /// True if the context has more bindings after those listed.
    pub(crate) has_more: bool,
}

impl Tree {
    /// Creates a naming tree with an empty root context.
    pub(crate) fn new() -> Self {
        Self {
            contexts: HashMap::from([(ROOT, Context::default())]),
            bindings: 0,
            bytes: 0,
            groups: BTreeSet::new(),
        }
    }

    /// Returns the numbers of the contexts that contain the members of groups.
    pub(crate) fn groups(&self) -> &BTreeSet<ContextId> {
        &self.groups
    }

    /// Returns the number of naming contexts in the tree.
    pub(crate) fn contexts(&self) -> usize {
        self.contexts.len()
    }

    /// Returns the number of bindings in all contexts of the tree.
    pub(crate) fn bindings(&self) -> usize {
        self.bindings
    }

    /// Returns about how many bytes all bindings and contexts take.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Applies committed changes to the naming tree.
    pub(crate) fn apply(&mut self, changes: Vec<Change>) {
        for change in changes {
            match change {
                Change::Create { context, home } => {
                    let bindings = BTreeMap::new();
                    let before = self.contexts.insert(context, Context { home, bindings });
                    if before.is_none() {
                        self.bytes += ENTRY;
                    }
                }
                Change::Destroy(context) => {
                    let gone = self.contexts.remove(&context);
                    self.groups.remove(&context);
                    if let Some(gone) = gone {
                        self.bindings -= gone.bindings.len();
                        self.bytes -= ENTRY + gone.bytes();
                    }
                }
                Change::Bind {
                    context,
                    key,
                    target,
                } => {
                    if let Target::Group { context, .. } = target {
                        self.groups.insert(context);
                    }
                    if let Some(context) = self.contexts.get_mut(&context) {
                        self.bytes += bytes_of(&key, &target);
                        if let Some(before) = context.bindings.get(&key) {
                            self.bytes -= bytes_of(&key, before);
                        }
                        let before = context.bindings.insert(key, target);
                        self.bindings += usize::from(before.is_none());
                    }
                }
                Change::Unbind { context, key } => {
                    let context = self.contexts.get_mut(&context);
                    let before = context.and_then(|it| it.bindings.remove(&key));
                    if let Some(before) = before {
                        self.bindings -= 1;
                        self.bytes -= bytes_of(&key, &before);
                    }
                }
            }
        }
    }

    /// Returns an iterator over the keys of a context's bindings.
    fn keys(&self, context: ContextId) -> impl Iterator<Item = &str> {
        let context = self.contexts.get(&context).into_iter();
        context.flat_map(|context| context.bindings.keys().map(|key| &**key))
    }

    /// Returns the number of bytes of the keys that [`Tree::list`] lists; 0 if there is no such
    /// context.
    pub(crate) fn measure(&self, context: ContextId, behind: Option<&str>, most: usize) -> usize {
        let from = behind.map_or(Bound::Unbounded, Bound::Excluded);
        let context = self.contexts.get(&context).into_iter();
        let rest = context.flat_map(|it| it.bindings.range::<str, _>((from, Bound::Unbounded)));
        rest.take(most).map(|(key, _)| key.len()).sum()
    }

    /// Returns at most `most` bindings of a context, after a key or from the first on; `None` if
    /// there is no such context.
    pub(crate) fn list(
        &self,
        context: ContextId,
        behind: Option<&str>,
        most: usize,
    ) -> Option<Listed> {
        let bindings = &self.contexts.get(&context)?.bindings;
        let from = behind.map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = bindings.range::<str, _>((from, Bound::Unbounded));
        let listed = rest.by_ref().take(most);
        let listed = listed.map(|(key, target)| (key.clone(), target.is_context()));
        Some(Listed {
            bindings: listed.collect(),
            has_more: rest.next().is_some(),
        })
    }
}

/// Queries for other parts of this process, which also return the targets of bindings.
impl Tree {
    /// Returns the bindings of a context, beginning at a key, in the order of keys; none if there
    /// is no such context.
    pub(crate) fn from(
        &self,
        context: ContextId,
        key: &str,
    ) -> impl Iterator<Item = (&str, &Target)> {
        let from = (Bound::Included(key), Bound::Unbounded);
        let context = self.contexts.get(&context).into_iter();
        let bindings = context.flat_map(move |it| it.bindings.range::<str, _>(from));
        bindings.map(|(key, target)| (&**key, target))
    }

    /// Returns about how many bytes the bindings of a context take.
    fn bytes_in(&self, context: ContextId) -> usize {
        self.contexts.get(&context).map_or(0, Context::bytes)
    }

    /// Returns the number of bindings of a context, if it exists.
    pub(crate) fn bindings_of(&self, context: ContextId) -> Option<usize> {
        self.contexts.get(&context).map(|it| it.bindings.len())
    }
}

impl Target {
    /// Returns `true` if the target is a context, of this service or elsewhere.
    pub(crate) fn is_context(&self) -> bool {
        matches!(self, Target::Context(_) | Target::Foreign(_))
    }
}

impl View for Tree {
    fn home(&self, context: ContextId) -> Option<ContextId> {
        self.contexts.get(&context).map(|context| context.home)
    }

    fn target(&self, context: ContextId, key: &str) -> Option<&Target> {
        self.contexts.get(&context)?.bindings.get(key)
    }
}

/// A tree under construction from a store. The bindings of a context are collected first and then
/// inserted together: a map made from sorted entries takes less memory than one that grows.
pub(crate) struct TreeBuilder {
    tree: Tree,
    context: ContextId,
    gathered: Vec<(Box<str>, Target)>,
    /// Number of bindings of contexts that do not exist.
    lost: usize,
    /// Temporary bindings read so far, each with its context, key and time to live.
    temporary: Vec<(ContextId, Box<str>, Ttl)>,
}

impl TreeBuilder {
    pub(crate) fn new() -> Self {
        Self {
            tree: Tree::new(),
            context: ROOT,
            gathered: Vec::new(),
            lost: 0,
            temporary: Vec::new(),
        }
    }

    /// Removes and returns the temporary bindings found so far.
    pub(crate) fn take_temporary(&mut self) -> Vec<(ContextId, Box<str>, Ttl)> {
        std::mem::take(&mut self.temporary)
    }

    /// Returns the tree; `None` if the store had bindings of contexts that do not exist.
    pub(crate) fn grown(mut self) -> Option<Tree> {
        self.put();
        self.tree.contexts.shrink_to_fit();
        (self.lost == 0).then_some(self.tree)
    }

    fn put(&mut self) {
        let gathered = std::mem::take(&mut self.gathered);
        match self.tree.contexts.get_mut(&self.context) {
            Some(context) => {
                self.tree.bindings += gathered.len();
                let bytes = gathered.iter().map(|(key, target)| bytes_of(key, target));
                self.tree.bytes += bytes.sum::<usize>();
                context.bindings = gathered.into_iter().collect();
            }
            None => self.lost += gathered.len(),
        }
    }
}

impl Loading for TreeBuilder {
    fn context(&mut self, context: ContextId, home: ContextId) {
        let bindings = BTreeMap::new();
        self.tree.bytes += ENTRY;
        self.tree
            .contexts
            .insert(context, Context { home, bindings });
    }

    fn binding(&mut self, context: ContextId, key: &str, target: Target) {
        if context != self.context {
            self.put();
            self.context = context;
        }
        if let Target::Temporary { ttl, .. } = target {
            self.temporary.push((context, key.into(), ttl));
        }
        if let Target::Group { context, .. } = target {
            self.tree.groups.insert(context);
        }
        self.gathered.push((key.into(), target));
    }
}
