//! What the calling thread is serving (PortableServer::Current, CORBA 3.3 part 1, §15.3.10).
//!
//! The ORB has a stack of the upcalls that a thread is in. Entering one notes a few numbers there, and here the id
//! where it is not the entry; what they mean is looked up only when somebody asks.

use crate::adapter::{Adapter, root_named};
use crate::key::{AdapterName, Nonce};
use crate::object_id::ObjectId;
use crate::object_map::EntryId;
use crate::poa::Poa;
use crate::servant::Servant;
use punctual_orb::{
    AdapterNote, ObjectRef, OnObject, SystemException, noted_object, noted_objects,
};
use std::cell::RefCell;
use std::sync::Arc;

/// The upcall that the calling thread is in. It says the same over the wire and within the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Current;

/// The calling thread is in no upcall, or its adapter is gone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoContext {
    /// No upcall.
    #[error("the calling thread is in no upcall")]
    NoUpcall,
    /// The adapter, or the object in it, is gone since the upcall began.
    #[error("the POA or the object that the upcall is on is gone")]
    Gone,
    /// The reference could not be made.
    #[error(transparent)]
    System(#[from] SystemException),
}

impl Current {
    /// The adapter.
    ///
    /// # Errors
    /// [`NoContext`].
    pub fn poa(self) -> Result<Poa, NoContext> {
        innermost()?.poa()
    }

    /// The object's id: where one servant incarnates many objects, which of them is called.
    ///
    /// # Errors
    /// [`NoContext`].
    pub fn object_id(self) -> Result<ObjectId, NoContext> {
        Ok(innermost()?.id())
    }

    /// A reference to the object.
    ///
    /// # Errors
    /// [`NoContext`].
    pub fn reference(self) -> Result<ObjectRef, NoContext> {
        let (poa, id, servant) = (self.poa()?, self.object_id()?, self.servant()?);
        Ok(poa.reference_to(&id, &servant.primary_interface())?)
    }

    /// The servant.
    ///
    /// # Errors
    /// [`NoContext`]; [`NoContext::Gone`] too when the object was deactivated in this very upcall.
    pub fn servant(self) -> Result<Arc<dyn Servant>, NoContext> {
        let upcall = innermost()?;
        let poa = upcall.poa()?;
        let known = upcall.own_servant();
        let found = known.or_else(|| poa.active_servant(&upcall.id()));
        found.ok_or(NoContext::Gone)
    }
}

/// An upcall: a few numbers, so that entering one costs a few instructions.
#[derive(Clone, Copy)]
struct Upcall {
    nonce: Nonce,
    adapter: AdapterName,
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

/// What upcalls have that numbers cannot say.
#[derive(Default)]
struct Named {
    /// The ids that are no entries, one behind the other.
    ids: Vec<u8>,
    /// Servants that no map holds.
    servants: Vec<Arc<dyn Servant>>,
}

thread_local! {
    static NAMED: RefCell<Named> = const {
        RefCell::new(Named {
            ids: Vec::new(),
            servants: Vec::new(),
        })
    };
}

/// Marks the calling thread as in an upcall on an object whose id is its entry, until dropped.
pub(crate) struct InsideEntry(#[expect(dead_code, reason = "held for its end")] OnObject);

/// Marks the calling thread as in an upcall on an object that has an id, until dropped.
pub(crate) struct Inside {
    on_object: Option<OnObject>,
    begin: usize,
    has_servant: bool,
}

impl InsideEntry {
    #[inline]
    pub(crate) fn enter(adapter: &Adapter, entry_id: EntryId) -> Self {
        Self(OnObject::enter(note(adapter, Object::EntryId(entry_id))))
    }
}

impl Inside {
    /// `servant` where no map holds it.
    pub(crate) fn enter(adapter: &Adapter, id: &[u8], servant: Option<&Arc<dyn Servant>>) -> Self {
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

impl Drop for Inside {
    fn drop(&mut self) {
        self.on_object = None;
        // Dropped outside of the borrow: the servant may make calls when it goes.
        let _servant = NAMED.with_borrow_mut(|named| {
            named.ids.truncate(self.begin);
            self.has_servant.then(|| named.servants.pop()).flatten()
        });
    }
}

/// The last number of a note, by what the object is known: its entry, or an id, whose servant is noted too.
const BY_ENTRY: u64 = 1;
const BY_ID: u64 = 2;
const BY_ID_WITH_SERVANT: u64 = 3;

/// An upcall as the ORB's stack has it.
#[inline]
fn note(adapter: &Adapter, object: Object) -> AdapterNote {
    let pair = |upper: u32, lower: u32| u64::from(upper) << 32 | u64::from(lower);
    let name = adapter.key_name;
    let (place, kind) = match object {
        Object::EntryId(entry) => (pair(entry.index, entry.generation), BY_ENTRY),
        Object::Id {
            begin,
            end,
            has_servant,
        } => {
            // Ids are shorter than messages, and upcalls do not nest without end.
            let place = (begin as u64) << 32 | end as u64;
            let kind = match has_servant {
                true => BY_ID_WITH_SERVANT,
                false => BY_ID,
            };
            (place, kind)
        }
    };
    let adapter_name = pair(name.index, name.serial);
    [adapter.nonce().number(), adapter_name, place, kind]
}

/// What a note says.
fn upcall([nonce, name, place, kind]: AdapterNote) -> Upcall {
    let halves = |number: u64| ((number >> 32) as u32, number as u32);
    let ((index, serial), (upper, lower)) = (halves(name), halves(place));
    Upcall {
        nonce: Nonce::of_number(nonce),
        adapter: AdapterName { index, serial },
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

/// The upcalls of the calling thread, innermost first.
fn upcalls() -> Vec<Upcall> {
    noted_objects().into_iter().map(upcall).collect()
}

impl Upcall {
    fn poa(&self) -> Result<Poa, NoContext> {
        let root = root_named(self.nonce);
        let adapter = root.and_then(|root| root.named(self.adapter));
        adapter
            .and_then(|adapter| adapter.poa())
            .ok_or(NoContext::Gone)
    }

    fn id(&self) -> ObjectId {
        match self.object {
            Object::EntryId(entry_id) => (&entry_id.octets()).into(),
            Object::Id { begin, end, .. } => NAMED.with_borrow(|named| {
                let id = named.ids.get(begin..end);
                id.unwrap_or_default().into()
            }),
        }
    }

    /// The innermost upcall's servant, where no map holds it.
    fn own_servant(&self) -> Option<Arc<dyn Servant>> {
        match self.object {
            Object::Id {
                has_servant: true, ..
            } => NAMED.with_borrow(|named| named.servants.last().cloned()),
            _ => None,
        }
    }
}

fn innermost() -> Result<Upcall, NoContext> {
    noted_object().map(upcall).ok_or(NoContext::NoUpcall)
}

/// What a thread may do for an adapter outside of any request: see to the end of an object.
struct Engagement {
    nonce: Nonce,
    adapter: AdapterName,
    id: Box<[u8]>,
}

thread_local! {
    static ENGAGEMENTS: RefCell<Vec<Engagement>> = const { RefCell::new(Vec::new()) };
}

/// Marks the calling thread as one that sees to the end of an object, until dropped. Current knows nothing of
/// it; waits for itself are told by it.
pub(crate) struct Engaged(());

impl Engaged {
    pub(crate) fn with_end_of(adapter: &Adapter, id: &[u8]) -> Self {
        let engagement = Engagement {
            nonce: adapter.nonce(),
            adapter: adapter.key_name,
            id: id.into(),
        };
        ENGAGEMENTS.with_borrow_mut(|engagements| engagements.push(engagement));
        Self(())
    }
}

impl Drop for Engaged {
    fn drop(&mut self) {
        ENGAGEMENTS.with_borrow_mut(Vec::pop);
    }
}

/// Whether the calling thread serves a request of the ORB with this nonce, from the moment that an adapter is
/// looked for, or sees to the end of an object of its: it must not wait for the end of that.
pub(crate) fn is_in_upcall_of(nonce: Nonce) -> bool {
    let orb = root_named(nonce).and_then(|root| root.orb());
    orb.is_some_and(|orb| orb.is_in_upcall())
        || ENGAGEMENTS.with_borrow(|engagements| engagements.iter().any(|one| one.nonce == nonce))
}

/// Whether the calling thread is in an upcall on this object, or sees to its end.
pub(crate) fn is_in_upcall_on(adapter: &Adapter, id: &[u8]) -> bool {
    let is_its = |upcall: &Upcall| {
        adapter.is_of(upcall.nonce)
            && upcall.adapter == adapter.key_name
            && upcall.id().as_bytes() == id
    };
    let is_engaged = |one: &Engagement| {
        adapter.is_of(one.nonce) && one.adapter == adapter.key_name && *one.id == *id
    };
    upcalls().iter().any(is_its)
        || ENGAGEMENTS.with_borrow(|engagements| engagements.iter().any(is_engaged))
}
