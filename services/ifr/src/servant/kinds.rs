//! The kinds of definitions that have an adapter, and the activation of the servant under the
//! interface of each kind.

use std::sync::Arc;

use punctual::{Implements, Interface, Servant};

use super::server::Server;
use crate::corba::{self, DefinitionKind as Kind};
use crate::refusal::ServeError;

/// Kinds that have an adapter, each with its interface.
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

/// Returns all kinds, with the repository ids of their interfaces.
pub(super) fn kinds() -> impl Iterator<Item = (Kind, &'static str)> {
    KINDS
        .iter()
        .map(|(kind, repository_id, _)| (*kind, *repository_id))
}

/// Sets the default servant of the POA for each kind of definition.
pub(super) fn serve_kinds(server: &Server) -> Result<(), ServeError> {
    for (kind, _, skeleton) in KINDS {
        let set = server
            .0
            .adapters
            .set_servant(*kind, skeleton(server.clone()));
        set.map_err(|error| ServeError(error.to_string()))?;
    }
    Ok(())
}
