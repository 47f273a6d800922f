//! An object adapter for each kind of definition.

use std::sync::Arc;

use punctual::{
    IdAssignmentPolicy, IdUniquenessPolicy, Implements, Interface, LifespanPolicy, ObjectId,
    ObjectRef, Poa, PoaPolicy, RequestProcessingPolicy, Servant, ServantRetentionPolicy,
    SystemException,
};

use super::{Result, ServeError, Server};
use crate::corba::{self, DefinitionKind as Kind};
use crate::refusal::Refusal;

/// All adapters.
pub(super) struct Adapters {
    all: Vec<Adapter>,
}

struct Adapter {
    kind: Kind,
    repository_id: &'static str,
    poa: Poa,
    /// The servant as an object of this kind.
    skeleton: fn(Server) -> Arc<dyn Servant>,
}

/// What there is an adapter for, with its interface.
macro_rules! kinds {
    ($($kind:ident => $interface:ident;)*) => {
        const KINDS: &[(Kind, &str, fn(Server) -> Arc<dyn Servant>)] = &[
            $((
                Kind::$kind,
                corba::$interface::REPOSITORY_ID,
                <corba::$interface as Implements<Server>>::servant,
            ),)*
        ];
    };
}

kinds! {
    DkRepository => Repository;
    DkModule => ModuleDef;
    DkConstant => ConstantDef;
    DkStruct => StructDef;
    DkUnion => UnionDef;
    DkEnum => EnumDef;
    DkAlias => AliasDef;
    DkNative => NativeDef;
    DkException => ExceptionDef;
    DkAttribute => AttributeDef;
    DkOperation => OperationDef;
    DkInterface => InterfaceDef;
    DkAbstractInterface => AbstractInterfaceDef;
    DkLocalInterface => LocalInterfaceDef;
    DkValue => ValueDef;
    DkValueMember => ValueMemberDef;
    DkValueBox => ValueBoxDef;
    DkPrimitive => PrimitiveDef;
    DkString => StringDef;
    DkWstring => WstringDef;
    DkFixed => FixedDef;
    DkSequence => SequenceDef;
    DkArray => ArrayDef;
}

impl Adapters {
    /// Adapters below `parent`, with its manager.
    pub(super) fn new(parent: &Poa) -> std::result::Result<Self, ServeError> {
        let policies = [
            PoaPolicy::Lifespan(LifespanPolicy::Persistent),
            PoaPolicy::IdAssignment(IdAssignmentPolicy::User),
            PoaPolicy::IdUniqueness(IdUniquenessPolicy::Multiple),
            PoaPolicy::ServantRetention(ServantRetentionPolicy::NonRetain),
            PoaPolicy::RequestProcessing(RequestProcessingPolicy::DefaultServant),
        ];
        let adapter = |&(kind, repository_id, skeleton): &(Kind, &'static str, _)| {
            let name = format!("InterfaceRepository_{kind:?}");
            let poa = parent.create_poa(&name, Some(parent.manager()), &policies);
            Ok(Adapter {
                kind,
                repository_id,
                poa: poa.map_err(|error| ServeError(error.to_string()))?,
                skeleton,
            })
        };
        let all: std::result::Result<Vec<Adapter>, ServeError> =
            KINDS.iter().map(adapter).collect();
        Ok(Adapters { all: all? })
    }

    /// Gives all of them their servant.
    pub(super) fn serve(&self, server: &Server) -> std::result::Result<(), ServeError> {
        for adapter in &self.all {
            let servant = (adapter.skeleton)(server.clone());
            let set = adapter.poa.set_servant(servant);
            set.map_err(|error| ServeError(error.to_string()))?;
        }
        Ok(())
    }

    /// A reference to an object of a kind.
    pub(super) fn reference(&self, kind: Kind, id: &ObjectId) -> Result<ObjectRef> {
        let adapter = self.all.iter().find(|adapter| adapter.kind == kind);
        let adapter = adapter.ok_or(Refusal::NoSuchDefinition)?;
        let reference = adapter.poa.create_object_with_id(id, adapter.repository_id);
        reference.map_err(|_| SystemException::from(Refusal::NoSuchDefinition))
    }

    /// The id of an object of ours.
    pub(super) fn id_of(&self, object: &ObjectRef) -> Option<ObjectId> {
        // Where a reference says its type, as ours do, that names the adapter.
        let says = |adapter: &&Adapter| adapter.repository_id == object.type_id();
        let likely = self.all.iter().find(says);
        let id = |adapter: &Adapter| adapter.poa.reference_to_id(object).ok();
        likely.and_then(id).or_else(|| self.all.iter().find_map(id))
    }
}
