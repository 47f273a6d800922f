//! Descriptions: the complete data of a definition in one answer.

use punctual::stub::Marshal;
use punctual::{Any, TypeCode, Typed};

use super::answer::Answer;
use super::server::{Result, Server};
use crate::corba::{
    self, AttributeDescription, ConstantDescription, DefinitionKind, ExceptionDescription,
    InterfaceDescription, ModuleDescription, OperationDescription, ParameterDescription,
    StructMember, TypeDescription, UnionMember, ValueDescription, ValueMember,
};
use crate::definitions::bases;
use crate::refusal::Refusal;
use crate::store::{Alternative, Definition, Details, Members, Number, Parameter, Type, Value};

/// Members with which every description struct of the Interface Repository begins.
struct Head {
    name: String,
    id: String,
    defined_in: String,
    version: String,
}

impl Answer<'_> {
    /// Returns the kind and the description of a definition.
    pub(super) fn description(&mut self, number: Number) -> Result<(DefinitionKind, Any)> {
        let definition = self.server.definition_of(number)?;
        let kind = definition.what.discriminator();
        let value = self.described(number, &definition)?;
        Ok((kind, value))
    }

    fn described(&mut self, number: Number, definition: &Definition) -> Result<Any> {
        let Head {
            name,
            id,
            defined_in,
            version,
        } = self.server.head(definition);
        match &definition.what {
            Details::Constant(constant) => in_any(&ConstantDescription {
                name,
                id,
                defined_in,
                version,
                r#type: self.type_code(&constant.kind)?,
                value: constant.value.clone(),
            }),
            Details::Exception(_) => {
                // An exception's own type, and a type's below, occur once: keeping them would gain
                // nothing.
                let r#type = self.server.type_code(&Type::Defined(number))?;
                in_any(&self.server.exception_description(number, r#type)?)
            }
            Details::Attribute(_) => in_any(&self.attribute_description(number)?),
            Details::Operation(_) => in_any(&self.operation_description(number)?),
            Details::Interface(_) | Details::AbstractInterface(_) | Details::LocalInterface(_) => {
                in_any(&InterfaceDescription {
                    name,
                    id,
                    defined_in,
                    version,
                    base_interfaces: self.ids(&bases(definition))?,
                })
            }
            Details::ValueMember(_) => in_any(&self.value_member(number)?),
            Details::Value(value) => in_any(&ValueDescription {
                name,
                id,
                is_abstract: value.is_abstract,
                is_custom: value.is_custom,
                defined_in,
                version,
                supported_interfaces: self.ids(&value.supported)?,
                abstract_base_values: self.ids(&value.abstract_bases)?,
                is_truncatable: value.is_truncatable,
                base_value: self.ids(&value.base)?.pop().unwrap_or_default(),
            }),
            Details::Unlabeled(DefinitionKind::DkModule) => in_any(&ModuleDescription {
                name,
                id,
                defined_in,
                version,
            }),
            _ => in_any(&TypeDescription {
                name,
                id,
                defined_in,
                version,
                r#type: self.server.type_code(&Type::Defined(number))?,
            }),
        }
    }

    pub(super) fn attribute_description(&mut self, number: Number) -> Result<AttributeDescription> {
        let (head, Details::Attribute(attribute)) = self.server.head_of(number)? else {
            return super::server::out_of_place();
        };
        Ok(AttributeDescription {
            name: head.name,
            id: head.id,
            defined_in: head.defined_in,
            version: head.version,
            r#type: self.type_code(&attribute.kind)?,
            mode: attribute.mode,
        })
    }

    pub(super) fn operation_description(&mut self, number: Number) -> Result<OperationDescription> {
        let (head, Details::Operation(operation)) = self.server.head_of(number)? else {
            return super::server::out_of_place();
        };
        let exceptions = self.parts(operation.raised, |answer, number| {
            let r#type = answer.type_code(&Type::Defined(number))?;
            answer.server.exception_description(number, r#type)
        });
        Ok(OperationDescription {
            name: head.name,
            id: head.id,
            defined_in: head.defined_in,
            version: head.version,
            result: self.type_code(&operation.result)?,
            mode: operation.mode,
            contexts: operation.contexts,
            parameters: self.parameters(&operation.accepted)?,
            exceptions: exceptions?,
        })
    }

    pub(super) fn value_member(&mut self, number: Number) -> Result<ValueMember> {
        let (head, Details::ValueMember(member)) = self.server.head_of(number)? else {
            return super::server::out_of_place();
        };
        Ok(ValueMember {
            name: head.name,
            id: head.id,
            defined_in: head.defined_in,
            version: head.version,
            r#type: self.type_code(&member.kind)?,
            type_def: self.server.type_def(&member.kind)?,
            access: member.access,
        })
    }

    pub(super) fn parameters(
        &mut self,
        parameters: &[Parameter],
    ) -> Result<Vec<ParameterDescription>> {
        self.parts(parameters, |answer, parameter| {
            Ok(ParameterDescription {
                name: parameter.name.clone(),
                r#type: answer.type_code(&parameter.kind)?,
                type_def: answer.server.type_def(&parameter.kind)?,
                mode: parameter.mode,
            })
        })
    }

    pub(super) fn struct_members(&mut self, members: &Members) -> Result<Vec<StructMember>> {
        self.parts(members, |answer, member| {
            Ok(StructMember {
                name: member.name.clone(),
                r#type: answer.type_code(&member.kind)?,
                type_def: answer.server.type_def(&member.kind)?,
            })
        })
    }

    pub(super) fn union_members(&mut self, members: &[Alternative]) -> Result<Vec<UnionMember>> {
        self.parts(members, |answer, member| {
            Ok(UnionMember {
                name: member.name.clone(),
                label: member.label.clone(),
                r#type: answer.type_code(&member.kind)?,
                type_def: answer.server.type_def(&member.kind)?,
            })
        })
    }

    pub(super) fn initializers(&mut self, value: &Value) -> Result<corba::InitializerSeq> {
        self.parts(&value.factories, |answer, initializer| {
            Ok(corba::Initializer {
                members: answer.struct_members(&initializer.parameters)?,
                name: initializer.name.clone(),
            })
        })
    }
}

impl Server {
    fn head(&self, definition: &Definition) -> Head {
        Head {
            name: definition.name.clone(),
            id: definition.id.clone(),
            defined_in: self.id_of(definition.container),
            version: definition.version.clone(),
        }
    }

    fn head_of(&self, number: Number) -> Result<(Head, Details)> {
        let definition = self.definition_of(number)?;
        Ok((self.head(&definition), definition.what))
    }

    fn exception_description(
        &self,
        number: Number,
        r#type: TypeCode,
    ) -> Result<ExceptionDescription> {
        let (head, _) = self.head_of(number)?;
        Ok(ExceptionDescription {
            name: head.name,
            id: head.id,
            defined_in: head.defined_in,
            version: head.version,
            r#type,
        })
    }

    /// Returns the members that a client passes; their types are those to which their `type_def`
    /// refers.
    pub(super) fn members_in(&self, members: &[StructMember]) -> Result<Members> {
        let member = |member: &StructMember| {
            Ok(crate::store::Member {
                name: member.name.clone(),
                kind: self.type_in(member.type_def.as_ref())?,
            })
        };
        members.iter().map(member).collect()
    }

    pub(super) fn parameters_in(
        &self,
        parameters: &[ParameterDescription],
    ) -> Result<Vec<Parameter>> {
        let parameter = |parameter: &ParameterDescription| {
            Ok(Parameter {
                name: parameter.name.clone(),
                kind: self.type_in(parameter.type_def.as_ref())?,
                mode: parameter.mode,
            })
        };
        parameters.iter().map(parameter).collect()
    }

    /// Returns the TypeCode of a type. It is `void` for a definition that is not valid yet, or is
    /// no longer valid because a definition that it refers to has changed: clients could not decode
    /// its description.
    pub(super) fn type_code(&self, ty: &Type) -> Result<TypeCode> {
        let type_code = self.look(|definitions| definitions.type_of(ty));
        let sound = type_code.ok().filter(|built| built.check().is_ok());
        Ok(sound.unwrap_or(TypeCode::VOID))
    }
}

fn in_any<T: Typed + Marshal>(value: &T) -> Result<Any> {
    let unfit = |_| Refusal::Invalid("a description that cannot be sent").into();
    Any::new(value).map_err(unfit)
}
