//! Mapping of `const` to `pub const`, and of constant values to expressions and patterns.

use proc_macro2::{Literal, TokenStream};
use punctual_idl::model::{
    Const, ConstValue, DeclId, DeclKind, Declaration, FixedValue, Primitive, Type,
};
use quote::quote;

use crate::docs::doc;
use crate::names::ident;
use crate::scope::Scope;
use crate::{enums, lints};

pub(crate) fn generate(
    scope: &Scope<'_>,
    declaration: &Declaration,
    constant: &Const,
) -> TokenStream {
    let name = ident(scope.generator.names.item(declaration.id));
    let doc = doc(&declaration.doc, &format!("`const {}`.", declaration.name));
    let ty = match scope.generator.spec.resolve(&constant.ty) {
        Type::String { .. } | Type::WString { .. } => quote!(&str),
        _ => scope.owned(&constant.ty, false),
    };
    let lints = match (&constant.value, scope.generator.spec.resolve(&constant.ty)) {
        (ConstValue::Float(_), Type::Primitive(Primitive::LongDouble)) => TokenStream::new(),
        (ConstValue::Float(value), _) => lints::float(*value),
        _ => TokenStream::new(),
    };
    let value = expression(scope, &constant.value, &constant.ty);
    quote!(#doc #lints pub const #name: #ty = #value;)
}

/// Generates a constant as an expression of its type.
pub(crate) fn expression(scope: &Scope<'_>, value: &ConstValue, ty: &Type) -> TokenStream {
    match value {
        ConstValue::Float(value) => {
            let primitive = match scope.generator.spec.resolve(ty) {
                Type::Primitive(primitive) => *primitive,
                _ => Primitive::Double,
            };
            float(scope, *value, primitive)
        }
        ConstValue::String(text) | ConstValue::WString(text) => quote!(#text),
        ConstValue::Fixed(fixed) => {
            let fixed_type = scope.name("Fixed");
            let scaled = scaled(fixed, scope.generator.spec.resolve(ty));
            quote!(#fixed_type::literal(#scaled))
        }
        value => pattern(scope, value),
    }
}

/// Generates a constant of a type that may be a union's discriminator, valid as an expression and
/// as a pattern.
pub(crate) fn pattern(scope: &Scope<'_>, value: &ConstValue) -> TokenStream {
    match value {
        ConstValue::Integer(value) => {
            let magnitude = Literal::u128_unsuffixed(value.unsigned_abs());
            if *value < 0 {
                quote!(-#magnitude)
            } else {
                quote!(#magnitude)
            }
        }
        ConstValue::Boolean(value) => quote!(#value),
        ConstValue::Char(value) => {
            let char_type = scope.name("Char");
            let value = if value.is_ascii_graphic() || *value == b' ' {
                Literal::byte_character(*value)
            } else {
                Literal::u8_unsuffixed(*value)
            };
            quote!(#char_type(#value))
        }
        ConstValue::WChar(value) => quote!(#value),
        ConstValue::Enumerator(id, index) => enumerator(scope, *id, *index),
        ConstValue::Float(_)
        | ConstValue::String(_)
        | ConstValue::WString(_)
        | ConstValue::Fixed(_) => TokenStream::new(),
    }
}

/// Generates an enumerator, by its enum and position.
pub(crate) fn enumerator(scope: &Scope<'_>, id: DeclId, index: usize) -> TokenStream {
    let declaration = &scope.generator.spec[id];
    let DeclKind::Enum(enumeration) = &declaration.kind else {
        return TokenStream::new();
    };
    let path = scope.path(declaration);
    let variant = enums::variants(scope.generator, enumeration)
        .into_iter()
        .nth(index);
    quote!(#path::#variant)
}

fn float(scope: &Scope<'_>, value: f64, primitive: Primitive) -> TokenStream {
    let magnitude = match primitive {
        Primitive::LongDouble => {
            let long_double = scope.name("LongDouble");
            let bits = format!("0x{:032x}", quadruple_bits(value));
            let bits: TokenStream = bits.parse().unwrap_or_default();
            return quote!(#long_double::from_bits(#bits));
        }
        // Rounded by the front end, so that the digits of an f32 suffice.
        #[allow(clippy::cast_possible_truncation)]
        Primitive::Float => Literal::f32_unsuffixed(value.abs() as f32),
        _ => Literal::f64_unsuffixed(value.abs()),
    };
    if value.is_sign_negative() {
        quote!(-#magnitude)
    } else {
        quote!(#magnitude)
    }
}

/// Returns the binary128 of the same value (IEEE 754, §3.4); every f64 has one.
fn quadruple_bits(value: f64) -> u128 {
    const EXPONENT_DIFFERENCE: u128 = 16383 - 1023;
    let bits = value.to_bits();
    let sign = u128::from(bits >> 63) << 127;
    let exponent = u128::from((bits >> 52) & 0x7ff);
    let fraction = u128::from(bits & 0x000f_ffff_ffff_ffff);
    if exponent == 0 && fraction == 0 {
        return sign;
    }
    if exponent == 0 {
        // A subnormal: its leading 1 becomes the hidden one.
        let shift = u128::from(fraction.leading_zeros()) - (127 - 52);
        let normal = (fraction << shift) & 0x000f_ffff_ffff_ffff;
        return sign | ((EXPONENT_DIFFERENCE + 1 - shift) << 112) | (normal << 60);
    }
    sign | ((exponent + EXPONENT_DIFFERENCE) << 112) | (fraction << 60)
}

/// Returns the digits of a fixed-point constant as a whole number in units of the type's last
/// place.
fn scaled(fixed: &FixedValue, ty: &Type) -> TokenStream {
    let scale = match ty {
        Type::Fixed { scale, .. } => usize::from(*scale),
        _ => usize::from(fixed.scale),
    };
    let mut digits = fixed.digits.clone();
    let has = usize::from(fixed.scale);
    if scale >= has {
        digits.push_str(&"0".repeat(scale - has));
    } else {
        digits.truncate(digits.len().saturating_sub(has - scale));
    }
    let magnitude = Literal::u128_unsuffixed(digits.parse().unwrap_or(0));
    if fixed.negative {
        quote!(-#magnitude)
    } else {
        quote!(#magnitude)
    }
}

#[cfg(test)]
mod tests {
    use super::quadruple_bits;

    #[test]
    fn every_double_has_its_quadruple() {
        for (value, bits) in [
            (0.0, 0),
            (-0.0, 0x8000_0000_0000_0000_0000_0000_0000_0000),
            (1.0, 0x3fff_0000_0000_0000_0000_0000_0000_0000),
            (-1.5, 0xbfff_8000_0000_0000_0000_0000_0000_0000),
            (f64::MIN_POSITIVE, 0x3c01_0000_0000_0000_0000_0000_0000_0000),
            (5e-324, 0x3bcd_0000_0000_0000_0000_0000_0000_0000),
        ] {
            assert_eq!(quadruple_bits(value), bits, "{value:e}");
        }
    }
}
