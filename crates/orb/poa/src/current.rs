//! What the calling thread is serving (PortableServer::Current, CORBA 3.3 part 1, §15.3.10).
//!
//! Each thread has a stack of the upcalls that it is in. Entering one writes a few numbers, and the id where
//! it is not the place; what they mean is looked up only when somebody asks.

use crate::adapter::{Adapter, root_named};
use crate::key::{AdapterName, Nonce};
use crate::object_id::ObjectId;
use crate::object_map::Place;
use crate::poa::Poa;
use crate::servant::Servant;
use punctual_orb::{ObjectRef, SystemException};
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
        with_innermost(|upcalls, upcall| upcalls.poa(upcall))
    }

    /// The object's id: where one servant incarnates many objects, which of them is called.
    ///
    /// # Errors
    /// [`NoContext`].
    pub fn object_id(self) -> Result<ObjectId, NoContext> {
        with_innermost(|upcalls, upcall| Ok(upcalls.id(upcall)))
    }

    /// A reference to the object.
    ///
    /// # Errors
    /// [`NoContext`].
    pub fn reference(self) -> Result<ObjectRef, NoContext> {
        let (poa, id, servant) = (self.poa()?, self.object_id()?, self.servant()?);
        let type_id = servant.repository_ids().first().copied();
        Ok(poa.reference_to(&id, type_id.unwrap_or_default())?)
    }

    /// The servant.
    ///
    /// # Errors
    /// [`NoContext`]; [`NoContext::Gone`] too when the object was deactivated in this very upcall.
    pub fn servant(self) -> Result<Arc<dyn Servant>, NoContext> {
        let (poa, known, id) = with_innermost(|upcalls, upcall| {
            Ok((
                upcalls.poa(upcall)?,
                upcall.servant.clone(),
                upcalls.id(upcall),
            ))
        })?;
        let found = known.or_else(|| poa.active_servant(&id));
        found.ok_or(NoContext::Gone)
    }
}

/// An upcall.
struct Upcall {
    nonce: Nonce,
    adapter: AdapterName,
    object: Object,
    /// Where the map does not hold it.
    servant: Option<Arc<dyn Servant>>,
}

/// Which object it is on.
enum Object {
    Place(Place),
    /// Where the id begins in [`Upcalls::ids`], whose end it is.
    Id(usize),
}

#[derive(Default)]
struct Upcalls {
    stack: Vec<Upcall>,
    /// The ids that are no places, one behind the other.
    ids: Vec<u8>,
}

thread_local! {
    static UPCALLS: RefCell<Upcalls> = const {
        RefCell::new(Upcalls {
            stack: Vec::new(),
            ids: Vec::new(),
        })
    };
}

/// Marks the calling thread as in an upcall, until dropped.
pub(crate) struct Inside(());

impl Inside {
    /// On an object whose id is its place.
    #[inline]
    pub(crate) fn place(adapter: &Adapter, place: Place) -> Self {
        UPCALLS.with_borrow_mut(|upcalls| {
            upcalls.push(adapter, Object::Place(place), None);
        });
        Self(())
    }

    /// On an object that has an id, served by a servant that no map holds.
    pub(crate) fn object(adapter: &Adapter, id: &[u8], servant: Option<&Arc<dyn Servant>>) -> Self {
        UPCALLS.with_borrow_mut(|upcalls| {
            let begin = upcalls.ids.len();
            upcalls.ids.extend_from_slice(id);
            upcalls.push(adapter, Object::Id(begin), servant.cloned());
        });
        Self(())
    }
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        // Dropped outside of the borrow: the servant may make calls when it goes.
        let _ended = UPCALLS.with_borrow_mut(|upcalls| {
            let ended = upcalls.stack.pop();
            if let Some(Upcall {
                object: Object::Id(begin),
                ..
            }) = ended
            {
                upcalls.ids.truncate(begin);
            }
            ended
        });
    }
}

impl Upcalls {
    #[inline]
    fn push(&mut self, adapter: &Adapter, object: Object, servant: Option<Arc<dyn Servant>>) {
        self.stack.push(Upcall {
            nonce: adapter.nonce(),
            adapter: adapter.key_name,
            object,
            servant,
        });
    }

    fn poa(&self, upcall: &Upcall) -> Result<Poa, NoContext> {
        let root = root_named(upcall.nonce);
        let adapter = root.and_then(|root| root.named(upcall.adapter));
        adapter
            .and_then(|adapter| adapter.poa())
            .ok_or(NoContext::Gone)
    }

    /// The id of the innermost upcall, whose octets are the last.
    fn id(&self, innermost: &Upcall) -> ObjectId {
        match innermost.object {
            Object::Place(place) => (&place.octets()).into(),
            Object::Id(begin) => self.ids.get(begin..).unwrap_or_default().into(),
        }
    }
}

fn with_innermost<R>(
    ask: impl FnOnce(&Upcalls, &Upcall) -> Result<R, NoContext>,
) -> Result<R, NoContext> {
    UPCALLS.with_borrow(|upcalls| {
        let innermost = upcalls.stack.last().ok_or(NoContext::NoUpcall)?;
        ask(upcalls, innermost)
    })
}

/// Whether the calling thread is in an upcall of the ORB with this nonce.
pub(crate) fn is_in_upcall_of(nonce: Nonce) -> bool {
    UPCALLS.with_borrow(|upcalls| upcalls.stack.iter().any(|upcall| upcall.nonce == nonce))
}

/// Whether the calling thread is in an upcall on this object.
pub(crate) fn is_in_upcall_on(adapter: &Adapter, id: &[u8]) -> bool {
    UPCALLS.with_borrow(|upcalls| {
        let mut end = upcalls.ids.len();
        upcalls.stack.iter().rev().any(|upcall| {
            let is_its = adapter.is_of(upcall.nonce) && upcall.adapter == adapter.key_name;
            match upcall.object {
                Object::Place(place) => is_its && place.octets() == *id,
                Object::Id(begin) => {
                    let own = upcalls.ids.get(begin..end).unwrap_or_default();
                    end = begin;
                    is_its && own == id
                }
            }
        })
    })
}
