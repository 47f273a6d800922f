//! Loading of definitions from IDL.
//!
//! All definitions are made before their details are set, so that they may refer to one another in
//! any order.

mod constants;
mod definable;
mod values;

use std::collections::{HashMap, HashSet};

use punctual::Any;
use punctual::any::TypeKind;
use punctual_idl::model::{
    DeclId, DeclKind, Declaration, Direction, InterfaceFlavour, Label, Member, Parameter,
    Primitive, Specification, Type as IdlType, Union,
};

use crate::corba::{AttributeMode, DefinitionKind, OperationMode, ParameterMode, PrimitiveKind};
use crate::definitions::{Definitions, ROOT};
use crate::refusal::Refusal;
use crate::store::{
    self, Alternative, Constant, Decimal, Definition, Details, Number, Operation, Readable,
    Several, Type, UnionOf, Value,
};
use constants::{any, constant_value};
use definable::check_definable;

/// Loads all declarations of a compilation; returns the number of new definitions.
pub(crate) fn load(definitions: &mut Definitions, spec: &Specification) -> Result<usize, Refusal> {
    let mut loading = Loading {
        spec,
        numbers: HashMap::new(),
        new: 0,
    };
    for declaration in &spec.declarations {
        loading.declare(definitions, declaration.id)?;
    }
    for declaration in &spec.declarations {
        if let Some(&number) = loading.numbers.get(&declaration.id) {
            check_definable(declaration, spec)?;
            loading.complete(definitions, declaration, number)?;
        }
    }
    loading.forget_what_is_gone(definitions)?;
    Ok(loading.new)
}

struct Loading<'s> {
    spec: &'s Specification,
    numbers: HashMap<DeclId, Number>,
    new: usize,
}

impl Loading<'_> {
    /// Makes a definition of a declaration, or finds the existing one, and returns its number;
    /// `None` for annotations and their contents, which are not part of the program.
    ///
    /// Makes the definition's container first: the container may be a later part of a reopened module,
    /// which has no number yet when an earlier part has a forward declaration of the definition.
    fn declare(
        &mut self,
        definitions: &mut Definitions,
        id: DeclId,
    ) -> Result<Option<Number>, Refusal> {
        if let Some(&number) = self.numbers.get(&id) {
            return Ok(Some(number));
        }
        let declaration = &self.spec[id];
        let Some(what) = nothing_yet(&declaration.kind) else {
            return Ok(None);
        };
        let container = match declaration.parent {
            None => Some(ROOT),
            Some(parent) => self.declare(definitions, parent)?,
        };
        let Some(container) = container else {
            return Ok(None);
        };
        let kind = what.discriminator();
        let known = definitions.by_id(&declaration.repository_id);
        let number = match known.filter(|&number| definitions.kind(number) == Some(kind)) {
            Some(number) => number,
            None => {
                self.new += 1;
                definitions.create(Definition {
                    id: declaration.repository_id.clone(),
                    name: declaration.name.clone(),
                    version: version(&declaration.repository_id),
                    container,
                    what,
                })?
            }
        };
        self.numbers.insert(id, number);
        Ok(Some(number))
    }

    /// Removes definitions within interfaces and values that the loaded IDL no longer declares.
    /// State members have been handled already.
    fn forget_what_is_gone(&self, definitions: &mut Definitions) -> Result<(), Refusal> {
        let declared: HashSet<Number> = self.numbers.values().copied().collect();
        for declaration in &self.spec.declarations {
            let has_body = matches!(&declaration.kind,
                DeclKind::Interface(interface) if !interface.forward_only)
                || matches!(declaration.kind, DeclKind::ValueType(_));
            let Some(&number) = self.numbers.get(&declaration.id).filter(|_| has_body) else {
                continue;
            };
            let contents = definitions.own_contents(number).to_vec();
            for one in contents {
                let is_member = definitions.kind(one) == Some(DefinitionKind::DkValueMember);
                if !is_member && !declared.contains(&one) {
                    definitions.destroy(one)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the details of an IDL declaration to its definition in the repository.
    fn complete(
        &mut self,
        definitions: &mut Definitions,
        declaration: &Declaration,
        number: Number,
    ) -> Result<(), Refusal> {
        let what = match &declaration.kind {
            DeclKind::Struct(_) => Details::Struct(self.members(declaration)?),
            DeclKind::Exception(_) => Details::Exception(self.members(declaration)?),
            DeclKind::Union(union) => Details::Union(self.union(definitions, union)?),
            DeclKind::Enum(enumeration) => {
                let names = enumeration.enumerators.iter().map(|e| e.name.clone());
                Details::Enum(names.collect())
            }
            // Represented as in TypeCodes: another name for their integer.
            DeclKind::Bitmask(mask) => Details::Alias(primitive(mask.holder())),
            DeclKind::Bitset(set) => Details::Alias(primitive(set.holder())),
            DeclKind::Typedef(typedef) => Details::Alias(self.ty(&typedef.ty)?),
            DeclKind::ValueBox(boxed) => Details::ValueBox(self.ty(&boxed.ty)?),
            DeclKind::Const(constant) => {
                let kind = self.ty(&constant.ty)?;
                let type_code = definitions.type_of(&kind)?;
                let value = constant_value(self.spec, &constant.value, &constant.ty, &type_code)?;
                Details::Constant(Constant { kind, value })
            }
            DeclKind::Interface(interface) => {
                let bases = self.all(&interface.bases)?;
                match interface.flavour {
                    InterfaceFlavour::Plain => Details::Interface(bases),
                    InterfaceFlavour::Abstract => Details::AbstractInterface(bases),
                    InterfaceFlavour::Local => Details::LocalInterface(bases),
                }
            }
            DeclKind::Operation(operation) => Details::Operation(Operation {
                result: self.ty(&operation.returns)?,
                mode: match operation.oneway {
                    true => OperationMode::OpOneway,
                    false => OperationMode::OpNormal,
                },
                accepted: operation
                    .parameters
                    .iter()
                    .map(|p| self.parameter(p))
                    .collect::<Result<_, _>>()?,
                raised: self.all(&operation.raises)?,
                contexts: operation.context.clone(),
            }),
            DeclKind::Attribute(attribute) => Details::Attribute(Readable {
                kind: self.ty(&attribute.ty)?,
                mode: match attribute.readonly {
                    true => AttributeMode::AttrReadonly,
                    false => AttributeMode::AttrNormal,
                },
            }),
            DeclKind::ValueType(value) => {
                self.state(definitions, declaration, value, number)?;
                Details::Value(self.value(value)?)
            }
            DeclKind::Module(_) | DeclKind::Native | DeclKind::Annotation(_) => return Ok(()),
        };
        definitions.set_details(number, what)
    }

    fn members(&self, declaration: &Declaration) -> Result<store::Members, Refusal> {
        let members = self.spec.members(declaration.id).into_iter();
        let member = |member: &Member| {
            Ok(store::Member {
                name: member.name.clone(),
                kind: self.ty(&member.ty)?,
            })
        };
        members.map(member).collect()
    }

    fn union(&self, definitions: &Definitions, union: &Union) -> Result<UnionOf, Refusal> {
        let mut members = Vec::new();
        let over = definitions.type_of(&self.ty(&union.discriminator)?)?;
        let is_over_octets = over.original_type().kind() == TypeKind::Octet;
        for case in &union.cases {
            for label in &case.labels {
                let label = match label {
                    // §14.5.10: octet 0 stands for `default:`, where no octet label is possible.
                    Label::Default if is_over_octets => Any::default(),
                    Label::Default => any(&0_u8)?,
                    Label::Value(value) => {
                        let discriminator = &union.discriminator;
                        let type_code = punctual_idl_describe::type_of(self.spec, discriminator);
                        constant_value(self.spec, value, discriminator, &type_code)?
                    }
                };
                members.push(Alternative {
                    name: case.member.name.clone(),
                    label,
                    kind: self.ty(&case.member.ty)?,
                });
            }
        }
        Ok(UnionOf {
            discriminator: self.ty(&union.discriminator)?,
            members,
        })
    }

    fn parameter(&self, parameter: &Parameter) -> Result<store::Parameter, Refusal> {
        Ok(store::Parameter {
            name: parameter.name.clone(),
            kind: self.ty(&parameter.ty)?,
            mode: match parameter.direction {
                Direction::In => ParameterMode::ParamIn,
                Direction::Out => ParameterMode::ParamOut,
                Direction::InOut => ParameterMode::ParamInout,
            },
        })
    }

    fn all(&self, ids: &[DeclId]) -> Result<Vec<Number>, Refusal> {
        ids.iter().map(|&id| self.number(id)).collect()
    }

    /// Returns the number of a declaration that another one refers to.
    fn number(&self, id: DeclId) -> Result<Number, Refusal> {
        let number = self.numbers.get(&id).copied();
        number.ok_or_else(|| Refusal::NotDefinable(format!("`{}`", self.spec[id].absolute_name())))
    }

    fn ty(&self, ty: &IdlType) -> Result<Type, Refusal> {
        let several = |size: u32, of: Type| Several { size, of: vec![of] };
        Ok(match ty {
            IdlType::Void => Type::Primitive(PrimitiveKind::PkVoid),
            IdlType::Primitive(kind) => primitive(*kind),
            IdlType::String { bound: None } => Type::Primitive(PrimitiveKind::PkString),
            IdlType::String { bound: Some(bound) } => Type::Text(*bound),
            IdlType::WString { bound: None } => Type::Primitive(PrimitiveKind::PkWstring),
            IdlType::WString { bound: Some(bound) } => Type::WideText(*bound),
            IdlType::Sequence { element, bound } => {
                Type::Sequence(several(bound.unwrap_or(0), self.ty(element)?))
            }
            IdlType::Array {
                element,
                dimensions,
            } => {
                let mut array = self.ty(element)?;
                for &length in dimensions.iter().rev() {
                    array = Type::Array(several(length, array));
                }
                array
            }
            IdlType::Fixed { digits, scale } => Type::Fixed(Decimal {
                digits: *digits,
                scale: i16::try_from(*scale).unwrap_or(i16::MAX),
            }),
            // Refused before.
            IdlType::Map { .. } => Type::Primitive(PrimitiveKind::PkNull),
            IdlType::Any => Type::Primitive(PrimitiveKind::PkAny),
            IdlType::TypeCode => Type::Primitive(PrimitiveKind::PkTypeCode),
            IdlType::Object => Type::Primitive(PrimitiveKind::PkObjref),
            IdlType::ValueBase => Type::Primitive(PrimitiveKind::PkValueBase),
            IdlType::Named(id) => Type::Defined(self.number(*id)?),
        })
    }
}

/// Returns the initial details of a declaration, before the definitions that it refers to are
/// known; `None` if it is not a definition.
fn nothing_yet(kind: &DeclKind) -> Option<Details> {
    let void = || Type::Primitive(PrimitiveKind::PkVoid);
    Some(match kind {
        // Each part of a module is the module itself.
        DeclKind::Module(_) => Details::Unlabeled(DefinitionKind::DkModule),
        DeclKind::Native => Details::Unlabeled(DefinitionKind::DkNative),
        DeclKind::Struct(_) => Details::Struct(Vec::new()),
        DeclKind::Exception(_) => Details::Exception(Vec::new()),
        DeclKind::Union(_) => Details::Union(UnionOf {
            discriminator: void(),
            members: Vec::new(),
        }),
        DeclKind::Enum(_) => Details::Enum(Vec::new()),
        DeclKind::Typedef(_) | DeclKind::Bitmask(_) | DeclKind::Bitset(_) => Details::Alias(void()),
        DeclKind::ValueBox(_) => Details::ValueBox(void()),
        DeclKind::Const(_) => Details::Constant(Constant {
            kind: void(),
            value: Any::default(),
        }),
        DeclKind::Interface(interface) => match interface.flavour {
            InterfaceFlavour::Plain => Details::Interface(Vec::new()),
            InterfaceFlavour::Abstract => Details::AbstractInterface(Vec::new()),
            InterfaceFlavour::Local => Details::LocalInterface(Vec::new()),
        },
        DeclKind::Operation(_) => Details::Operation(Operation::default()),
        DeclKind::Attribute(_) => Details::Attribute(Readable::default()),
        DeclKind::ValueType(_) => Details::Value(Value::default()),
        DeclKind::Annotation(_) => return None,
    })
}

fn primitive(primitive: Primitive) -> Type {
    use PrimitiveKind as Kind;
    Type::Primitive(match primitive {
        Primitive::Boolean => Kind::PkBoolean,
        Primitive::Octet | Primitive::UInt8 | Primitive::Int8 => Kind::PkOctet,
        Primitive::Char => Kind::PkChar,
        Primitive::WChar => Kind::PkWchar,
        Primitive::Short => Kind::PkShort,
        Primitive::UShort => Kind::PkUshort,
        Primitive::Long => Kind::PkLong,
        Primitive::ULong => Kind::PkUlong,
        Primitive::LongLong => Kind::PkLonglong,
        Primitive::ULongLong => Kind::PkUlonglong,
        Primitive::Float => Kind::PkFloat,
        Primitive::Double => Kind::PkDouble,
        Primitive::LongDouble => Kind::PkLongdouble,
    })
}

/// Returns the version part of a repository id.
fn version(id: &str) -> String {
    scope_of(id).1.to_owned()
}

/// Splits a repository id into the id without its version, and the version.
fn scope_of(id: &str) -> (&str, &str) {
    match id.rsplit_once(':') {
        Some((scope, version)) if scope.contains(':') => (scope, version),
        _ => (id, "1.0"),
    }
}
