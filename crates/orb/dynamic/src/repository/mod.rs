//! Queries for the description of an interface, to an Interface Repository or an object (CORBA 3.3
//! part 1, chapter 14).
//!
//! `describe_interface` returns a description whole. The repository's modules are visited only to
//! list its interfaces and its valuetypes.

mod read;

use punctual_any::{InterfaceDescription, TypeCode};
use punctual_cdr::{Decoder, Encoder, Marshal, NarrowCodeSet, Nilable, Unmarshal, unmarshal_each};
use punctual_orb::{Interface, ObjectRef, Operation, SystemException};

/// Client of an Interface Repository (CORBA's `Repository`), with the operations that dynamic calls
/// need.
#[derive(Clone, Debug)]
pub struct Repository(ObjectRef);

impl Repository {
    /// Makes a client of the repository that a reference leads to, without calling it.
    #[must_use]
    pub fn new(object: &impl Interface) -> Self {
        Self(object.as_object().clone())
    }

    /// Returns the repository that describes an object's interface; `None` if the object does not know its interface.
    /// Makes two calls.
    ///
    /// # Errors
    /// Those of the calls, see [`interface_of`].
    pub fn of(object: &impl Interface) -> Result<Option<Self>, SystemException> {
        const REPOSITORY: Operation = Operation::two_way("_get_containing_repository");
        let Some(definition) = definition_of(object.as_object())? else {
            return Ok(None);
        };
        let found = definition.invoke(&REPOSITORY, |_| Ok(()), ObjectRef::unmarshal_nilable)?;
        Ok(found.map(Self))
    }

    /// Returns the interface with this repository id; `None` if the repository has none.
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

    /// Returns the repository ids of the repository's interfaces, at any depth of modules; only the
    /// first 10,000 definitions are visited. Makes a call for each module and for each interface.
    ///
    /// # Errors
    /// Those of the calls.
    pub fn interface_ids(&self) -> Result<Vec<String>, SystemException> {
        const ID: Operation = Operation::two_way("_get_id");
        let id = |interface: &ObjectRef| interface.invoke(&ID, |_| Ok(()), read::text);
        self.definitions(INTERFACE, id)
    }

    /// Returns the repository's valuetypes, at any depth of modules; only the first 10,000
    /// definitions are visited. Makes two calls for each module and one for each valuetype.
    ///
    /// # Errors
    /// Those of the calls.
    pub fn value_types(&self) -> Result<Vec<TypeCode>, SystemException> {
        const TYPE: Operation = Operation::two_way("_get_type");
        let type_code = |value: &ObjectRef| value.invoke(&TYPE, |_| Ok(()), TypeCode::unmarshal);
        self.definitions(VALUE, type_code)
    }

    /// Returns the results of `ask` for each definition of a kind, at any depth of modules, among
    /// the first [`MOST`] definitions.
    fn definitions<R>(
        &self,
        kind: u32,
        ask: impl Fn(&ObjectRef) -> Result<R, SystemException>,
    ) -> Result<Vec<R>, SystemException> {
        let (mut found, mut to_see, mut seen) = (Vec::new(), vec![self.0.clone()], 0);
        while let Some(container) = to_see.pop() {
            for definition in contents(&container, kind)?.into_iter().take(MOST - seen) {
                seen += 1;
                found.push(ask(&definition)?);
            }
            // This also ends the search in a hostile repository with a module that contains itself.
            let modules = contents(&container, MODULE)?.into_iter().take(MOST - seen);
            seen += modules.len();
            to_see.extend(modules);
        }
        Ok(found)
    }
}

/// Upper bound of the visited modules and interfaces of a repository.
const MOST: usize = 10_000;

/// Value of `dk_Interface` in the IDL enum `CORBA::DefinitionKind`.
const INTERFACE: u32 = 5;
/// Value of `dk_Module` in the IDL enum `CORBA::DefinitionKind`.
const MODULE: u32 = 6;
/// Value of `dk_Value` in the IDL enum `CORBA::DefinitionKind`.
const VALUE: u32 = 20;

/// Returns the definitions of one kind that a container holds directly.
fn contents(container: &ObjectRef, kind: u32) -> Result<Vec<ObjectRef>, SystemException> {
    const CONTENTS: Operation = Operation::two_way("contents");
    let exclude_inherited = true;
    let of_kind = |out: &mut Encoder<'_>| {
        out.put_u32(kind);
        exclude_inherited.marshal(out)
    };
    // A nil reference is the shortest: an empty type id and no profiles.
    const LEAST: usize = 12;
    let read = |input: &mut Decoder<'_>| unmarshal_each(input, LEAST, ObjectRef::unmarshal_nilable);
    let found = container.invoke(&CONTENTS, of_kind, read)?;
    Ok(found.into_iter().flatten().collect())
}

/// Returns the repository id of the most derived interface that an object reports (CORBA 3.3 part
/// 1, §8.3.12).
///
/// # Errors
/// Those of the call: servers written before the operation was standardised answer BAD_OPERATION or
/// NO_IMPLEMENT.
pub fn repository_id_of(object: &impl Interface) -> Result<String, SystemException> {
    const REPOSITORY_ID: Operation = Operation::two_way("_repository_id");
    object
        .as_object()
        .invoke(&REPOSITORY_ID, |_| Ok(()), read::text)
}

/// Returns the interface that an object reports; `None` if it does not know.
///
/// # Errors
/// Those of the calls: many servers have no Interface Repository, and answer INTF_REPOS,
/// NO_IMPLEMENT or BAD_OPERATION.
pub fn interface_of(
    object: &impl Interface,
) -> Result<Option<InterfaceDescription>, SystemException> {
    let found = definition_of(object.as_object())?;
    found.map(|definition| describe(&definition)).transpose()
}

/// Returns the definition of an object's interface in its repository.
fn definition_of(object: &ObjectRef) -> Result<Option<ObjectRef>, SystemException> {
    const INTERFACE: Operation = Operation::two_way("_interface");
    object.invoke(&INTERFACE, |_| Ok(()), ObjectRef::unmarshal_nilable)
}

fn describe(definition: &ObjectRef) -> Result<InterfaceDescription, SystemException> {
    const DESCRIBE: Operation = Operation::two_way("describe_interface");
    let read = |input: &mut Decoder<'_>| read::full_interface(input);
    definition.invoke(&DESCRIBE, |_| Ok(()), read)
}
