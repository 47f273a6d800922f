//! The repository's objects: one servant for all of them, which finds out for each call what is called.
//!
//! There is an object adapter for each kind of definition. The id of an object is the number of its
//! definition, in four octets; that of a type which is made where it is used (a sequence, an array, a bounded
//! string) is the type itself, marshaled. So the repository keeps nothing about objects.

mod adapters;
mod answer;
mod contained;
mod container;
mod create;
mod describe;
mod interfaces;
mod typedefs;
mod unnamed;
mod values;

use std::sync::Arc;

use punctual::stub::{Block, ByteOrder, Coding, Decoder, Encoder, Marshal, Unmarshal};
use punctual::{Current, Interface, ObjectId, ObjectRef, Poa, SystemException};
use thiserror::Error;

use crate::corba;
use crate::definitions::{Definitions, ROOT, check_unnamed};
use crate::refusal::Refusal;
use crate::repository::InterfaceRepository;
use crate::store::{Definition, Number, Type};

use adapters::Adapters;

/// Why a repository cannot be served.
#[derive(Clone, Debug, Error)]
#[error("the repository cannot be served: {0}")]
pub struct ServeError(String);

/// What an operation of the repository's returns.
type Result<T> = std::result::Result<T, SystemException>;

/// The servant.
#[derive(Clone)]
pub(crate) struct Server(Arc<Shared>);

struct Shared {
    repository: InterfaceRepository,
    is_read_only: bool,
    adapters: Adapters,
    /// In octets.
    longest_answer: usize,
}

impl InterfaceRepository {
    /// Serves the repository by adapters below `parent`, which requests reach through its manager. Where
    /// the ORB's endpoints stay the same, so do all references. Whoever reaches it may change it.
    ///
    /// # Errors
    /// The adapters cannot be made: there are some of their names already.
    pub fn serve(&self, parent: &Poa) -> std::result::Result<corba::Repository, ServeError> {
        self.serve_as(parent, false)
    }

    /// As [`serve`](Self::serve), for readers: whatever would change a definition raises NO_PERMISSION. Types
    /// without a name are made as ever, as that changes nothing.
    ///
    /// # Errors
    /// As of [`serve`](Self::serve).
    pub fn serve_read_only(
        &self,
        parent: &Poa,
    ) -> std::result::Result<corba::Repository, ServeError> {
        self.serve_as(parent, true)
    }

    fn serve_as(
        &self,
        parent: &Poa,
        is_read_only: bool,
    ) -> std::result::Result<corba::Repository, ServeError> {
        let adapters = Adapters::new(parent)?;
        let server = Server(Arc::new(Shared {
            repository: self.clone(),
            is_read_only,
            adapters,
            longest_answer: parent.orb().config().limits.message,
        }));
        server.0.adapters.serve(&server)?;
        let root = server.reference_to(ROOT);
        let root = root.map_err(|exception| ServeError(exception.to_string()))?;
        Ok(corba::Repository::from_object(root))
    }
}

impl Server {
    fn look<R>(&self, look: impl FnOnce(&Definitions) -> R) -> R {
        self.0.repository.look(look)
    }

    fn change<R>(
        &self,
        change: impl FnOnce(&mut Definitions) -> std::result::Result<R, Refusal>,
    ) -> Result<R> {
        if self.0.is_read_only {
            return Err(Refusal::ReadOnly.into());
        }
        Ok(self.0.repository.change(change)?)
    }

    /// The definition that is called.
    fn current(&self) -> Result<Number> {
        match self.current_type()? {
            Type::Defined(number) => Ok(number),
            _ => Err(Refusal::NoSuchDefinition.into()),
        }
    }

    /// The definition that is called, as it is now.
    fn definition(&self) -> Result<(Number, Definition)> {
        let number = self.current()?;
        Ok((number, self.definition_of(number)?))
    }

    /// A definition as it is now.
    fn definition_of(&self, number: Number) -> Result<Definition> {
        let definition = self.look(|definitions| definitions.get(number).cloned());
        definition.ok_or_else(|| Refusal::NoSuchDefinition.into())
    }

    /// The type that is called; the repository itself counts as one.
    fn current_type(&self) -> Result<Type> {
        let id = Current.object_id();
        let id = id.map_err(|_| SystemException::from(Refusal::NoSuchDefinition))?;
        self.type_behind(&id)
    }

    /// What an object id stands for, if it is still there.
    fn type_behind(&self, id: &ObjectId) -> Result<Type> {
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
        // Whoever calls may have made up the id.
        check_unnamed(&ty)?;
        Ok(ty)
    }

    /// A reference to a definition.
    fn reference_to(&self, number: Number) -> Result<ObjectRef> {
        let kind = self.look(|definitions| definitions.kind(number));
        let kind = kind.ok_or(Refusal::NoSuchDefinition)?;
        let id = object_id(&Type::Defined(number))?;
        self.0.adapters.reference(kind, &id)
    }

    /// A reference to a definition, typed; nil for what is not there any more.
    fn typed<I: Interface>(&self, number: Number) -> Option<I> {
        self.reference_to(number).ok().map(I::from_object)
    }

    /// The repository id of a definition; empty for the repository itself, and what is not there any more.
    fn id_of(&self, number: Number) -> corba::RepositoryId {
        let id = self.look(|definitions| definitions.get(number).map(|one| one.id.clone()));
        id.unwrap_or_default()
    }

    /// A reference to a type.
    fn type_def(&self, ty: &Type) -> Result<Option<corba::IdlType>> {
        let reference = match ty {
            Type::Defined(number) => self.reference_to(*number)?,
            ty => {
                check_unnamed(ty)?;
                self.0
                    .adapters
                    .reference(unnamed::kind(ty), &object_id(ty)?)?
            }
        };
        Ok(Some(corba::IdlType::from_object(reference)))
    }

    /// The type that a reference stands for.
    fn type_in(&self, reference: Option<&impl Interface>) -> Result<Type> {
        let foreign = || SystemException::from(Refusal::Foreign("the type"));
        let object = reference.ok_or_else(foreign)?.as_object();
        let id = self.0.adapters.id_of(object).ok_or_else(foreign)?;
        self.type_behind(&id)
    }

    /// The definition that a reference stands for.
    fn number_in(&self, reference: Option<&impl Interface>) -> Result<Number> {
        match self.type_in(reference)? {
            Type::Defined(number) => Ok(number),
            _ => Err(Refusal::Foreign("the definition").into()),
        }
    }

    fn numbers_in<I: Interface>(&self, references: &[Option<I>]) -> Result<Vec<Number>> {
        let number = |reference: &Option<I>| self.number_in(reference.as_ref());
        references.iter().map(number).collect()
    }
}

/// The id of the object that stands for a type.
fn object_id(ty: &Type) -> Result<ObjectId> {
    if let Type::Defined(number) = ty {
        return Ok(ObjectId::from(&number.to_be_bytes()));
    }
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, Coding::default());
    let marshaled = ty.marshal(&mut out);
    marshaled.map_err(|_| SystemException::from(Refusal::TooDeep))?;
    Ok(ObjectId::from(out.into_block().to_vec()))
}

/// An operation that was called on an object whose adapter does not serve it.
fn out_of_place<T>() -> Result<T> {
    Err(Refusal::Invalid("the definition is of another kind").into())
}
