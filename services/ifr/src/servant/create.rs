//! Definitions made by clients (§14.5.4.2).

use punctual::{Any, Interface};

use super::server::{Result, Server};
use crate::corba::{self, ContainerServant, DefinitionKind, StructMember, UnionMember, container};
use crate::refusal::Refusal;
use crate::store::{Alternative, Constant, Definition, Details, Initializer, UnionOf, Value};

/// Name, repository id and version of a new definition.
#[derive(Clone, Copy)]
pub(super) struct NameAndId<'c> {
    pub(super) id: &'c str,
    pub(super) name: &'c str,
    pub(super) version: &'c str,
}

impl Server {
    /// Creates a definition in the container on which the operation is called.
    pub(super) fn create<I: Interface>(
        &self,
        called: NameAndId<'_>,
        what: Details,
    ) -> Result<Option<I>> {
        let container = self.current()?;
        let definition = Definition {
            id: called.id.to_owned(),
            name: called.name.to_owned(),
            version: called.version.to_owned(),
            container,
            what,
        };
        let number = self.change(move |definitions| definitions.create_sound(definition))?;
        Ok(self.typed(number))
    }

    pub(super) fn alternatives_in(&self, members: &[UnionMember]) -> Result<Vec<Alternative>> {
        let member = |member: &UnionMember| {
            Ok(Alternative {
                name: member.name.clone(),
                label: member.label.clone(),
                kind: self.type_in(member.type_def.as_ref())?,
            })
        };
        members.iter().map(member).collect()
    }

    pub(super) fn initializers_in(
        &self,
        initializers: &[corba::Initializer],
    ) -> Result<Vec<Initializer>> {
        let initializer = |initializer: &corba::Initializer| {
            Ok(Initializer {
                name: initializer.name.clone(),
                parameters: self.members_in(&initializer.members)?,
            })
        };
        initializers.iter().map(initializer).collect()
    }

    /// Returns a constant, whose value must be of its type.
    pub(super) fn constant(&self, kind: crate::store::Type, value: &Any) -> Result<Constant> {
        let wanted = self.type_code(&kind)?;
        if !wanted.equivalent(value.type_code()) {
            return Err(Refusal::Invalid("the value is not of the constant's type").into());
        }
        let value = value.clone();
        Ok(Constant { kind, value })
    }
}

impl ContainerServant for Server {
    fn lookup(&self, search_name: &str) -> Result<Option<corba::Contained>> {
        self.found(search_name)
    }

    fn contents(
        &self,
        limit_type: DefinitionKind,
        exclude_inherited: bool,
    ) -> Result<corba::ContainedSeq> {
        let numbers = self.contained_in(limit_type, exclude_inherited)?;
        self.all_typed(&numbers)
    }

    fn lookup_name(
        &self,
        search_name: &str,
        levels_to_search: i32,
        limit_type: DefinitionKind,
        exclude_inherited: bool,
    ) -> Result<corba::ContainedSeq> {
        let (name, levels) = (search_name, levels_to_search);
        let numbers = self.found_by_name(name, levels, limit_type, exclude_inherited)?;
        self.all_typed(&numbers)
    }

    fn describe_contents(
        &self,
        limit_type: DefinitionKind,
        exclude_inherited: bool,
        max_returned_objs: i32,
    ) -> Result<container::DescriptionSeq> {
        self.described_contents(limit_type, exclude_inherited, max_returned_objs)
    }

    fn create_module(
        &self,
        id: &str,
        name: &str,
        version: &str,
    ) -> Result<Option<corba::ModuleDef>> {
        let called = NameAndId { id, name, version };
        self.create(called, Details::Unlabeled(DefinitionKind::DkModule))
    }

    fn create_constant(
        &self,
        id: &str,
        name: &str,
        version: &str,
        r#type: Option<&corba::IdlType>,
        value: &Any,
    ) -> Result<Option<corba::ConstantDef>> {
        let constant = self.constant(self.type_in(r#type)?, value)?;
        self.create(NameAndId { id, name, version }, Details::Constant(constant))
    }

    fn create_struct(
        &self,
        id: &str,
        name: &str,
        version: &str,
        members: &[StructMember],
    ) -> Result<Option<corba::StructDef>> {
        let members = self.members_in(members)?;
        self.create(NameAndId { id, name, version }, Details::Struct(members))
    }

    fn create_union(
        &self,
        id: &str,
        name: &str,
        version: &str,
        discriminator_type: Option<&corba::IdlType>,
        members: &[UnionMember],
    ) -> Result<Option<corba::UnionDef>> {
        let union = UnionOf {
            discriminator: self.type_in(discriminator_type)?,
            members: self.alternatives_in(members)?,
        };
        self.create(NameAndId { id, name, version }, Details::Union(union))
    }

    fn create_enum(
        &self,
        id: &str,
        name: &str,
        version: &str,
        members: &[corba::Identifier],
    ) -> Result<Option<corba::EnumDef>> {
        let called = NameAndId { id, name, version };
        self.create(called, Details::Enum(members.to_vec()))
    }

    fn create_alias(
        &self,
        id: &str,
        name: &str,
        version: &str,
        original_type: Option<&corba::IdlType>,
    ) -> Result<Option<corba::AliasDef>> {
        let original = self.type_in(original_type)?;
        self.create(NameAndId { id, name, version }, Details::Alias(original))
    }

    fn create_interface(
        &self,
        id: &str,
        name: &str,
        version: &str,
        base_interfaces: &[Option<corba::InterfaceDef>],
    ) -> Result<Option<corba::InterfaceDef>> {
        let bases = self.interfaces_in(base_interfaces)?;
        self.create(NameAndId { id, name, version }, Details::Interface(bases))
    }

    fn create_value(
        &self,
        id: &str,
        name: &str,
        version: &str,
        is_custom: bool,
        is_abstract: bool,
        base_value: Option<&corba::ValueDef>,
        is_truncatable: bool,
        abstract_base_values: &[Option<corba::ValueDef>],
        supported_interfaces: &[Option<corba::InterfaceDef>],
        initializers: &[corba::Initializer],
    ) -> Result<Option<corba::ValueDef>> {
        let base = match base_value {
            Some(base) => self.values_in(&[Some(base.clone())])?,
            None => Vec::new(),
        };
        let value = Value {
            is_abstract,
            is_custom,
            is_truncatable,
            base,
            abstract_bases: self.values_in(abstract_base_values)?,
            supported: self.interfaces_in(supported_interfaces)?,
            factories: self.initializers_in(initializers)?,
        };
        self.create(NameAndId { id, name, version }, Details::Value(value))
    }

    fn create_value_box(
        &self,
        id: &str,
        name: &str,
        version: &str,
        original_type_def: Option<&corba::IdlType>,
    ) -> Result<Option<corba::ValueBoxDef>> {
        let original = self.type_in(original_type_def)?;
        self.create(NameAndId { id, name, version }, Details::ValueBox(original))
    }

    fn create_exception(
        &self,
        id: &str,
        name: &str,
        version: &str,
        members: &[StructMember],
    ) -> Result<Option<corba::ExceptionDef>> {
        let members = self.members_in(members)?;
        self.create(NameAndId { id, name, version }, Details::Exception(members))
    }

    fn create_native(
        &self,
        id: &str,
        name: &str,
        version: &str,
    ) -> Result<Option<corba::NativeDef>> {
        let called = NameAndId { id, name, version };
        self.create(called, Details::Unlabeled(DefinitionKind::DkNative))
    }

    fn create_abstract_interface(
        &self,
        id: &str,
        name: &str,
        version: &str,
        base_interfaces: &[Option<corba::AbstractInterfaceDef>],
    ) -> Result<Option<corba::AbstractInterfaceDef>> {
        let bases = self.interfaces_in(base_interfaces)?;
        self.create(
            NameAndId { id, name, version },
            Details::AbstractInterface(bases),
        )
    }

    fn create_local_interface(
        &self,
        id: &str,
        name: &str,
        version: &str,
        base_interfaces: &[Option<corba::InterfaceDef>],
    ) -> Result<Option<corba::LocalInterfaceDef>> {
        let bases = self.interfaces_in(base_interfaces)?;
        self.create(
            NameAndId { id, name, version },
            Details::LocalInterface(bases),
        )
    }
}
