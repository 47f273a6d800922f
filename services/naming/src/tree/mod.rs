//! The graph of contexts and bindings, in memory.
//!
//! It is as the store has it: only what has been committed changes it ([`Tree::apply`]). What a change would be is
//! found out by a [`Draft`] over it. A context has a *home*, the context that it was made in, for good; bindings may
//! lead to it from anywhere, in circles too.

mod draft;
mod operation;
mod walk;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use crate::store::{Change, ContextId, Loading, ROOT, Target, Ttl};

pub(crate) use draft::Draft;
pub(crate) use operation::{Done, Lapsing, Operation, Wanted};
pub(crate) use walk::{Place, View, walk_to};

/// All contexts.
#[derive(Debug)]
pub(crate) struct Tree {
    contexts: HashMap<ContextId, Context>,
    bindings: usize,
    /// The contexts of groups, which are those that names lead to.
    groups: BTreeSet<ContextId>,
}

#[derive(Debug, Default)]
struct Context {
    home: ContextId,
    bindings: BTreeMap<Box<str>, Target>,
}

/// Some bindings of a context.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// Key of each, and whether it is bound to a context.
    pub(crate) bindings: Vec<(Box<str>, bool)>,
    /// Whether there are more behind them.
    pub(crate) has_more: bool,
}

impl Tree {
    /// The root context, empty.
    pub(crate) fn new() -> Self {
        Self {
            contexts: HashMap::from([(ROOT, Context::default())]),
            bindings: 0,
            groups: BTreeSet::new(),
        }
    }

    /// The contexts of groups.
    pub(crate) fn groups(&self) -> &BTreeSet<ContextId> {
        &self.groups
    }

    /// How many contexts there are.
    pub(crate) fn contexts(&self) -> usize {
        self.contexts.len()
    }

    /// How many bindings there are in all of them.
    pub(crate) fn bindings(&self) -> usize {
        self.bindings
    }

    /// Does what has been committed.
    pub(crate) fn apply(&mut self, changes: Vec<Change>) {
        for change in changes {
            match change {
                Change::Create { context, home } => {
                    let bindings = BTreeMap::new();
                    self.contexts.insert(context, Context { home, bindings });
                }
                Change::Destroy(context) => {
                    let gone = self.contexts.remove(&context);
                    self.groups.remove(&context);
                    self.bindings -= gone.map_or(0, |gone| gone.bindings.len());
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
                        let before = context.bindings.insert(key, target);
                        self.bindings += usize::from(before.is_none());
                    }
                }
                Change::Unbind { context, key } => {
                    let context = self.contexts.get_mut(&context);
                    let before = context.and_then(|it| it.bindings.remove(&key));
                    self.bindings -= usize::from(before.is_some());
                }
            }
        }
    }

    /// The keys of a context's bindings.
    fn keys(&self, context: ContextId) -> impl Iterator<Item = &str> {
        let context = self.contexts.get(&context).into_iter();
        context.flat_map(|context| context.bindings.keys().map(|key| &**key))
    }

    /// At most so many bindings of a context, behind a key or from the first on. `None` where there is no such context.
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

/// What is read of contexts in this process, targets and all.
impl Tree {
    /// The bindings of a context from a key on, in the order of keys. None where there is no such context.
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

    /// How many bindings a context has, if it is there.
    pub(crate) fn bindings_of(&self, context: ContextId) -> Option<usize> {
        self.contexts.get(&context).map(|it| it.bindings.len())
    }
}

impl Target {
    /// Whether it is a context, here or elsewhere.
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

/// A tree that is read from a store. Bindings are gathered and then put into their context at once: a map that is made
/// of what is in order takes less memory than one that grows.
pub(crate) struct Growing {
    tree: Tree,
    context: ContextId,
    gathered: Vec<(Box<str>, Target)>,
    /// Bindings of contexts that are not there.
    lost: usize,
    /// Those that live for a time.
    temporary: Vec<(ContextId, Box<str>, Ttl)>,
}

impl Growing {
    pub(crate) fn new() -> Self {
        Self {
            tree: Tree::new(),
            context: ROOT,
            gathered: Vec::new(),
            lost: 0,
            temporary: Vec::new(),
        }
    }

    /// The bindings that live for a time.
    pub(crate) fn take_temporary(&mut self) -> Vec<(ContextId, Box<str>, Ttl)> {
        std::mem::take(&mut self.temporary)
    }

    /// The tree; nothing where the store held bindings of contexts that it does not hold.
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
                context.bindings = gathered.into_iter().collect();
            }
            None => self.lost += gathered.len(),
        }
    }
}

impl Loading for Growing {
    fn context(&mut self, context: ContextId, home: ContextId) {
        let bindings = BTreeMap::new();
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
