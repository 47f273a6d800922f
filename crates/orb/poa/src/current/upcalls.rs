//! The upcalls that threads are in, as numbers: what they mean is [`super::Current`]'s to look up.

use crate::key::{AdapterId, AdapterName, Nonce};
use crate::object_id::ObjectId;
use crate::object_map::EntryId;
use crate::servant::Servant;
use punctual_orb::Orb;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// An upcall: a few numbers, so that entering one costs a few instructions.
#[derive(Clone, Copy)]
pub(super) struct Upcall {
    pub(super) adapter: AdapterId,
    object: Object,
}

/// Which object it is on.
#[derive(Clone, Copy)]
enum Object {
    EntryId(EntryId),
    /// Where the id begins in [`Named::ids`], and the end of it; and whether the last of
    /// [`Named::servants`] is its servant.
    Id {
        begin: usize,
        end: usize,
        has_servant: bool,
    },
}

/// Upcalls that stand in place; those that are nested deeper stand in a vector.
const NEAR: usize = 16;

/// The upcalls of a thread, innermost last. Nothing here is to be dropped, so that a thread finds it without
/// a look at whether it is there.
struct Near {
    depth: Cell<usize>,
    upcalls: [Cell<Upcall>; NEAR],
}

/// What upcalls have that numbers cannot say.
#[derive(Default)]
struct Named {
    /// The ids that are no entries, one behind the other.
    ids: Vec<u8>,
    /// Servants that no map holds.
    servants: Vec<Arc<dyn Servant>>,
    /// Upcalls beyond the near ones.
    far: Vec<Upcall>,
}

const NONE: Upcall = Upcall {
    adapter: AdapterId {
        nonce: Nonce::NONE,
        name: AdapterName {
            index: 0,
            serial: 0,
        },
    },
    object: Object::EntryId(EntryId {
        index: 0,
        generation: 0,
    }),
};

thread_local! {
    static NEAR_ONES: Near = const {
        Near {
            depth: Cell::new(0),
            upcalls: [const { Cell::new(NONE) }; NEAR],
        }
    };
    static NAMED: RefCell<Named> = const {
        RefCell::new(Named {
            ids: Vec::new(),
            servants: Vec::new(),
            far: Vec::new(),
        })
    };
}

/// Marks the calling thread as in an upcall on an object whose id is its entry, until dropped.
pub(crate) struct InsideEntry(());

/// Marks the calling thread as in an upcall on an object that has an id, until dropped.
pub(crate) struct Inside(());

impl InsideEntry {
    #[inline]
    pub(crate) fn enter(adapter: AdapterId, entry_id: EntryId) -> Self {
        push(adapter, Object::EntryId(entry_id));
        Self(())
    }
}

impl Drop for InsideEntry {
    #[inline]
    fn drop(&mut self) {
        leave();
    }
}

impl Inside {
    /// `servant` where no map holds it.
    pub(crate) fn enter(adapter: AdapterId, id: &[u8], servant: Option<&Arc<dyn Servant>>) -> Self {
        let object = NAMED.with_borrow_mut(|named| {
            let begin = named.ids.len();
            named.ids.extend_from_slice(id);
            named.servants.extend(servant.cloned());
            Object::Id {
                begin,
                end: named.ids.len(),
                has_servant: servant.is_some(),
            }
        });
        push(adapter, object);
        Self(())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let ended = innermost();
        leave();
        // Dropped outside of the borrow: the servant may make calls when it goes.
        let _servant = NAMED.with_borrow_mut(|named| match ended.map(|ended| ended.object) {
            Some(Object::Id {
                begin, has_servant, ..
            }) => {
                named.ids.truncate(begin);
                has_servant.then(|| named.servants.pop()).flatten()
            }
            _ => None,
        });
    }
}

#[inline]
fn push(adapter: AdapterId, object: Object) {
    let upcall = Upcall { adapter, object };
    NEAR_ONES.with(|near| {
        let depth = near.depth.get();
        match near.upcalls.get(depth) {
            Some(free) => free.set(upcall),
            None => push_far(upcall),
        }
        near.depth.set(depth + 1);
    });
}

#[inline]
fn leave() {
    NEAR_ONES.with(|near| {
        let depth = near.depth.get().saturating_sub(1);
        near.depth.set(depth);
        if depth >= NEAR {
            pop_far();
        }
    });
}

#[cold]
fn push_far(upcall: Upcall) {
    NAMED.with_borrow_mut(|named| named.far.push(upcall));
}

#[cold]
fn pop_far() {
    NAMED.with_borrow_mut(|named| named.far.pop());
}

/// The upcalls of the calling thread, innermost first.
fn upcalls() -> Vec<Upcall> {
    let mut upcalls: Vec<Upcall> = NEAR_ONES.with(|near| {
        let taken = near.upcalls.iter().take(near.depth.get());
        taken.map(Cell::get).collect()
    });
    NAMED.with_borrow(|named| upcalls.extend_from_slice(&named.far));
    upcalls.reverse();
    upcalls
}

impl Upcall {
    /// The object's id.
    pub(super) fn id(&self) -> ObjectId {
        match self.object {
            Object::EntryId(entry_id) => (&entry_id.octets()).into(),
            Object::Id { begin, end, .. } => NAMED.with_borrow(|named| {
                let id = named.ids.get(begin..end);
                id.unwrap_or_default().into()
            }),
        }
    }

    /// The innermost upcall's servant, where no map holds it.
    pub(super) fn own_servant(&self) -> Option<Arc<dyn Servant>> {
        match self.object {
            Object::Id {
                has_servant: true, ..
            } => NAMED.with_borrow(|named| named.servants.last().cloned()),
            _ => None,
        }
    }
}

/// The innermost upcall of the calling thread.
pub(super) fn innermost() -> Option<Upcall> {
    let innermost = NEAR_ONES.with(|near| {
        let at = near.depth.get().checked_sub(1)?;
        near.upcalls.get(at).map(Cell::get)
    });
    innermost.or_else(|| NAMED.with_borrow(|named| named.far.last().copied()))
}

/// What a thread may do for an adapter outside of any request: see to the end of an object.
struct Engagement {
    adapter: AdapterId,
    id: Box<[u8]>,
}

thread_local! {
    static ENGAGEMENTS: RefCell<Vec<Engagement>> = const { RefCell::new(Vec::new()) };
}

/// Marks the calling thread as one that sees to the end of an object, until dropped. Current knows nothing of
/// it; waits for itself are told by it.
pub(crate) struct Engaged(());

impl Engaged {
    pub(crate) fn with_end_of(adapter: AdapterId, id: &[u8]) -> Self {
        let id = id.into();
        let engagement = Engagement { adapter, id };
        ENGAGEMENTS.with_borrow_mut(|engagements| engagements.push(engagement));
        Self(())
    }
}

impl Drop for Engaged {
    fn drop(&mut self) {
        ENGAGEMENTS.with_borrow_mut(Vec::pop);
    }
}

/// Whether the calling thread serves a request of an ORB, from the moment that an adapter is looked for, or
/// sees to the end of an object of its: it must not wait for the end of that. An ORB that is over has no
/// requests, but its nonce may have ends.
pub(crate) fn is_in_upcall_of(orb: Option<&Orb>, nonce: Nonce) -> bool {
    let is_its = |one: &Engagement| one.adapter.nonce == nonce;
    orb.is_some_and(Orb::is_in_upcall)
        || ENGAGEMENTS.with_borrow(|engagements| engagements.iter().any(is_its))
}

/// Whether the calling thread is in an upcall on this object, or sees to its end.
pub(crate) fn is_in_upcall_on(adapter: AdapterId, id: &[u8]) -> bool {
    let is_its = |upcall: &Upcall| upcall.adapter == adapter && upcall.id().as_bytes() == id;
    let is_engaged = |one: &Engagement| one.adapter == adapter && *one.id == *id;
    upcalls().iter().any(is_its)
        || ENGAGEMENTS.with_borrow(|engagements| engagements.iter().any(is_engaged))
}
