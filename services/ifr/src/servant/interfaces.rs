//! Interfaces, their operations and attributes (§14.5.22 to §14.5.26).

use punctual::{Interface, TypeCode};

use super::answer::Answer;
use super::create::NameAndId;
use super::server::{Result, Server, out_of_place};
use crate::corba::{
    self, AbstractInterfaceDefServant, AttributeDefServant, AttributeDescription, AttributeMode,
    DefinitionKind, InterfaceDefServant, LocalInterfaceDefServant, OperationDefServant,
    OperationDescription, OperationMode, ParameterDescription,
};
use crate::definitions::{Scope, bases};
use crate::refusal::Refusal;
use crate::store::{Definition, Details, Number, Operation, Readable, Type};

impl Server {
    /// Returns the numbers of the interfaces, of any kind, that references denote.
    pub(super) fn interfaces_in<I: Interface>(&self, given: &[Option<I>]) -> Result<Vec<Number>> {
        use DefinitionKind as Kind;
        self.of_kinds(
            given,
            &[
                Kind::DkInterface,
                Kind::DkAbstractInterface,
                Kind::DkLocalInterface,
            ],
        )
    }

    /// Returns the numbers of the definitions of these kinds that references denote.
    pub(super) fn of_kinds<I: Interface>(
        &self,
        given: &[Option<I>],
        kinds: &[DefinitionKind],
    ) -> Result<Vec<Number>> {
        let numbers = self.numbers_in(given)?;
        let is_fit = |&number: &Number| {
            let kind = self.look(|definitions| definitions.kind(number));
            kind.is_some_and(|kind| kinds.contains(&kind))
        };
        match numbers.iter().all(is_fit) {
            true => Ok(numbers),
            false => Err(Refusal::Invalid("a definition is of another kind").into()),
        }
    }

    /// Returns all operations and attributes of an interface or value, inherited ones last.
    pub(super) fn calls_of(
        &self,
        number: Number,
        answer: &mut Answer<'_>,
    ) -> Result<(Vec<OperationDescription>, Vec<AttributeDescription>)> {
        let of = |limit| {
            let scope = Scope {
                container: number,
                limit,
                exclude_inherited: false,
            };
            self.look(|definitions| definitions.contents(scope))
        };
        let operations = of(DefinitionKind::DkOperation);
        let operations = answer.parts(operations, Answer::operation_description)?;
        let attributes = of(DefinitionKind::DkAttribute);
        let attributes = answer.parts(attributes, Answer::attribute_description)?;
        Ok((operations, attributes))
    }

    pub(super) fn new_attribute(
        &self,
        called: NameAndId<'_>,
        ty: Option<&corba::IdlType>,
        mode: AttributeMode,
    ) -> Result<Option<corba::AttributeDef>> {
        let kind = self.type_in(ty)?;
        self.create(called, Details::Attribute(Readable { kind, mode }))
    }

    pub(super) fn new_operation(
        &self,
        called: NameAndId<'_>,
        result: Option<&corba::IdlType>,
        mode: OperationMode,
        rest: (
            &[ParameterDescription],
            &[Option<corba::ExceptionDef>],
            &[String],
        ),
    ) -> Result<Option<corba::OperationDef>> {
        let (parameters, exceptions, contexts) = rest;
        let operation = Operation {
            result: self.type_in(result)?,
            mode,
            accepted: self.parameters_in(parameters)?,
            raised: self.of_kinds(exceptions, &[DefinitionKind::DkException])?,
            contexts: contexts.to_vec(),
        };
        check_one_way(&operation)?;
        self.create(called, Details::Operation(operation))
    }

    fn attribute_called(&self) -> Result<Readable> {
        match self.definition()?.1.what {
            Details::Attribute(attribute) => Ok(attribute),
            _ => out_of_place(),
        }
    }

    fn operation_called(&self) -> Result<Operation> {
        match self.definition()?.1.what {
            Details::Operation(operation) => Ok(operation),
            _ => out_of_place(),
        }
    }

    fn set_operation(&self, operation: Operation) -> Result<()> {
        check_one_way(&operation)?;
        self.set_called(Details::Operation(operation))
    }
}

/// Checks that a one-way operation has no results (§14.5.25).
fn check_one_way(operation: &Operation) -> Result<()> {
    let is_void = operation.result == Type::Primitive(corba::PrimitiveKind::PkVoid);
    let goes_in = |p: &crate::store::Parameter| p.mode == corba::ParameterMode::ParamIn;
    let is_plain = is_void && operation.raised.is_empty() && operation.accepted.iter().all(goes_in);
    match operation.mode == OperationMode::OpNormal || is_plain {
        true => Ok(()),
        false => Err(Refusal::Invalid("a one-way operation gets no answer").into()),
    }
}

impl AttributeDefServant for Server {
    fn r#type(&self) -> Result<TypeCode> {
        self.type_code(&self.attribute_called()?.kind)
    }

    fn type_def(&self) -> Result<Option<corba::IdlType>> {
        self.type_def(&self.attribute_called()?.kind)
    }

    fn set_type_def(&self, value: Option<&corba::IdlType>) -> Result<()> {
        let kind = self.type_in(value)?;
        let mode = self.attribute_called()?.mode;
        self.set_called(Details::Attribute(Readable { kind, mode }))
    }

    fn mode(&self) -> Result<AttributeMode> {
        Ok(self.attribute_called()?.mode)
    }

    fn set_mode(&self, value: AttributeMode) -> Result<()> {
        let attribute = Readable {
            mode: value,
            ..self.attribute_called()?
        };
        self.set_called(Details::Attribute(attribute))
    }
}

impl OperationDefServant for Server {
    fn result(&self) -> Result<TypeCode> {
        self.type_code(&self.operation_called()?.result)
    }

    fn result_def(&self) -> Result<Option<corba::IdlType>> {
        self.type_def(&self.operation_called()?.result)
    }

    fn set_result_def(&self, value: Option<&corba::IdlType>) -> Result<()> {
        self.set_operation(Operation {
            result: self.type_in(value)?,
            ..self.operation_called()?
        })
    }

    fn params(&self) -> Result<corba::ParDescriptionSeq> {
        self.answer().parameters(&self.operation_called()?.accepted)
    }

    fn set_params(&self, value: &[ParameterDescription]) -> Result<()> {
        self.set_operation(Operation {
            accepted: self.parameters_in(value)?,
            ..self.operation_called()?
        })
    }

    fn mode(&self) -> Result<OperationMode> {
        Ok(self.operation_called()?.mode)
    }

    fn set_mode(&self, value: OperationMode) -> Result<()> {
        self.set_operation(Operation {
            mode: value,
            ..self.operation_called()?
        })
    }

    fn contexts(&self) -> Result<corba::ContextIdSeq> {
        Ok(self.operation_called()?.contexts)
    }

    fn set_contexts(&self, value: &[corba::ContextIdentifier]) -> Result<()> {
        self.set_operation(Operation {
            contexts: value.to_vec(),
            ..self.operation_called()?
        })
    }

    fn exceptions(&self) -> Result<corba::ExceptionDefSeq> {
        self.all_typed(&self.operation_called()?.raised)
    }

    fn set_exceptions(&self, value: &[Option<corba::ExceptionDef>]) -> Result<()> {
        self.set_operation(Operation {
            raised: self.of_kinds(value, &[DefinitionKind::DkException])?,
            ..self.operation_called()?
        })
    }
}

impl InterfaceDefServant for Server {
    fn base_interfaces(&self) -> Result<corba::InterfaceDefSeq> {
        self.all_typed(&bases(&self.definition()?.1))
    }

    fn set_base_interfaces(&self, value: &[Option<corba::InterfaceDef>]) -> Result<()> {
        let bases = self.interfaces_in(value)?;
        let what = match self.definition()?.1.what {
            Details::Interface(_) => Details::Interface(bases),
            Details::AbstractInterface(_) => Details::AbstractInterface(bases),
            Details::LocalInterface(_) => Details::LocalInterface(bases),
            _ => return out_of_place(),
        };
        self.set_called(what)
    }

    fn is_a(&self, interface_id: &str) -> Result<bool> {
        let number = self.current()?;
        Ok(self.look(|definitions| definitions.is_a(number, interface_id)))
    }

    fn describe_interface(&self) -> Result<corba::interface_def::FullInterfaceDescription> {
        let (number, definition) = self.definition()?;
        let mut answer = self.answer();
        let (operations, attributes) = self.calls_of(number, &mut answer)?;
        let base_interfaces = answer.ids(&bases(&definition))?;
        let Definition {
            id,
            name,
            version,
            container,
            ..
        } = definition;
        Ok(corba::interface_def::FullInterfaceDescription {
            name,
            id,
            defined_in: self.id_of(container),
            version,
            operations,
            attributes,
            base_interfaces,
            r#type: self.type_code(&Type::Defined(number))?,
        })
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

impl AbstractInterfaceDefServant for Server {}
impl LocalInterfaceDefServant for Server {}
