//! Checks that definitions made by clients can be read by other clients.
//!
//! A client that asks for the contents of a scope receives the types of all of it at once: one that
//! it cannot decode would make the rest unreadable.

use punctual::TypeCode;
use punctual::any::TypeKind;
use punctual::stub::{Block, ByteOrder, Coding, Decoder, Encoder, Limits, Marshal, Unmarshal};

use super::{Definitions, uses};
use crate::refusal::Refusal;
use crate::store::{Definition, Details, Number, Type};

/// Maximum nesting of a TypeCode on the wire: readers accept 64 levels, some of which the enclosing
/// message uses.
const DEEPEST_ENCODING: u16 = 48;

impl Definitions {
    /// Makes a definition for a client, whose input may be impossible in IDL.
    pub(crate) fn create_sound(&mut self, definition: Definition) -> Result<Number, Refusal> {
        check_words(&definition)?;
        let number = self.create(definition)?;
        self.check_type(number).or_else(|refusal| {
            self.destroy(number)?;
            Err(refusal)
        })?;
        Ok(number)
    }

    /// Changes a definition for a client, whose input may be impossible in IDL.
    pub(crate) fn set_sound_details(
        &mut self,
        number: Number,
        what: Details,
    ) -> Result<(), Refusal> {
        let before = self.get(number).ok_or(Refusal::NoSuchDefinition)?.clone();
        let after = Definition {
            what: what.clone(),
            ..before.clone()
        };
        check_words(&after)?;
        self.set_details(number, what)?;
        self.check_type(number).or_else(|refusal| {
            self.set_details(number, before.what)?;
            Err(refusal)
        })
    }

    /// Checks that the definition's types are valid, or become valid when the structs in them get
    /// their members.
    fn check_type(&self, number: Number) -> Result<(), Refusal> {
        let Some(definition) = self.get(number) else {
            return Ok(());
        };
        check_type_code(&self.type_code_to_be(number)?)?;
        for ty in uses::types(&definition.what) {
            check_type_code(&self.type_of_to_be(ty)?)?;
        }
        Ok(())
    }
}

/// Checks an anonymous type that a client has made, or that an object id from a client contains.
pub(crate) fn check_unnamed(ty: &Type) -> Result<(), Refusal> {
    if uses::depth(ty) > uses::DEEPEST_TYPE {
        return Err(Refusal::TooDeep);
    }
    let mut innermost = ty;
    while let Type::Sequence(several) | Type::Array(several) = innermost {
        let is_array = matches!(innermost, Type::Array(_));
        match several.of.as_slice() {
            [of] if !is_array || several.size > 0 => innermost = of,
            [_] => return Err(Refusal::Invalid("an array of no elements")),
            _ => return Err(Refusal::Foreign("the element")),
        }
    }
    match innermost {
        Type::Fixed(fixed) => check_type_code(&TypeCode::fixed(fixed.digits, fixed.scale)),
        _ => Ok(()),
    }
}

/// Checks that a TypeCode is valid and within the limits of decoders.
fn check_type_code(type_code: &TypeCode) -> Result<(), Refusal> {
    let unfit = |_| Refusal::Invalid("the definition is not a valid type");
    type_code.check().map_err(unfit)?;
    let limits = Limits {
        nesting: DEEPEST_ENCODING,
        ..Limits::DEFAULT
    };
    let coding = Coding {
        limits: &limits,
        ..Coding::default()
    };
    let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
    type_code.marshal(&mut out).map_err(unfit)?;
    let octets = out.into_block();
    let mut input = Decoder::new(&octets, ByteOrder::NATIVE, coding);
    TypeCode::unmarshal(&mut input).map_err(|_| Refusal::TooDeep)?;
    Ok(())
}

/// Checks that names can be displayed: the repository's texts are shown on terminals.
fn check_words(definition: &Definition) -> Result<(), Refusal> {
    check_name(&definition.name)?;
    check_text(&definition.id)?;
    check_text(&definition.version)?;
    match &definition.what {
        Details::Struct(members) | Details::Exception(members) => members
            .iter()
            .try_for_each(|member| check_name(&member.name)),
        Details::Union(union) => union.members.iter().try_for_each(|member| {
            let label = member.label.type_code().original_type().kind();
            // Labels are stored as given. An Any or a TypeCode would nest in them.
            let is_simple = label.is_primitive() || label == TypeKind::Enum;
            match is_simple && !matches!(label, TypeKind::Any | TypeKind::TypeCode) {
                true => check_name(&member.name),
                false => Err(Refusal::Invalid(
                    "a label is not a value of the discriminator",
                )),
            }
        }),
        Details::Enum(names) => names.iter().try_for_each(|name| check_name(name)),
        Details::Operation(operation) => {
            let mut parameters = operation.accepted.iter();
            parameters.try_for_each(|parameter| check_name(&parameter.name))?;
            operation
                .contexts
                .iter()
                .try_for_each(|one| check_text(one))
        }
        Details::Value(value) => value.factories.iter().try_for_each(|factory| {
            check_name(&factory.name)?;
            let mut parameters = factory.parameters.iter();
            parameters.try_for_each(|parameter| check_name(&parameter.name))
        }),
        _ => Ok(()),
    }
}

/// Checks that a name is a single word, as scoped names are composed of names.
pub(super) fn check_name(name: &str) -> Result<(), Refusal> {
    if name.is_empty() {
        return Err(Refusal::Invalid("a definition needs a name"));
    }
    if name.contains(|one: char| one.is_control() || one.is_whitespace() || one == ':') {
        return Err(Refusal::Invalid("a name is one word"));
    }
    Ok(())
}

pub(super) fn check_text(text: &str) -> Result<(), Refusal> {
    match text.chars().any(char::is_control) {
        true => Err(Refusal::Invalid(
            "control characters in a name, id or version",
        )),
        false => Ok(()),
    }
}
