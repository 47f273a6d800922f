//! Asking an Interface Repository, or an object, for a description of an interface (CORBA 3.3 part 1, chapter 14).
//!
//! Descriptions come whole, by `describe_interface`. The repository's modules are walked through only to list the
//! interfaces that it has.

mod read;

use punctual_any::InterfaceDescription;
use punctual_cdr::{Decoder, Encoder, Marshal, NarrowCodeSet, Nilable, unmarshal_each};
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

    /// The repository ids of the interfaces that it has, at any depth of modules; of the first 10,000 definitions at
    /// most. Makes a call for each module and for each interface.
    ///
    /// # Errors
    /// Those of the calls.
    pub fn interface_ids(&self) -> Result<Vec<String>, SystemException> {
        const ID: Operation = Operation::two_way("_get_id");
        let (mut ids, mut to_see, mut seen) = (Vec::new(), vec![self.0.clone()], 0);
        while let Some(container) = to_see.pop() {
            let interfaces = contents(&container, INTERFACE)?;
            let modules = contents(&container, MODULE)?;
            for interface in interfaces.into_iter().take(MOST - seen) {
                seen += 1;
                ids.push(interface.invoke(&ID, |_| Ok(()), read::text)?);
            }
            // One that holds itself, of a repository that means harm, ends here, too.
            let modules = modules.into_iter().take(MOST - seen);
            seen += modules.len();
            to_see.extend(modules);
        }
        Ok(ids)
    }
}

/// How many modules and interfaces of a repository are looked at.
const MOST: usize = 10_000;

/// `dk_Interface` of `DefinitionKind`.
const INTERFACE: u32 = 5;
/// `dk_Module` of `DefinitionKind`.
const MODULE: u32 = 6;

/// The definitions of one kind that a container holds itself.
fn contents(container: &ObjectRef, kind: u32) -> Result<Vec<ObjectRef>, SystemException> {
    const CONTENTS: Operation = Operation::two_way("contents");
    let exclude_inherited = true;
    let of_kind = |out: &mut Encoder<'_>| {
        out.put_u32(kind);
        exclude_inherited.marshal(out)
    };
    // A nil reference is the least: an empty type id and no profiles.
    const LEAST: usize = 12;
    let read = |input: &mut Decoder<'_>| unmarshal_each(input, LEAST, ObjectRef::unmarshal_nilable);
    let found = container.invoke(&CONTENTS, of_kind, read)?;
    Ok(found.into_iter().flatten().collect())
}

/// The repository id of the most derived interface that an object says it has (CORBA 3.3 part 1, §8.3.12).
///
/// # Errors
/// Those of the call: servers that are older than the operation answer BAD_OPERATION or NO_IMPLEMENT.
pub fn repository_id_of(object: &impl Interface) -> Result<String, SystemException> {
    const REPOSITORY_ID: Operation = Operation::two_way("_repository_id");
    object
        .as_object()
        .invoke(&REPOSITORY_ID, |_| Ok(()), read::text)
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
