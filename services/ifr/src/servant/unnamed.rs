//! Anonymous types (§14.5.15 to §14.5.20). They are encoded in their object ids, and so cannot be
//! changed: another bound is another type.

use punctual::{Interface, TypeCode};

use super::server::{Result, Server, out_of_place};
use crate::corba::{
    self, ArrayDefServant, FixedDefServant, IdlTypeServant, PrimitiveDefServant, PrimitiveKind,
    SequenceDefServant, StringDefServant, WstringDefServant,
};
use crate::refusal::Refusal;
use crate::store::{Decimal, Several, Type};

fn fixed_for_good<T>() -> Result<T> {
    let why = "a type without a name cannot be changed; make another one";
    Err(Refusal::Invalid(why).into())
}

impl Server {
    /// Returns a reference to an anonymous type, as the interface of its kind.
    pub(super) fn unnamed<I: Interface>(&self, ty: &Type) -> Result<Option<I>> {
        let reference = self.type_def(ty)?;
        Ok(reference.map(|reference| I::from_object(reference.as_object().clone())))
    }

    /// Returns the description of the called sequence or array.
    fn several(&self) -> Result<Several> {
        match self.current_type()? {
            Type::Sequence(several) | Type::Array(several) => Ok(several),
            _ => out_of_place(),
        }
    }

    fn element(&self) -> Result<Type> {
        let element = self.several()?.of.into_iter().next();
        element.ok_or_else(|| Refusal::NoSuchDefinition.into())
    }

    fn element_type_code(&self) -> Result<TypeCode> {
        let element = self.element()?;
        self.type_code_alone(&element)
    }

    fn decimal(&self) -> Result<Decimal> {
        match self.current_type()? {
            Type::Fixed(decimal) => Ok(decimal),
            _ => out_of_place(),
        }
    }
}

impl IdlTypeServant for Server {
    fn r#type(&self) -> Result<TypeCode> {
        let ty = self.current_type()?;
        self.type_code_alone(&ty)
    }
}

impl PrimitiveDefServant for Server {
    fn kind(&self) -> Result<PrimitiveKind> {
        match self.current_type()? {
            Type::Primitive(kind) => Ok(kind),
            _ => out_of_place(),
        }
    }
}

impl StringDefServant for Server {
    fn bound(&self) -> Result<u32> {
        match self.current_type()? {
            Type::Text(bound) => Ok(bound),
            _ => out_of_place(),
        }
    }

    fn set_bound(&self, _: u32) -> Result<()> {
        fixed_for_good()
    }
}

impl WstringDefServant for Server {
    fn bound(&self) -> Result<u32> {
        match self.current_type()? {
            Type::WideText(bound) => Ok(bound),
            _ => out_of_place(),
        }
    }

    fn set_bound(&self, _: u32) -> Result<()> {
        fixed_for_good()
    }
}

impl FixedDefServant for Server {
    fn digits(&self) -> Result<u16> {
        Ok(self.decimal()?.digits)
    }

    fn set_digits(&self, _: u16) -> Result<()> {
        fixed_for_good()
    }

    fn scale(&self) -> Result<i16> {
        Ok(self.decimal()?.scale)
    }

    fn set_scale(&self, _: i16) -> Result<()> {
        fixed_for_good()
    }
}

impl SequenceDefServant for Server {
    fn bound(&self) -> Result<u32> {
        Ok(self.several()?.size)
    }

    fn set_bound(&self, _: u32) -> Result<()> {
        fixed_for_good()
    }

    fn element_type(&self) -> Result<TypeCode> {
        self.element_type_code()
    }

    fn element_type_def(&self) -> Result<Option<corba::IdlType>> {
        self.type_def(&self.element()?)
    }

    fn set_element_type_def(&self, _: Option<&corba::IdlType>) -> Result<()> {
        fixed_for_good()
    }
}

impl ArrayDefServant for Server {
    fn length(&self) -> Result<u32> {
        Ok(self.several()?.size)
    }

    fn set_length(&self, _: u32) -> Result<()> {
        fixed_for_good()
    }

    fn element_type(&self) -> Result<TypeCode> {
        self.element_type_code()
    }

    fn element_type_def(&self) -> Result<Option<corba::IdlType>> {
        self.type_def(&self.element()?)
    }

    fn set_element_type_def(&self, _: Option<&corba::IdlType>) -> Result<()> {
        fixed_for_good()
    }
}
