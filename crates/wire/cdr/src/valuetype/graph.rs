//! Graphs of values, and handles to them.
//!
//! A [`Graph`] owns its nodes. A [`ValueRef`] held by an application counts the graph; one in the
//! state of a value of the same graph does not, and its `clone` does. Between different graphs
//! every link counts. So a cycle is freed when all of it is in one graph: received cycles are, and
//! local ones whose values were made *beside* one another.
//!
//! Nodes that become unreachable inside a graph are freed with the graph, not before.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::num::TryFromIntError;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, Weak};

use super::state::ValueState;
use super::{HoldsValues, ValueFactory, ValueType};

/// Owner of values that may refer to one another.
#[derive(Clone)]
pub struct Graph(Arc<Nodes>);

#[derive(Default)]
struct Nodes(Mutex<Vec<Arc<Node>>>);

/// Valuetype instance that belongs to a graph of values.
pub(super) struct Node {
    graph: Weak<Nodes>,
    factory: Arc<dyn ValueFactory>,
    /// State; `None` while it is being read, and once it is gone.
    state: RwLock<Option<Box<dyn ValueState>>>,
}

impl Graph {
    /// Makes a graph that contains no values.
    #[must_use]
    pub(super) fn new() -> Self {
        Self(Arc::default())
    }

    /// Adds a value, whose state is set later if it is `None`; returns it and its index.
    pub(super) fn add(
        &self,
        factory: Arc<dyn ValueFactory>,
        mut state: Option<Box<dyn ValueState>>,
    ) -> (Arc<Node>, Result<u32, TryFromIntError>) {
        if let Some(state) = &mut state {
            state.adopt(self);
        }
        let node = Arc::new(Node {
            graph: Arc::downgrade(&self.0),
            factory,
            state: RwLock::new(state),
        });
        let mut nodes = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = u32::try_from(nodes.len());
        push_growing_by_half(&mut nodes, Arc::clone(&node));
        (node, place)
    }

    /// Returns the value at an index of the graph, if there is one.
    pub(super) fn at(&self, place: u32) -> Option<Arc<Node>> {
        let nodes = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.get(place as usize).cloned()
    }

    /// Returns a handle to one of the graph's values, for use outside of the graph.
    pub(super) fn handle(&self, node: &Arc<Node>) -> ValueRef {
        ValueRef(Handle::Outside {
            graph: self.clone(),
            node: Arc::clone(node),
        })
    }
}

/// Pushes onto a list that grows by half of its length: a message may consist of values of a few
/// bytes each, and the list of them must stay small in comparison.
pub(super) fn push_growing_by_half<T>(list: &mut Vec<T>, one: T) {
    const FIRST: usize = 4;
    if list.len() == list.capacity() {
        list.reserve_exact(FIRST.max(list.len() / 2));
    }
    list.push(one);
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        write!(f, "Graph({} values)", nodes.len())
    }
}

impl Node {
    pub(super) fn factory(&self) -> &Arc<dyn ValueFactory> {
        &self.factory
    }

    /// Sets the state that was read for a value.
    pub(super) fn complete(&self, state: Box<dyn ValueState>) {
        let mut place = self.state.write().unwrap_or_else(PoisonError::into_inner);
        *place = Some(state);
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<Box<dyn ValueState>>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    /// States queued to be dropped by the outermost drop on this thread.
    static DROPPED: RefCell<Option<Vec<Box<dyn ValueState>>>> = const { RefCell::new(None) };
}

/// Drops the state. It may hold the last handle to another graph, whose state may hold one to yet
/// another: they are dropped one after the other instead of recursively.
impl Drop for Node {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(state) = state.take() else {
            return;
        };
        let mut state = Some(state);
        let is_outermost = DROPPED.try_with(|dropped| match &mut *dropped.borrow_mut() {
            Some(waiting) => {
                waiting.extend(state.take());
                false
            }
            idle => {
                *idle = Some(Vec::new());
                true
            }
        });
        if is_outermost == Ok(true) {
            drop(state);
            while let Some(next) = next_dropped() {
                drop(next);
            }
        }
    }
}

/// Takes the next state of the queue, and ends the queue when it is empty.
fn next_dropped() -> Option<Box<dyn ValueState>> {
    DROPPED
        .try_with(|dropped| {
            let mut dropped = dropped.borrow_mut();
            let next = dropped.as_mut()?.pop();
            if next.is_none() {
                *dropped = None;
            }
            next
        })
        .ok()?
}

/// Handle to a value of any type: CORBA's `ValueBase`. Cheap to clone; clones refer to the same
/// value.
///
/// Two handles are equal if they refer to the same value.
pub struct ValueRef(Handle);

enum Handle {
    /// Handle that application code holds, which keeps the whole graph alive.
    Outside { graph: Graph, node: Arc<Node> },
    /// Link in the state of a value of the same graph.
    Within { node: Weak<Node> },
}

impl ValueRef {
    /// Makes a value, in a graph of its own.
    #[must_use]
    pub fn new(factory: Arc<dyn ValueFactory>, state: Box<dyn ValueState>) -> Self {
        let graph = Graph::new();
        let (node, _) = graph.add(factory, Some(state));
        graph.handle(&node)
    }

    /// Makes a value in the graph of this one: a cycle through both is freed with the last handle
    /// to either.
    #[must_use]
    pub fn beside(&self, factory: Arc<dyn ValueFactory>, state: Box<dyn ValueState>) -> Self {
        let Some((graph, _)) = self.parts() else {
            return Self::new(factory, state);
        };
        let (node, _) = graph.add(factory, Some(state));
        graph.handle(&node)
    }

    /// Makes a link to a value from another value of the same graph.
    pub(super) fn within(node: &Arc<Node>) -> Self {
        Self(Handle::Within {
            node: Arc::downgrade(node),
        })
    }

    /// Returns the repository id of the valuetype to which the value belongs.
    #[must_use]
    pub fn repository_id(&self) -> String {
        self.factory().repository_id().to_owned()
    }

    /// Returns the value's factory, which knows the type of the value.
    #[must_use]
    pub fn factory(&self) -> Arc<dyn ValueFactory> {
        match self.parts() {
            Some((_, node)) => Arc::clone(&node.factory),
            None => Arc::new(DeadGraph),
        }
    }

    /// Converts to a handle of another type: CORBA's down- and upcast.
    #[must_use]
    pub fn downcast<T: ValueType>(&self) -> Option<T> {
        T::downcast(self.clone()).ok()
    }

    /// Returns the value viewed as a `V`, if its factory supports that.
    #[must_use]
    pub fn view<V: 'static>(&self) -> Option<V> {
        let view = self.factory().view(TypeId::of::<V>(), self)?;
        view.downcast().ok().map(|view| *view)
    }

    /// Returns the result of `look` on the part `P` of the state. While the value is being read,
    /// `look` gets the default state.
    ///
    /// The state is locked meanwhile: `look` must not change the value.
    pub fn read<P: Any + Default, R>(&self, look: impl FnOnce(&P) -> R) -> R {
        if let Some((_graph, node)) = self.parts() {
            let state = node.read();
            let part = state.as_ref().and_then(|s| s.part(TypeId::of::<P>()));
            if let Some(part) = part.and_then(|part| part.downcast_ref()) {
                return look(part);
            }
        }
        look(&P::default())
    }

    /// Replaces a member of the part `P` by `new`; `place` selects the member.
    pub fn replace<P: Any, T: HoldsValues>(
        &self,
        mut new: T,
        place: impl FnOnce(&mut P) -> &mut T,
    ) {
        if let Some((graph, _)) = self.parts() {
            new.adopt(&graph);
            self.set(new, place);
        }
    }

    /// Replaces a member, as [`ValueRef::replace`] does, of a type that contains no handles to
    /// values.
    pub fn set<P: Any, T>(&self, mut new: T, place: impl FnOnce(&mut P) -> &mut T) {
        if let Some((_graph, node)) = self.parts() {
            let mut state = node.state.write().unwrap_or_else(PoisonError::into_inner);
            let part = state.as_mut().and_then(|s| s.part_mut(TypeId::of::<P>()));
            if let Some(part) = part.and_then(|part| part.downcast_mut()) {
                std::mem::swap(place(part), &mut new);
            }
        }
        // The old content is dropped while nothing is locked.
    }

    /// Returns the result of `look` on the whole state; `None` while that is being read.
    pub fn with_state<R>(&self, look: impl FnOnce(&dyn ValueState) -> R) -> Option<R> {
        let (_graph, node) = self.parts()?;
        let state = node.read();
        state.as_deref().map(look)
    }

    pub(super) fn let_go_of(&mut self, held_by: &Graph) {
        if let Handle::Outside { graph, node } = &self.0
            && Arc::ptr_eq(&graph.0, &held_by.0)
        {
            *self = Self::within(node);
        }
    }

    /// Returns the value's address in memory; the same for all handles to it.
    pub(super) fn address(&self) -> usize {
        match &self.0 {
            Handle::Outside { node, .. } => Arc::as_ptr(node).addr(),
            Handle::Within { node } => node.as_ptr().addr(),
        }
    }

    /// Returns the graph and node; `None` for a link whose graph is gone.
    fn parts(&self) -> Option<(Graph, Arc<Node>)> {
        match &self.0 {
            Handle::Outside { graph, node } => Some((graph.clone(), Arc::clone(node))),
            Handle::Within { node } => {
                let node = node.upgrade()?;
                let graph = node.graph.upgrade()?;
                Some((Graph(graph), node))
            }
        }
    }
}

impl Clone for ValueRef {
    fn clone(&self) -> Self {
        match self.parts() {
            Some((graph, node)) => Self(Handle::Outside { graph, node }),
            None => Self(Handle::Within { node: Weak::new() }),
        }
    }
}

impl PartialEq for ValueRef {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for ValueRef {}

impl Hash for ValueRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

/// Shows the type and nothing of the state, which may lead back to this value.
impl fmt::Debug for ValueRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ValueRef({})", self.factory().repository_id())
    }
}

impl ValueType for ValueRef {
    const REPOSITORY_ID: &'static str = "";

    fn from_value(value: ValueRef) -> Self {
        value
    }

    fn as_value(&self) -> &ValueRef {
        self
    }
}

/// Placeholder type of a link whose graph is gone.
struct DeadGraph;

impl ValueFactory for DeadGraph {
    fn repository_id(&self) -> &str {
        ""
    }

    fn kinds(&self) -> &[TypeId] {
        &[]
    }

    fn create(&self) -> Box<dyn ValueState> {
        Box::new(super::state::Empty)
    }
}
