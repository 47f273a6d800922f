//! Registration and listing of initial references in this process (CORBA 3.3 part 1, §8.5).

use super::interface::AsObject;
use super::object::ObjectRef;
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use crate::orb::{Orb, Registered};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Orb {
    /// Registers an object under a name for [`Orb::resolve_initial_references`] and for
    /// `corbaloc:rir:/name` in this process.
    ///
    /// # Errors
    /// BAD_PARAM for nil.
    pub fn register_initial_reference(
        &self,
        name: &str,
        object: &impl AsObject,
    ) -> Result<(), SystemException> {
        let object = object.object().ok_or_else(|| {
            SystemException::new(Kind::BadParam, minor::NIL_REGISTERED, CompletionStatus::No)
                .with_detail(format!("nil cannot be the initial reference `{name}`"))
        })?;
        let object: Registered = Arc::new(object.clone());
        self.initial_references(|initial| initial.insert(name.to_owned(), object));
        Ok(())
    }

    /// Returns the names of all initial references, registered or configured.
    #[must_use]
    pub fn list_initial_services(&self) -> Vec<String> {
        let names = |initial: &mut BTreeMap<String, Registered>| initial.keys().cloned().collect();
        let mut names: Vec<String> = self.initial_references(names);
        names.extend(self.config().initial_references.keys().cloned());
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the object registered as the initial reference of this name.
    pub(super) fn registered(&self, name: &str) -> Option<ObjectRef> {
        let registered = self.initial_references(|initial| initial.get(name).cloned());
        registered?.downcast_ref().cloned()
    }
}
