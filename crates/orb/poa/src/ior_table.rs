//! Plain object keys (TAO's IORTable; `corbaloc:` by name): a request with one of these keys is
//! forwarded to the object that is bound to it.

use crate::key;
use parking_lot::RwLock;
use punctual_orb::{
    AsObject, CompletionStatus, DispatchError, Dispatched, LocateRequest, Location, ObjectRef,
    ServerCall, SystemException, SystemExceptionKind as Kind, minor,
};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Maximum length of a key in the IOR table, in bytes.
const MAX_KEY: usize = 1024;

/// Locator, which resolves keys that are not bound.
pub trait IorTableLocator: Send + Sync {
    /// Returns the object that a key names; `None` if there is none. The key comes from a peer,
    /// unchecked.
    ///
    /// # Errors
    /// The exception that the client gets.
    fn locate(&self, key: &str) -> Result<Option<ObjectRef>, DispatchError>;
}

/// Servant of all objects that the ORB does not have: it gets the requests whose object key is neither bound in the
/// [`IorTable`] nor leads to an adapter of this ORB. An Implementation Repository forwards them to their servers.
pub trait UnknownObjects: Send + Sync {
    /// Answers a request, now or later ([`ServerCall::answer_later`]). The key comes from a peer, unchecked.
    ///
    /// # Errors
    /// The exception that the client gets, or the object that it is forwarded to.
    fn dispatch(
        &self,
        object_key: &[u8],
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError>;

    /// Returns the location of an object, without waiting (LocateRequest).
    fn locate(&self, object_key: &[u8]) -> Location;

    /// Answers a LocateRequest as [`locate`](Self::locate) does, or returns `None` and answers it later
    /// ([`LocateRequest::answer_later`]).
    fn locate_or_later(&self, object_key: &[u8], request: &LocateRequest<'_>) -> Option<Location> {
        let _ = request;
        Some(self.locate(object_key))
    }
}

/// Names in the object key of a persistent object of this kind of ORB, in whichever process it is: the id of its server, if
/// it has one, and the names of the POAs from the root POA's child down. `None` for other keys.
#[must_use]
pub fn names_in_key(object_key: &[u8]) -> Option<(Option<&str>, Vec<&str>)> {
    key::names_in(object_key)
}

/// Returns the object key of a persistent object of this kind of ORB, of which [`names_in_key`] returns the names: with the
/// id of its server, or an empty one, the names of the POAs from the root POA's child down, and the object's id.
///
/// # Errors
/// IMP_LIMIT if the names are too long for a key.
pub fn persistent_key(
    server_id: &str,
    poas: &[&str],
    object_id: &[u8],
) -> Result<Vec<u8>, SystemException> {
    let path: Vec<u8> = poas
        .iter()
        .flat_map(|name| [name.as_bytes(), &[0]].concat())
        .collect();
    if path.len() > usize::from(key::MAX_PATH) || server_id.len() > usize::from(u8::MAX) {
        let exception = SystemException::new(Kind::ImpLimit, minor::LIMIT, CompletionStatus::No);
        return Err(exception.with_detail("names of POAs that are too long for an object key"));
    }
    Ok(key::of_server(server_id, &path, object_id))
}

/// Table of plain object keys for objects of this process or any other: `corbaloc::host:port/key`
/// finds the object that `key` is bound to, by one LOCATION_FORWARD. Cheap to clone; clones are the
/// same table.
#[derive(Clone, Default)]
pub struct IorTable {
    inner: Arc<RwLock<Inner>>,
}

#[derive(Default)]
struct Inner {
    bound: BTreeMap<String, ObjectRef>,
    locator: Option<Arc<dyn IorTableLocator>>,
    unknown: Option<Arc<dyn UnknownObjects>>,
}

/// Reason why a key was not bound, or not found.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IorTableError {
    /// The key is already bound in the IOR table.
    #[error("`{0}` is bound already")]
    AlreadyBound(String),
    /// The key is not bound in the IOR table.
    #[error("`{0}` is not bound")]
    NotFound(String),
    /// The object is nil, or the key too long.
    #[error(transparent)]
    System(#[from] SystemException),
}

/// Formats the error as its `Display` text, so that it is also readable when `main` returns it.
impl fmt::Debug for IorTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl IorTable {
    /// Binds a key.
    ///
    /// # Errors
    /// [`IorTableError::AlreadyBound`]; BAD_PARAM for nil and for a key that is empty or longer
    /// than 1,024 octets.
    pub fn bind(&self, key: &str, object: &impl AsObject) -> Result<(), IorTableError> {
        let object = check(key, object)?;
        let mut inner = self.inner.write();
        if inner.bound.contains_key(key) {
            return Err(IorTableError::AlreadyBound(key.to_owned()));
        }
        inner.bound.insert(key.to_owned(), object);
        Ok(())
    }

    /// Binds a key to an object, replacing any earlier binding.
    ///
    /// # Errors
    /// BAD_PARAM as for [`IorTable::bind`].
    pub fn rebind(&self, key: &str, object: &impl AsObject) -> Result<(), IorTableError> {
        let object = check(key, object)?;
        let _dropped_without_the_lock = self.insert(key, object);
        Ok(())
    }

    /// Unbinds a key.
    ///
    /// # Errors
    /// [`IorTableError::NotFound`].
    pub fn unbind(&self, key: &str) -> Result<(), IorTableError> {
        let was = self.inner.write().bound.remove(key);
        was.map(drop)
            .ok_or_else(|| IorTableError::NotFound(key.to_owned()))
    }

    /// Returns the object that a key is bound to. The locator is not asked.
    ///
    /// # Errors
    /// [`IorTableError::NotFound`].
    pub fn find(&self, key: &str) -> Result<ObjectRef, IorTableError> {
        let found = self.inner.read().bound.get(key).cloned();
        found.ok_or_else(|| IorTableError::NotFound(key.to_owned()))
    }

    /// Sets the locator, which is called for keys that are not bound.
    pub fn set_locator(&self, locator: Option<Arc<dyn IorTableLocator>>) {
        let _dropped_without_the_lock = self.replace_locator(locator);
    }

    /// Sets the servant of all objects that neither the table nor an adapter of the ORB has. Without one, requests for them
    /// raise OBJECT_NOT_EXIST.
    pub fn set_unknown_objects(&self, unknown: Option<Arc<dyn UnknownObjects>>) {
        let _dropped_without_the_lock = std::mem::replace(&mut self.inner.write().unknown, unknown);
    }

    pub(crate) fn unknown_objects(&self) -> Option<Arc<dyn UnknownObjects>> {
        self.inner.read().unknown.clone()
    }

    /// Returns the location of an object that neither the table nor an adapter of the ORB has.
    pub(crate) fn locate_unknown(&self, object_key: &[u8]) -> Location {
        let unknown = self.unknown_objects();
        unknown.map_or(Location::Unknown, |unknown| unknown.locate(object_key))
    }

    /// Answers a LocateRequest for such an object; `None` if it is answered later.
    pub(crate) fn locate_unknown_or_later(
        &self,
        object_key: &[u8],
        request: &LocateRequest<'_>,
    ) -> Option<Location> {
        match self.unknown_objects() {
            Some(unknown) => unknown.locate_or_later(object_key, request),
            None => Some(Location::Unknown),
        }
    }

    fn insert(&self, key: &str, object: ObjectRef) -> Option<ObjectRef> {
        self.inner.write().bound.insert(key.to_owned(), object)
    }

    fn replace_locator(
        &self,
        locator: Option<Arc<dyn IorTableLocator>>,
    ) -> Option<Arc<dyn IorTableLocator>> {
        std::mem::replace(&mut self.inner.write().locator, locator)
    }

    /// Returns the object to which a request with this object key is forwarded; `None` if the key
    /// is not one of the table's.
    pub(crate) fn forward(&self, object_key: &[u8]) -> Result<Option<ObjectRef>, DispatchError> {
        let Some(key) = std::str::from_utf8(object_key)
            .ok()
            .filter(|key| key.len() <= MAX_KEY)
        else {
            return Ok(None);
        };
        let locator = {
            let inner = self.inner.read();
            if let Some(object) = inner.bound.get(key) {
                return Ok(Some(object.clone()));
            }
            inner.locator.clone()
        };
        // The locator is called without the lock, as it may bind the key.
        match locator {
            Some(locator) => locator.locate(key),
            None => Ok(None),
        }
    }

    pub(crate) fn clear(&self) {
        let _dropped_without_the_lock = std::mem::take(&mut *self.inner.write());
    }
}

fn check(key: &str, object: &impl AsObject) -> Result<ObjectRef, SystemException> {
    let wrong = |minor, why: String| {
        SystemException::new(Kind::BadParam, minor, CompletionStatus::No).with_detail(why)
    };
    if key.is_empty() || key.len() > MAX_KEY {
        let why = format!("a key has 1 to {MAX_KEY} octets, not {}", key.len());
        return Err(wrong(minor::VALUE, why));
    }
    let nil = || wrong(minor::NIL, format!("`{key}` cannot be bound to nil"));
    object.object().cloned().ok_or_else(nil)
}

impl fmt::Debug for IorTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.inner.read().bound.keys())
            .finish()
    }
}
