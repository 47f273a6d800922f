//! Modules, constants, types with a name, and exceptions (§14.5.7 to §14.5.14, §14.5.21).

use punctual::{Any, TypeCode};

use super::server::{Result, Server, out_of_place};
use crate::corba::{
    self, AliasDefServant, ConstantDefServant, EnumDefServant, ExceptionDefServant,
    ModuleDefServant, NativeDefServant, StructDefServant, StructMember, TypedefDefServant,
    UnionDefServant, UnionMember, ValueBoxDefServant,
};
use crate::store::{Constant, Details, Type, UnionOf};

impl Server {
    fn constant_called(&self) -> Result<Constant> {
        match self.definition()?.1.what {
            Details::Constant(constant) => Ok(constant),
            _ => out_of_place(),
        }
    }

    fn union_called(&self) -> Result<UnionOf> {
        match self.definition()?.1.what {
            Details::Union(union) => Ok(union),
            _ => out_of_place(),
        }
    }

    /// Replaces the details of the definition on which the operation is called.
    pub(super) fn set_called(&self, what: Details) -> Result<()> {
        let number = self.current()?;
        self.change(move |definitions| definitions.set_sound_details(number, what))
    }
}

impl ModuleDefServant for Server {}
impl TypedefDefServant for Server {}
impl NativeDefServant for Server {}

impl ConstantDefServant for Server {
    fn r#type(&self) -> Result<TypeCode> {
        self.type_code_alone(&self.constant_called()?.kind)
    }

    fn type_def(&self) -> Result<Option<corba::IdlType>> {
        self.type_def(&self.constant_called()?.kind)
    }

    /// Changes the constant's type. The value stays, and must be of the new type as well.
    fn set_type_def(&self, value: Option<&corba::IdlType>) -> Result<()> {
        let constant = self.constant(self.type_in(value)?, &self.constant_called()?.value)?;
        self.set_called(Details::Constant(constant))
    }

    fn value(&self) -> Result<Any> {
        Ok(self.constant_called()?.value)
    }

    fn set_value(&self, value: &Any) -> Result<()> {
        let constant = self.constant(self.constant_called()?.kind, value)?;
        self.set_called(Details::Constant(constant))
    }
}

impl StructDefServant for Server {
    fn members(&self) -> Result<Vec<StructMember>> {
        match self.definition()?.1.what {
            Details::Struct(members) => self.answer().struct_members(&members),
            _ => out_of_place(),
        }
    }

    fn set_members(&self, value: &[StructMember]) -> Result<()> {
        self.set_called(Details::Struct(self.members_in(value)?))
    }
}

impl ExceptionDefServant for Server {
    fn r#type(&self) -> Result<TypeCode> {
        self.type_code_alone(&Type::Defined(self.current()?))
    }

    fn members(&self) -> Result<Vec<StructMember>> {
        match self.definition()?.1.what {
            Details::Exception(members) => self.answer().struct_members(&members),
            _ => out_of_place(),
        }
    }

    fn set_members(&self, value: &[StructMember]) -> Result<()> {
        self.set_called(Details::Exception(self.members_in(value)?))
    }
}

impl UnionDefServant for Server {
    fn discriminator_type(&self) -> Result<TypeCode> {
        self.type_code_alone(&self.union_called()?.discriminator)
    }

    fn discriminator_type_def(&self) -> Result<Option<corba::IdlType>> {
        self.type_def(&self.union_called()?.discriminator)
    }

    fn set_discriminator_type_def(&self, value: Option<&corba::IdlType>) -> Result<()> {
        let union = UnionOf {
            discriminator: self.type_in(value)?,
            ..self.union_called()?
        };
        self.set_called(Details::Union(union))
    }

    fn members(&self) -> Result<Vec<UnionMember>> {
        self.answer().union_members(&self.union_called()?.members)
    }

    fn set_members(&self, value: &[UnionMember]) -> Result<()> {
        let union = UnionOf {
            members: self.alternatives_in(value)?,
            ..self.union_called()?
        };
        self.set_called(Details::Union(union))
    }
}

impl EnumDefServant for Server {
    fn members(&self) -> Result<corba::EnumMemberSeq> {
        match self.definition()?.1.what {
            Details::Enum(members) => Ok(members),
            _ => out_of_place(),
        }
    }

    fn set_members(&self, value: &[corba::Identifier]) -> Result<()> {
        self.set_called(Details::Enum(value.to_vec()))
    }
}

impl AliasDefServant for Server {
    fn original_type_def(&self) -> Result<Option<corba::IdlType>> {
        match self.definition()?.1.what {
            Details::Alias(original) => self.type_def(&original),
            _ => out_of_place(),
        }
    }

    fn set_original_type_def(&self, value: Option<&corba::IdlType>) -> Result<()> {
        self.set_called(Details::Alias(self.type_in(value)?))
    }
}

impl ValueBoxDefServant for Server {
    fn original_type_def(&self) -> Result<Option<corba::IdlType>> {
        match self.definition()?.1.what {
            Details::ValueBox(original) => self.type_def(&original),
            _ => out_of_place(),
        }
    }

    fn set_original_type_def(&self, value: Option<&corba::IdlType>) -> Result<()> {
        self.set_called(Details::ValueBox(self.type_in(value)?))
    }
}
