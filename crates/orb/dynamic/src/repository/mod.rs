//! Asking an Interface Repository, or an object, for a description of an interface (CORBA 3.3 part 1, chapter 14).
//!
//! Descriptions come whole, by `describe_interface`; the repository's objects are not walked through.

mod read;

use punctual_any::InterfaceDescription;
use punctual_cdr::{Decoder, NarrowCodeSet, Nilable};
use punctual_orb::{Interface, ObjectRef, Operation, SystemException};

/// A repository of interfaces: CORBA's `Repository`, as far as calls need it.
#[derive(Clone, Debug)]
pub struct Repository(ObjectRef);

impl Repository {
    /// The repository that a reference leads to. Nothing is asked yet.
    #[must_use]
    pub fn new(object: &impl Interface) -> Self {
        Self(object.as_object().clone())
    }

    /// The interface with this repository id; `None` if the repository knows none.
    ///
    /// # Errors
    /// Those of the calls.
    pub fn interface(&self, id: &str) -> Result<Option<InterfaceDescription>, SystemException> {
        const LOOKUP_ID: Operation = Operation::two_way("lookup_id");
        let found = self.0.invoke(
            &LOOKUP_ID,
            |out| out.put_string_in(NarrowCodeSet::Iso8859_1, id),
            ObjectRef::unmarshal_nilable,
        )?;
        found.map(|contained| describe(&contained)).transpose()
    }
}

/// The interface that an object says it has; `None` if it does not know.
///
/// # Errors
/// Those of the calls: many servers have no Interface Repository, and answer INTF_REPOS, NO_IMPLEMENT or
/// BAD_OPERATION.
pub fn interface_of(
    object: &impl Interface,
) -> Result<Option<InterfaceDescription>, SystemException> {
    const INTERFACE: Operation = Operation::two_way("_interface");
    let object = object.as_object();
    let found = object.invoke(&INTERFACE, |_| Ok(()), ObjectRef::unmarshal_nilable)?;
    found.map(|definition| describe(&definition)).transpose()
}

fn describe(definition: &ObjectRef) -> Result<InterfaceDescription, SystemException> {
    const DESCRIBE: Operation = Operation::two_way("describe_interface");
    let read = |input: &mut Decoder<'_>| read::full_interface(input);
    definition.invoke(&DESCRIBE, |_| Ok(()), read)
}
