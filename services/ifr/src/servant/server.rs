//! Servant of all objects, and the functions that its operations share.

use std::sync::Arc;

use punctual::poa::Current;
use punctual::stub::{Block, ByteOrder, Coding, Decoder, Encoder, Marshal, Unmarshal};
use punctual::{Interface, ObjectId, ObjectRef, SystemException, about_to_block};
use punctual_host::making::Makers;

use super::adapters::{Adapters, kind_of_unnamed};
use crate::corba;
use crate::definitions::{Definitions, check_unnamed};
use crate::refusal::Refusal;
use crate::repository::InterfaceRepository;
use crate::store::{Definition, Number, Type};

/// Result type of the Interface Repository's operations.
pub(super) type Result<T> = std::result::Result<T, SystemException>;

/// Servant of all objects of the Interface Repository.
#[derive(Clone)]
pub(crate) struct Server(pub(super) Arc<Shared>);

pub(super) struct Shared {
    pub(super) repository: InterfaceRepository,
    pub(super) is_read_only: bool,
    pub(super) adapters: Adapters,
    /// Maximum length of a reply, in bytes.
    pub(super) longest_answer: usize,
    /// Limit on the number of threads that build long replies at the same time.
    pub(super) makers: Makers,
}

impl Server {
    pub(super) fn look<R>(&self, look: impl FnOnce(&Definitions) -> R) -> R {
        self.0.repository.look(look)
    }

    /// Changes definitions, together with changes of other callers, if the peer has the right to.
    /// Blocks.
    pub(super) fn change<R: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Definitions) -> std::result::Result<R, Refusal> + Send + 'static,
    ) -> Result<R> {
        if self.0.is_read_only {
            return Err(Refusal::ReadOnly.into());
        }
        let repository = &self.0.repository;
        if !repository.permits(&repository.requester()) {
            return Err(Refusal::NotPermitted.into());
        }
        // Other requests of the same connection continue, so that they get into the same commit.
        if repository.blocks() {
            about_to_block();
        }
        Ok(repository.change(change)?)
    }

    /// Returns the number of the definition on which the operation is called.
    pub(super) fn current(&self) -> Result<Number> {
        match self.current_type()? {
            Type::Defined(number) => Ok(number),
            _ => Err(Refusal::NoSuchDefinition.into()),
        }
    }

    /// Returns the number and current value of the definition on which the operation is called.
    pub(super) fn definition(&self) -> Result<(Number, Definition)> {
        let number = self.current()?;
        Ok((number, self.definition_of(number)?))
    }

    /// Returns the current value of the definition with the given number.
    pub(super) fn definition_of(&self, number: Number) -> Result<Definition> {
        let definition = self.look(|definitions| definitions.get(number).cloned());
        definition.ok_or_else(|| Refusal::NoSuchDefinition.into())
    }

    /// Returns the called object as a type; the repository itself counts as one.
    pub(super) fn current_type(&self) -> Result<Type> {
        let id = Current.object_id();
        let id = id.map_err(|_| SystemException::from(Refusal::NoSuchDefinition))?;
        self.type_behind(&id)
    }

    /// Returns the type that an object id represents, if it still exists.
    pub(super) fn type_behind(&self, id: &ObjectId) -> Result<Type> {
        if let Ok(number) = <[u8; 4]>::try_from(id.as_bytes()) {
            let number = u32::from_be_bytes(number);
            let is_there = self.look(|definitions| definitions.kind(number).is_some());
            return match is_there {
                true => Ok(Type::Defined(number)),
                false => Err(Refusal::NoSuchDefinition.into()),
            };
        }
        let mut input = Decoder::new(id.as_bytes(), ByteOrder::Big, Coding::default());
        let ty = Type::unmarshal(&mut input).map_err(|_| Refusal::NoSuchDefinition)?;
        // A client may have made up the id.
        check_unnamed(&ty)?;
        Ok(ty)
    }

    /// Creates an object reference to a definition.
    pub(super) fn reference_to(&self, number: Number) -> Result<ObjectRef> {
        let kind = self.look(|definitions| definitions.kind(number));
        let kind = kind.ok_or(Refusal::NoSuchDefinition)?;
        let id = object_id(&Type::Defined(number))?;
        self.0.adapters.reference(kind, &id)
    }

    /// Returns a typed reference to a definition; nil if that no longer exists.
    pub(super) fn typed<I: Interface>(&self, number: Number) -> Option<I> {
        self.reference_to(number).ok().map(I::from_object)
    }

    /// Returns the repository id of a definition; empty for the repository itself, and if it no
    /// longer exists.
    pub(super) fn id_of(&self, number: Number) -> corba::RepositoryId {
        let id = self.look(|definitions| definitions.get(number).map(|one| one.id.clone()));
        id.unwrap_or_default()
    }

    /// Creates an object reference to the IDL type object of a type.
    pub(super) fn type_def(&self, ty: &Type) -> Result<Option<corba::IdlType>> {
        let reference = match ty {
            Type::Defined(number) => self.reference_to(*number)?,
            ty => {
                check_unnamed(ty)?;
                self.0
                    .adapters
                    .reference(kind_of_unnamed(ty), &object_id(ty)?)?
            }
        };
        Ok(Some(corba::IdlType::from_object(reference)))
    }

    /// Returns the IDL type that an object reference denotes.
    pub(super) fn type_in(&self, reference: Option<&impl Interface>) -> Result<Type> {
        let foreign = || SystemException::from(Refusal::Foreign("the type"));
        let object = reference.ok_or_else(foreign)?.as_object();
        let id = self.0.adapters.id_of(object).ok_or_else(foreign)?;
        self.type_behind(&id)
    }

    /// Returns the number of the definition that an object reference denotes.
    pub(super) fn number_in(&self, reference: Option<&impl Interface>) -> Result<Number> {
        match self.type_in(reference)? {
            Type::Defined(number) => Ok(number),
            _ => Err(Refusal::Foreign("the definition").into()),
        }
    }

    pub(super) fn numbers_in<I: Interface>(&self, references: &[Option<I>]) -> Result<Vec<Number>> {
        let number = |reference: &Option<I>| self.number_in(reference.as_ref());
        references.iter().map(number).collect()
    }
}

/// Returns the id of the object that represents a type.
pub(super) fn object_id(ty: &Type) -> Result<ObjectId> {
    if let Type::Defined(number) = ty {
        return Ok(ObjectId::from(&number.to_be_bytes()));
    }
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    let marshaled = ty.marshal(&mut out);
    marshaled.map_err(|_| SystemException::from(Refusal::TooDeep))?;
    Ok(ObjectId::from(out.into_block().to_vec()))
}

/// Returns the error for an operation called on an object whose adapter does not serve it.
pub(super) fn out_of_place<T>() -> Result<T> {
    Err(Refusal::Invalid("the definition is of another kind").into())
}
