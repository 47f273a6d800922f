//! TypeCodes of definitions, and of anonymous types.

use punctual::any::{
    Label, TypeBuilder, TypeIndex, TypeKind, UnionDescription, ValueDescription, ValueModifier,
    Visibility,
};
use punctual::{Any, TypeCode};

use crate::corba::{PUBLIC_MEMBER, PrimitiveKind};
use crate::definitions::Definitions;
use crate::refusal::Refusal;
use crate::store::{Definition, Details, Members, Number, Type, UnionOf, Value};

/// Maximum nesting of definitions: structs in structs, aliases of aliases.
const DEEPEST: u32 = 128;

impl Definitions {
    /// Returns the TypeCode of an IDL type.
    pub(crate) fn type_of(&self, ty: &Type) -> Result<TypeCode, Refusal> {
        self.built(true, |description, types| description.ty(ty, types))
    }

    /// Returns the TypeCode of a definition; `void` if it has none.
    pub(crate) fn type_code(&self, number: Number) -> Result<TypeCode, Refusal> {
        self.built(true, |description, types| {
            description.definition(number, types)
        })
    }

    /// Returns the TypeCode that a type will have once all structs have their members: structs that
    /// are still empty are permitted, as recursive types are made from them.
    pub(crate) fn type_of_to_be(&self, ty: &Type) -> Result<TypeCode, Refusal> {
        self.built(false, |description, types| description.ty(ty, types))
    }

    /// Returns the TypeCode of a definition, as [`Definitions::type_of_to_be`] does for a type.
    pub(crate) fn type_code_to_be(&self, number: Number) -> Result<TypeCode, Refusal> {
        self.built(false, |description, types| {
            description.definition(number, types)
        })
    }

    /// Returns `true` if a type is `octet`, possibly through aliases.
    fn is_octet(&self, ty: &Type) -> bool {
        let mut ty = ty;
        // In a damaged file, aliases may form a cycle.
        for _ in 0..DEEPEST {
            let Type::Defined(number) = ty else {
                break;
            };
            match self.get(*number).map(|definition| &definition.what) {
                Some(Details::Alias(of)) => ty = of,
                _ => return false,
            }
        }
        *ty == Type::Primitive(PrimitiveKind::PkOctet)
    }

    fn built(
        &self,
        is_complete: bool,
        describe: impl FnOnce(&mut Description<'_>, &mut TypeBuilder) -> TypeIndex,
    ) -> Result<TypeCode, Refusal> {
        let mut description = Description {
            definitions: self,
            is_complete,
            depth: 0,
            is_too_deep: false,
        };
        let mut types = TypeBuilder::default();
        let root = describe(&mut description, &mut types);
        match description.is_too_deep {
            true => Err(Refusal::TooDeep),
            false => Ok(types.finish(root)),
        }
    }
}

/// Conversion of an IDL type to a TypeCode.
struct Description<'d> {
    definitions: &'d Definitions,
    /// True if structs without members are permitted in the TypeCode.
    is_complete: bool,
    depth: u32,
    is_too_deep: bool,
}

impl Description<'_> {
    fn ty(&mut self, ty: &Type, types: &mut TypeBuilder) -> TypeIndex {
        match ty {
            Type::Primitive(kind) => primitive(*kind, types),
            Type::Text(bound) => types.string(*bound),
            Type::WideText(bound) => types.wstring(*bound),
            Type::Fixed(fixed) => types.fixed(fixed.digits, fixed.scale),
            Type::Sequence(several) => {
                let element = self.element(several.of.first(), types);
                types.sequence(element, several.size)
            }
            Type::Array(several) => {
                let element = self.element(several.of.first(), types);
                types.array(element, several.size)
            }
            Type::Defined(number) => self.definition(*number, types),
        }
    }

    fn element(&mut self, element: Option<&Type>, types: &mut TypeBuilder) -> TypeIndex {
        match element {
            Some(element) => self.ty(element, types),
            None => types.primitive(TypeKind::Null),
        }
    }

    fn definition(&mut self, number: Number, types: &mut TypeBuilder) -> TypeIndex {
        let Some(definition) = self.definitions.get(number) else {
            return types.primitive(TypeKind::Void);
        };
        if self.depth >= DEEPEST {
            self.is_too_deep = true;
            return types.primitive(TypeKind::Null);
        }
        self.depth += 1;
        let index = self.described(number, definition, types);
        self.depth -= 1;
        index
    }

    fn described(
        &mut self,
        number: Number,
        definition: &Definition,
        types: &mut TypeBuilder,
    ) -> TypeIndex {
        let Definition { id, name, .. } = definition;
        match &definition.what {
            Details::Struct(members) if members.is_empty() && !self.is_complete => {
                types.primitive(TypeKind::Long)
            }
            Details::Struct(members) => {
                types.structure(id, name, |types| self.members(members, types))
            }
            Details::Exception(members) => {
                types.exception(id, name, |types| self.members(members, types))
            }
            Details::Union(union) => types.union_(id, name, |types| self.union(union, types)),
            Details::Enum(enumerators) => types.enumeration(id, name, enumerators),
            Details::Alias(ty) => types.alias(id, name, |types| self.ty(ty, types)),
            Details::ValueBox(ty) => types.value_box(id, name, |types| self.ty(ty, types)),
            Details::Interface(_) => types.interface(id, name),
            Details::AbstractInterface(_) => types.abstract_interface(id, name),
            Details::LocalInterface(_) => types.local_interface(id, name),
            Details::Value(value) => types.value(id, name, modifier(value), |types| {
                self.value(number, value, types)
            }),
            Details::Constant(constant) => self.ty(&constant.kind, types),
            Details::Attribute(attribute) => self.ty(&attribute.kind, types),
            Details::Operation(operation) => self.ty(&operation.result, types),
            Details::ValueMember(member) => self.ty(&member.kind, types),
            Details::Unlabeled(crate::corba::DefinitionKind::DkNative) => types.native(id, name),
            Details::Unlabeled(_) => types.primitive(TypeKind::Void),
        }
    }

    fn members(&mut self, members: &Members, types: &mut TypeBuilder) -> Vec<(String, TypeIndex)> {
        let member = |member: &crate::store::Member| {
            let index = self.ty(&member.kind, types);
            (member.name.clone(), index)
        };
        members.iter().map(member).collect()
    }

    fn union(&mut self, union: &UnionOf, types: &mut TypeBuilder) -> UnionDescription<String> {
        let discriminator = self.ty(&union.discriminator, types);
        let is_over_octets = self.definitions.is_octet(&union.discriminator);
        let member = |member: &crate::store::Alternative| {
            let index = self.ty(&member.kind, types);
            (
                label(&member.label, is_over_octets),
                member.name.clone(),
                index,
            )
        };
        UnionDescription {
            discriminator,
            members: union.members.iter().map(member).collect(),
        }
    }

    fn value(
        &mut self,
        number: Number,
        value: &Value,
        types: &mut TypeBuilder,
    ) -> ValueDescription<String> {
        let concrete_base = value.base.first().map(|&base| self.definition(base, types));
        let definitions = self.definitions;
        let members = definitions.own_contents(number).iter().filter_map(|&one| {
            let definition = definitions.get(one)?;
            let Details::ValueMember(member) = &definition.what else {
                return None;
            };
            let seen = match member.access == PUBLIC_MEMBER {
                true => Visibility::Public,
                false => Visibility::Private,
            };
            Some((definition.name.clone(), self.ty(&member.kind, types), seen))
        });
        let members = members.collect();
        ValueDescription {
            concrete_base,
            members,
        }
    }
}

fn modifier(value: &Value) -> ValueModifier {
    match value {
        Value {
            is_abstract: true, ..
        } => ValueModifier::Abstract,
        Value {
            is_custom: true, ..
        } => ValueModifier::Custom,
        Value {
            is_truncatable: true,
            ..
        } => ValueModifier::Truncatable,
        _ => ValueModifier::None,
    }
}

/// Returns a union's label as a repository presents it: a value of the discriminator's type, or
/// octet 0 for `default:`; for octet discriminators, nothing for `default:`.
fn label(label: &Any, is_over_octets: bool) -> Label {
    use punctual::any::Value as Taken;
    match label.value() {
        Ok(Taken::Octet(value)) if is_over_octets => Label::Value(value.into()),
        Ok(Taken::Octet(_)) | Err(_) => Label::Default,
        Ok(value) => match value {
            Taken::Boolean(value) => Label::Value(value.into()),
            Taken::Short(value) => Label::Value(value.into()),
            Taken::UShort(value) => Label::Value(value.into()),
            Taken::Long(value) => Label::Value(value.into()),
            Taken::ULong(value) => Label::Value(value.into()),
            Taken::LongLong(value) => Label::Value(value.into()),
            Taken::ULongLong(value) => Label::Value(value.into()),
            Taken::Char(value) => Label::from(value),
            Taken::WChar(value) => Label::from(value),
            Taken::Enum(value) => Label::Value(value.into()),
            _ => Label::Default,
        },
    }
}

fn primitive(kind: PrimitiveKind, types: &mut TypeBuilder) -> TypeIndex {
    use PrimitiveKind as Kind;
    types.primitive(match kind {
        Kind::PkNull => TypeKind::Null,
        Kind::PkVoid => TypeKind::Void,
        Kind::PkShort => TypeKind::Short,
        Kind::PkLong => TypeKind::Long,
        Kind::PkUshort => TypeKind::UShort,
        Kind::PkUlong => TypeKind::ULong,
        Kind::PkFloat => TypeKind::Float,
        Kind::PkDouble => TypeKind::Double,
        Kind::PkBoolean => TypeKind::Boolean,
        Kind::PkChar => TypeKind::Char,
        Kind::PkOctet => TypeKind::Octet,
        Kind::PkAny => TypeKind::Any,
        Kind::PkTypeCode => TypeKind::TypeCode,
        Kind::PkPrincipal => TypeKind::Principal,
        Kind::PkString => TypeKind::String,
        Kind::PkLonglong => TypeKind::LongLong,
        Kind::PkUlonglong => TypeKind::ULongLong,
        Kind::PkLongdouble => TypeKind::LongDouble,
        Kind::PkWchar => TypeKind::WChar,
        Kind::PkWstring => TypeKind::WString,
        Kind::PkObjref => return types.interface("IDL:omg.org/CORBA/Object:1.0", "Object"),
        Kind::PkValueBase => {
            let id = "IDL:omg.org/CORBA/ValueBase:1.0";
            return types.value(id, "ValueBase", ValueModifier::Abstract, |_| {
                ValueDescription::<String> {
                    concrete_base: None,
                    members: Vec::new(),
                }
            });
        }
    })
}
