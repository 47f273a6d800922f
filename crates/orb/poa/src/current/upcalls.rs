//! Upcalls of threads, encoded as numbers in the ORB's stack of upcalls, which [`super::Current`]
//! interprets.

use crate::key::{AdapterId, AdapterName, Nonce};
use crate::object_id::ObjectId;
use crate::object_map::EntryId;
use crate::servant::Servant;
use punctual_orb::{AdapterNote, OnObject, Orb, noted_object, noted_objects};
use std::cell::RefCell;
use std::sync::Arc;

/// Upcall, encoded in a few numbers so that entering one costs only a few instructions.
#[derive(Clone, Copy)]
pub(super) struct ObjectUpcall {
    pub(super) adapter: AdapterId,
    object: Object,
}

/// Target object of an upcall, by its id.
#[derive(Clone, Copy)]
enum Object {
    EntryId(EntryId),
    /// Start and end of the object's id in [`Named::ids`], and whether the last of
    /// [`Named::servants`] is its servant.
    Id {
        begin: usize,
        end: usize,
        has_servant: bool,
    },
}

/// Data of a thread's upcalls that does not fit into the numbers.
#[derive(Default)]
struct Named {
    /// Concatenated object ids that are not map entries.
    ids: Vec<u8>,
    /// Servants of upcalls whose objects are not in an active object map.
    servants: Vec<Arc<dyn Servant>>,
}

/// Upper bound of the buffer for ids that a thread keeps between upcalls, in bytes: a peer
/// determines the length of an id.
const KEPT: usize = 16 * 1024;

thread_local! {
    static NAMED: RefCell<Named> = const {
        RefCell::new(Named {
            ids: Vec::new(),
            servants: Vec::new(),
        })
    };
}

/// Marks the calling thread as in an upcall on an object whose id is its map entry, until dropped.
pub(crate) struct InsideEntry(#[expect(dead_code, reason = "held for its end")] OnObject);

/// Marks the calling thread as in an upcall on an object whose id is not a map entry, until
/// dropped.
pub(crate) struct UpcallScope {
    on_object: Option<OnObject>,
    begin: usize,
    has_servant: bool,
}

impl InsideEntry {
    #[inline]
    pub(crate) fn enter(adapter: AdapterId, entry_id: EntryId) -> Self {
        Self(OnObject::enter(note(adapter, Object::EntryId(entry_id))))
    }
}

impl UpcallScope {
    /// Enters an upcall. `servant` is given if no object map holds it.
    pub(crate) fn enter(adapter: AdapterId, id: &[u8], servant: Option<&Arc<dyn Servant>>) -> Self {
        let has_servant = servant.is_some();
        let (begin, end) = NAMED.with_borrow_mut(|named| {
            let begin = named.ids.len();
            named.ids.extend_from_slice(id);
            named.servants.extend(servant.cloned());
            (begin, named.ids.len())
        });
        let object = Object::Id {
            begin,
            end,
            has_servant,
        };
        Self {
            on_object: Some(OnObject::enter(note(adapter, object))),
            begin,
            has_servant,
        }
    }
}

impl Drop for UpcallScope {
    fn drop(&mut self) {
        self.on_object = None;
        // The servant is dropped outside of the borrow, as it may make calls.
        let _servant = NAMED.with_borrow_mut(|named| {
            named.ids.truncate(self.begin);
            if self.begin == 0 && named.ids.capacity() > KEPT {
                named.ids = Vec::new();
            }
            self.has_servant.then(|| named.servants.pop()).flatten()
        });
    }
}

/// First number of a note: how the object is identified, by its map entry, by its id, or by its id
/// with its servant noted.
const BY_ENTRY: u64 = 1;
const BY_ID: u64 = 2;
const BY_ID_WITH_SERVANT: u64 = 3;

/// Encodes an upcall for the ORB's stack of upcalls.
#[inline]
fn note(adapter: AdapterId, object: Object) -> AdapterNote {
    let pair = |upper: u32, lower: u32| u64::from(upper) << 32 | u64::from(lower);
    let (place, kind) = match object {
        Object::EntryId(entry) => (pair(entry.index, entry.generation), BY_ENTRY),
        Object::Id {
            begin,
            end,
            has_servant,
        } => {
            // Ids are shorter than messages, and the nesting of upcalls is bounded.
            let place = (begin as u64) << 32 | end as u64;
            let kind = match has_servant {
                true => BY_ID_WITH_SERVANT,
                false => BY_ID,
            };
            (place, kind)
        }
    };
    let name = pair(adapter.name.index, adapter.name.serial);
    [kind, adapter.nonce.number(), name, place]
}

/// Decodes an adapter's note in the ORB's stack of upcalls to the upcall that it describes.
fn upcall([kind, nonce, name, place]: AdapterNote) -> ObjectUpcall {
    let halves = |number: u64| ((number >> 32) as u32, number as u32);
    let ((index, serial), (upper, lower)) = (halves(name), halves(place));
    ObjectUpcall {
        adapter: AdapterId {
            nonce: Nonce::of_number(nonce),
            name: AdapterName { index, serial },
        },
        object: match kind {
            BY_ENTRY => Object::EntryId(EntryId {
                index: upper,
                generation: lower,
            }),
            kind => Object::Id {
                begin: upper as usize,
                end: lower as usize,
                has_servant: kind == BY_ID_WITH_SERVANT,
            },
        },
    }
}

/// Returns the upcalls of the calling thread, innermost first.
fn upcalls() -> Vec<ObjectUpcall> {
    noted_objects().into_iter().map(upcall).collect()
}

impl ObjectUpcall {
    /// Returns the object id of the upcall's target.
    pub(super) fn id(&self) -> ObjectId {
        self.with_id(|octets| octets.into())
    }

    /// Passes the object id of the upcall's target to `use_id`.
    pub(super) fn with_id<R>(&self, use_id: impl FnOnce(&[u8]) -> R) -> R {
        match self.object {
            Object::EntryId(entry_id) => use_id(&entry_id.octets()),
            Object::Id { begin, end, .. } => NAMED.with_borrow(|named| {
                let id = named.ids.get(begin..end);
                use_id(id.unwrap_or_default())
            }),
        }
    }

    /// Returns the innermost upcall's servant, if no map holds it.
    pub(super) fn own_servant(&self) -> Option<Arc<dyn Servant>> {
        match self.object {
            Object::Id {
                has_servant: true, ..
            } => NAMED.with_borrow(|named| named.servants.last().cloned()),
            _ => None,
        }
    }
}

/// Returns the innermost upcall of the calling thread.
pub(super) fn innermost() -> Option<ObjectUpcall> {
    noted_object().map(upcall)
}

/// Returns the adapter of the innermost upcall of the calling thread.
pub(crate) fn adapter_in_upcall() -> Option<AdapterId> {
    innermost().map(|upcall| upcall.adapter)
}

/// Work of a thread for an adapter outside of any request: the release of a deactivated object's
/// servant.
struct Engagement {
    adapter: AdapterId,
    id: Box<[u8]>,
}

thread_local! {
    static ENGAGEMENTS: RefCell<Vec<Engagement>> = const { RefCell::new(Vec::new()) };
}

/// Marks the calling thread, until dropped, as releasing the servant of a deactivated object.
/// `Current` ignores it; the checks against a thread that would wait for itself use it.
pub(crate) struct EndingObject(());

impl EndingObject {
    pub(crate) fn with_end_of(adapter: AdapterId, id: &[u8]) -> Self {
        let id = id.into();
        let engagement = Engagement { adapter, id };
        ENGAGEMENTS.with_borrow_mut(|engagements| engagements.push(engagement));
        Self(())
    }
}

impl Drop for EndingObject {
    fn drop(&mut self) {
        ENGAGEMENTS.with_borrow_mut(Vec::pop);
    }
}

/// Returns whether the calling thread serves a request of the ORB (from the search for the adapter
/// on), or deactivates one of the ORB's objects: such a thread must not wait for requests or
/// deactivations to end. After the ORB's shutdown there are no requests, but objects with its nonce
/// may still be deactivated.
pub(crate) fn is_in_upcall_of(orb: Option<&Orb>, nonce: Nonce) -> bool {
    let is_its = |one: &Engagement| one.adapter.nonce == nonce;
    orb.is_some_and(Orb::is_in_upcall)
        || ENGAGEMENTS.with_borrow(|engagements| engagements.iter().any(is_its))
}

/// Returns whether the calling thread is in an upcall on this object, or is releasing its servant.
pub(crate) fn is_in_upcall_on(adapter: AdapterId, id: &[u8]) -> bool {
    let is_its = |upcall: &ObjectUpcall| upcall.adapter == adapter && upcall.id().as_bytes() == id;
    let is_engaged = |one: &Engagement| one.adapter == adapter && *one.id == *id;
    upcalls().iter().any(is_its)
        || ENGAGEMENTS.with_borrow(|engagements| engagements.iter().any(is_engaged))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_many_octets_leaves_no_memory_behind() {
        let adapter = AdapterId {
            nonce: Nonce::of_number(1),
            name: AdapterName {
                index: 0,
                serial: 0,
            },
        };
        let kept = || NAMED.with_borrow(|named| named.ids.capacity());
        let outer = UpcallScope::enter(adapter, b"short", None);
        drop(UpcallScope::enter(adapter, &vec![7; 1 << 20], None));
        // The outer upcall is still there.
        assert!(kept() >= 5);
        drop(outer);
        assert_eq!(kept(), 0);
        drop(UpcallScope::enter(adapter, b"short", None));
        assert!((1..=KEPT).contains(&kept()));
    }
}
