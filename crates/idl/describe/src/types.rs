//! TypeCodes of types.

use punctual_any::{
    Label, TypeBuilder, TypeCode, TypeIndex, TypeKind, Typed, UnionDescription, ValueDescription,
    ValueModifier, Visibility,
};
use punctual_idl::model::{
    self, Annotation, ConstValue, DeclId, DeclKind, Declaration, InterfaceFlavour, Member,
    Primitive, Specification, Type, Union, ValueFlavour, ValueType,
};

/// Returns the TypeCode of a declaration; `None` if it is not a type: a module, a constant, an
/// operation.
#[must_use]
pub fn type_code(specification: &Specification, id: DeclId) -> Option<TypeCode> {
    let mut types = TypeBuilder::default();
    let root = declaration(specification, &specification[id], &mut types)?;
    Some(types.finish(root))
}

/// Returns the TypeCodes of all valuetypes with state. Unmarshaling values needs them besides the
/// declared type of the member or parameter, which does not name the valuetypes that derive from
/// it.
pub fn value_types(specification: &Specification) -> impl Iterator<Item = TypeCode> {
    let values = specification.declarations.iter().filter(|one| {
        matches!(&one.kind, DeclKind::ValueType(value) if value.flavour != ValueFlavour::Abstract)
    });
    values.filter_map(|one| type_code(specification, one.id))
}

/// Returns the TypeCode of an IDL type.
#[must_use]
pub fn type_of(specification: &Specification, ty: &Type) -> TypeCode {
    let mut types = TypeBuilder::default();
    let root = describe(specification, ty, &mut types);
    types.finish(root)
}

/// Adds the description of a type to a TypeCode builder.
pub fn describe(specification: &Specification, ty: &Type, types: &mut TypeBuilder) -> TypeIndex {
    let part = |ty: &Type, types: &mut TypeBuilder| describe(specification, ty, types);
    match ty {
        Type::Void => types.primitive(TypeKind::Void),
        Type::Primitive(Primitive::Int8) => i8::describe(types),
        Type::Primitive(one) => types.primitive(kind(*one)),
        Type::Any => types.primitive(TypeKind::Any),
        Type::TypeCode => types.primitive(TypeKind::TypeCode),
        Type::String { bound } => types.string(bound.unwrap_or(0)),
        Type::WString { bound } => types.wstring(bound.unwrap_or(0)),
        Type::Fixed { digits, scale } => {
            types.fixed(*digits, i16::try_from(*scale).unwrap_or(i16::MAX))
        }
        Type::Sequence { element, bound } => {
            let element = part(element, types);
            types.sequence(element, bound.unwrap_or(0))
        }
        Type::Array {
            element,
            dimensions,
        } => {
            let element = part(element, types);
            let lengths = dimensions.iter().rev();
            lengths.fold(element, |inner, length| types.array(inner, *length))
        }
        Type::Map { key, value, bound } => {
            let pair = types.structure("", "", |types| {
                vec![("key", part(key, types)), ("value", part(value, types))]
            });
            types.sequence(pair, bound.unwrap_or(0))
        }
        Type::Object => types.interface("IDL:omg.org/CORBA/Object:1.0", "Object"),
        Type::ValueBase => value_base(types),
        Type::Named(id) => declaration(specification, &specification[*id], types)
            .unwrap_or_else(|| types.primitive(TypeKind::Void)),
    }
}

fn value_base(types: &mut TypeBuilder) -> TypeIndex {
    types.value(
        "IDL:omg.org/CORBA/ValueBase:1.0",
        "ValueBase",
        ValueModifier::None,
        |_| ValueDescription::<&str> {
            concrete_base: None,
            members: Vec::new(),
        },
    )
}

/// Adds the type that a declaration defines; returns `None` if it defines none.
fn declaration(
    specification: &Specification,
    declared: &Declaration,
    types: &mut TypeBuilder,
) -> Option<TypeIndex> {
    let (id, name) = (declared.repository_id.as_str(), declared.name.as_str());
    let part = |ty: &Type, types: &mut TypeBuilder| describe(specification, ty, types);
    let all = |members: &[Member], types: &mut TypeBuilder| -> Vec<(String, TypeIndex)> {
        let member = |one: &Member| (one.name.clone(), member(specification, one, types));
        members.iter().map(member).collect()
    };
    Some(match &declared.kind {
        DeclKind::Struct(one) => types.structure(id, name, |types| all(&one.members, types)),
        DeclKind::Exception(one) => types.exception(id, name, |types| all(&one.members, types)),
        DeclKind::Union(one) => types.union_(id, name, |types| union_(specification, one, types)),
        DeclKind::Enum(one) => {
            let names = one.enumerators.iter().map(|one| one.name.as_str());
            types.enumeration(id, name, &names.collect::<Vec<_>>())
        }
        DeclKind::Typedef(one) => types.alias(id, name, |types| part(&one.ty, types)),
        DeclKind::Bitmask(one) => types.alias(id, name, |types| part(&one.holder().into(), types)),
        DeclKind::Bitset(one) => types.alias(id, name, |types| part(&one.holder().into(), types)),
        DeclKind::Native => types.native(id, name),
        DeclKind::Interface(one) => match one.flavour {
            InterfaceFlavour::Plain => types.interface(id, name),
            InterfaceFlavour::Abstract => types.abstract_interface(id, name),
            InterfaceFlavour::Local => types.local_interface(id, name),
        },
        DeclKind::ValueBox(one) => types.value_box(id, name, |types| part(&one.ty, types)),
        DeclKind::ValueType(one) => types.value(id, name, modifier(one), |types| {
            value(specification, one, types)
        }),
        DeclKind::Module(_)
        | DeclKind::Operation(_)
        | DeclKind::Attribute(_)
        | DeclKind::Const(_)
        | DeclKind::Annotation(_) => return None,
    })
}

/// Describes a member's type: an optional one as a union over a boolean.
fn member(specification: &Specification, member: &Member, types: &mut TypeBuilder) -> TypeIndex {
    if !Annotation::is_set(&member.annotations, "optional") {
        return describe(specification, &member.ty, types);
    }
    types.union_("", "", |types| UnionDescription {
        discriminator: types.primitive(TypeKind::Boolean),
        members: vec![(
            Label::Value(1),
            "value",
            describe(specification, &member.ty, types),
        )],
    })
}

/// Describes a union. A member is listed once for each of its labels.
fn union_(
    specification: &Specification,
    union: &Union,
    types: &mut TypeBuilder,
) -> UnionDescription<String> {
    let discriminator = describe(specification, &union.discriminator, types);
    let mut members = Vec::new();
    for case in &union.cases {
        let index = member(specification, &case.member, types);
        for label in &case.labels {
            members.push((self::label(label), case.member.name.clone(), index));
        }
    }
    UnionDescription {
        discriminator,
        members,
    }
}

fn label(label: &model::Label) -> Label {
    match label {
        model::Label::Default => Label::Default,
        model::Label::Value(value) => match value {
            ConstValue::Integer(value) => Label::Value(*value),
            ConstValue::Boolean(value) => Label::from(*value),
            ConstValue::Char(value) => Label::from(*value),
            ConstValue::WChar(value) => Label::from(*value),
            ConstValue::Enumerator(_, place) => {
                Label::Value(i128::try_from(*place).unwrap_or(i128::MAX))
            }
            // No discriminator is of another type.
            _ => Label::Default,
        },
    }
}

fn modifier(value: &ValueType) -> ValueModifier {
    match value.flavour {
        ValueFlavour::Custom => ValueModifier::Custom,
        ValueFlavour::Abstract => ValueModifier::Abstract,
        ValueFlavour::Plain if value.truncatable => ValueModifier::Truncatable,
        ValueFlavour::Plain => ValueModifier::None,
    }
}

fn value(
    specification: &Specification,
    value: &ValueType,
    types: &mut TypeBuilder,
) -> ValueDescription<String> {
    // Only the first base can have state.
    let base = value.bases.first().map(|base| &specification[*base]);
    let base = base.filter(|base| {
        matches!(&base.kind, DeclKind::ValueType(one) if one.flavour != ValueFlavour::Abstract)
    });
    let concrete_base = base.and_then(|base| declaration(specification, base, types));
    let members = value.state.iter().map(|state| {
        let visibility = match state.public {
            true => Visibility::Public,
            false => Visibility::Private,
        };
        let index = member(specification, &state.member, types);
        (state.member.name.clone(), index, visibility)
    });
    ValueDescription {
        concrete_base,
        members: members.collect(),
    }
}

fn kind(primitive: Primitive) -> TypeKind {
    match primitive {
        Primitive::Boolean => TypeKind::Boolean,
        Primitive::Octet | Primitive::UInt8 | Primitive::Int8 => TypeKind::Octet,
        Primitive::Char => TypeKind::Char,
        Primitive::WChar => TypeKind::WChar,
        Primitive::Short => TypeKind::Short,
        Primitive::UShort => TypeKind::UShort,
        Primitive::Long => TypeKind::Long,
        Primitive::ULong => TypeKind::ULong,
        Primitive::LongLong => TypeKind::LongLong,
        Primitive::ULongLong => TypeKind::ULongLong,
        Primitive::Float => TypeKind::Float,
        Primitive::Double => TypeKind::Double,
        Primitive::LongDouble => TypeKind::LongDouble,
    }
}
