//! Valuetypes and their state (§14.5.27 to §14.5.29).

use punctual::{Interface, TypeCode};

use super::answer::Answer;
use super::create::NameAndId;
use super::server::{Result, Server, out_of_place};
use crate::corba::{
    self, AttributeMode, DefinitionKind, OperationMode, ParameterDescription, ValueDefServant,
    ValueMemberDefServant, Visibility, value_def,
};
use crate::definitions::Scope;
use crate::store::{Details, Number, Type, Value, ValueMember};

impl Server {
    /// Returns the numbers of the valuetypes that references denote.
    pub(super) fn values_in<I: Interface>(&self, given: &[Option<I>]) -> Result<Vec<Number>> {
        self.of_kinds(given, &[DefinitionKind::DkValue])
    }

    fn value_called(&self) -> Result<Value> {
        match self.definition()?.1.what {
            Details::Value(value) => Ok(value),
            _ => out_of_place(),
        }
    }

    fn set_value(&self, value: Value) -> Result<()> {
        self.set_called(Details::Value(value))
    }

    fn member_called(&self) -> Result<ValueMember> {
        match self.definition()?.1.what {
            Details::ValueMember(member) => Ok(member),
            _ => out_of_place(),
        }
    }
}

impl ValueMemberDefServant for Server {
    fn r#type(&self) -> Result<TypeCode> {
        self.type_code_alone(&self.member_called()?.kind)
    }

    fn type_def(&self) -> Result<Option<corba::IdlType>> {
        self.type_def(&self.member_called()?.kind)
    }

    fn set_type_def(&self, value: Option<&corba::IdlType>) -> Result<()> {
        let kind = self.type_in(value)?;
        let access = self.member_called()?.access;
        self.set_called(Details::ValueMember(ValueMember { kind, access }))
    }

    fn access(&self) -> Result<Visibility> {
        Ok(self.member_called()?.access)
    }

    fn set_access(&self, value: Visibility) -> Result<()> {
        let kind = self.member_called()?.kind;
        let member = ValueMember {
            kind,
            access: value,
        };
        self.set_called(Details::ValueMember(member))
    }
}

impl ValueDefServant for Server {
    fn supported_interfaces(&self) -> Result<corba::InterfaceDefSeq> {
        self.all_typed(&self.value_called()?.supported)
    }

    fn set_supported_interfaces(&self, value: &[Option<corba::InterfaceDef>]) -> Result<()> {
        self.set_value(Value {
            supported: self.interfaces_in(value)?,
            ..self.value_called()?
        })
    }

    fn initializers(&self) -> Result<corba::InitializerSeq> {
        self.answer().initializers(&self.value_called()?)
    }

    fn set_initializers(&self, value: &[corba::Initializer]) -> Result<()> {
        self.set_value(Value {
            factories: self.initializers_in(value)?,
            ..self.value_called()?
        })
    }

    fn base_value(&self) -> Result<Option<corba::ValueDef>> {
        let base = self.value_called()?.base;
        Ok(base.first().and_then(|&base| self.typed(base)))
    }

    fn set_base_value(&self, value: Option<&corba::ValueDef>) -> Result<()> {
        let base = match value {
            Some(base) => self.values_in(&[Some(base.clone())])?,
            None => Vec::new(),
        };
        self.set_value(Value {
            base,
            ..self.value_called()?
        })
    }

    fn abstract_base_values(&self) -> Result<corba::ValueDefSeq> {
        self.all_typed(&self.value_called()?.abstract_bases)
    }

    fn set_abstract_base_values(&self, value: &[Option<corba::ValueDef>]) -> Result<()> {
        self.set_value(Value {
            abstract_bases: self.values_in(value)?,
            ..self.value_called()?
        })
    }

    fn is_abstract(&self) -> Result<bool> {
        Ok(self.value_called()?.is_abstract)
    }

    fn set_is_abstract(&self, value: bool) -> Result<()> {
        self.set_value(Value {
            is_abstract: value,
            ..self.value_called()?
        })
    }

    fn is_custom(&self) -> Result<bool> {
        Ok(self.value_called()?.is_custom)
    }

    fn set_is_custom(&self, value: bool) -> Result<()> {
        self.set_value(Value {
            is_custom: value,
            ..self.value_called()?
        })
    }

    fn is_truncatable(&self) -> Result<bool> {
        Ok(self.value_called()?.is_truncatable)
    }

    fn set_is_truncatable(&self, value: bool) -> Result<()> {
        self.set_value(Value {
            is_truncatable: value,
            ..self.value_called()?
        })
    }

    fn is_a(&self, id: &str) -> Result<bool> {
        let number = self.current()?;
        Ok(self.look(|definitions| definitions.is_a(number, id)))
    }

    fn describe_value(&self) -> Result<value_def::FullValueDescription> {
        let (number, definition) = self.definition()?;
        let value = self.value_called()?;
        let mut answer = self.answer();
        let (operations, attributes) = self.calls_of(number, &mut answer)?;
        let members = self.look(|definitions| {
            definitions.contents(Scope {
                container: number,
                limit: DefinitionKind::DkValueMember,
                exclude_inherited: true,
            })
        });
        Ok(value_def::FullValueDescription {
            name: definition.name,
            id: definition.id,
            is_abstract: value.is_abstract,
            is_custom: value.is_custom,
            defined_in: self.id_of(definition.container),
            version: definition.version,
            operations,
            attributes,
            members: answer.parts(members, Answer::value_member)?,
            initializers: answer.initializers(&value)?,
            supported_interfaces: answer.ids(&value.supported)?,
            abstract_base_values: answer.ids(&value.abstract_bases)?,
            is_truncatable: value.is_truncatable,
            base_value: answer.ids(&value.base)?.pop().unwrap_or_default(),
            r#type: self.type_code(&Type::Defined(number))?,
        })
    }

    fn create_value_member(
        &self,
        id: &str,
        name: &str,
        version: &str,
        r#type: Option<&corba::IdlType>,
        access: Visibility,
    ) -> Result<Option<corba::ValueMemberDef>> {
        let kind = self.type_in(r#type)?;
        let member = ValueMember { kind, access };
        self.create(
            NameAndId { id, name, version },
            Details::ValueMember(member),
        )
    }

    fn create_attribute(
        &self,
        id: &str,
        name: &str,
        version: &str,
        r#type: Option<&corba::IdlType>,
        mode: AttributeMode,
    ) -> Result<Option<corba::AttributeDef>> {
        self.new_attribute(NameAndId { id, name, version }, r#type, mode)
    }

    fn create_operation(
        &self,
        id: &str,
        name: &str,
        version: &str,
        result: Option<&corba::IdlType>,
        mode: OperationMode,
        params: &[ParameterDescription],
        exceptions: &[Option<corba::ExceptionDef>],
        contexts: &[corba::ContextIdentifier],
    ) -> Result<Option<corba::OperationDef>> {
        let called = NameAndId { id, name, version };
        self.new_operation(called, result, mode, (params, exceptions, contexts))
    }
}
