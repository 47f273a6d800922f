//! Object adapters, one for each kind of definition.

use std::sync::Arc;

use punctual::poa::{
    IdAssignmentPolicy, IdUniquenessPolicy, LifespanPolicy, PoaError, PoaPolicy,
    RequestProcessingPolicy, ServantRetentionPolicy,
};
use punctual::{ObjectId, ObjectRef, Poa, Servant, SystemException};

use crate::corba::DefinitionKind as Kind;
use crate::refusal::{Refusal, ServeError};
use crate::store::Type;

/// POAs of the Interface Repository, one for each kind of definition.
pub(super) struct Adapters {
    all: Vec<Adapter>,
}

struct Adapter {
    kind: Kind,
    repository_id: &'static str,
    poa: Poa,
}

impl Adapters {
    /// Creates a POA for each kind below `parent`, with the same POA manager.
    pub(super) fn new(
        parent: &Poa,
        kinds: impl Iterator<Item = (Kind, &'static str)>,
    ) -> Result<Self, ServeError> {
        let policies = [
            PoaPolicy::Lifespan(LifespanPolicy::Persistent),
            PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
            PoaPolicy::IdUniqueness(IdUniquenessPolicy::Multiple),
            PoaPolicy::ServantRetention(ServantRetentionPolicy::NonRetain),
            PoaPolicy::RequestProcessing(RequestProcessingPolicy::DefaultServant),
        ];
        let adapter = |(kind, repository_id): (Kind, &'static str)| {
            let name = format!("InterfaceRepository_{kind:?}");
            let poa = parent.create_poa(&name, Some(parent.manager()), &policies);
            Ok(Adapter {
                kind,
                repository_id,
                poa: poa.map_err(|error| ServeError(error.to_string()))?,
            })
        };
        let all: Result<Vec<Adapter>, ServeError> = kinds.map(adapter).collect();
        Ok(Adapters { all: all? })
    }

    /// Sets the default servant of the adapter that serves the definitions of a kind, if there is
    /// one.
    pub(super) fn set_servant(
        &self,
        kind: Kind,
        servant: Arc<dyn Servant>,
    ) -> Result<(), PoaError> {
        match self.all.iter().find(|adapter| adapter.kind == kind) {
            Some(adapter) => adapter.poa.set_servant(servant),
            None => Ok(()),
        }
    }

    /// Returns a reference to an object of a kind.
    pub(super) fn reference(
        &self,
        kind: Kind,
        id: &ObjectId,
    ) -> Result<ObjectRef, SystemException> {
        let adapter = self.all.iter().find(|adapter| adapter.kind == kind);
        let adapter = adapter.ok_or(Refusal::NoSuchDefinition)?;
        let reference = adapter.poa.create_object_with_id(id, adapter.repository_id);
        reference.map_err(|_| SystemException::from(Refusal::NoSuchDefinition))
    }

    /// Returns the id of an object of this repository.
    pub(super) fn id_of(&self, object: &ObjectRef) -> Option<ObjectId> {
        // The type in a reference, which ours contain, names the adapter.
        let says = |adapter: &&Adapter| adapter.repository_id == object.type_id();
        let likely = self.all.iter().find(says);
        let id = |adapter: &Adapter| adapter.poa.reference_to_id(object).ok();
        likely.and_then(id).or_else(|| self.all.iter().find_map(id))
    }
}

/// Returns the kind of the objects that represent an anonymous type.
pub(super) fn kind_of_unnamed(ty: &Type) -> Kind {
    match ty {
        Type::Primitive(_) => Kind::DkPrimitive,
        Type::Text(_) => Kind::DkString,
        Type::WideText(_) => Kind::DkWstring,
        Type::Sequence(_) => Kind::DkSequence,
        Type::Array(_) => Kind::DkArray,
        Type::Fixed(_) => Kind::DkFixed,
        Type::Defined(_) => Kind::DkNone,
    }
}
