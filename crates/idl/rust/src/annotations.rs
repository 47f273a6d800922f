//! What annotations mean here, beyond `@rust_name` and `@non_nil`.
//!
//! `@optional` members of structs and exceptions are `Option`s, and travel as a boolean before the
//! value (`punctual-cdr`'s `map` says why). `@default` is what `Default` gives a member, and
//! `@default_literal` what it gives an enum. `@min`, `@max` and `@range` of such members are
//! checked when they are marshaled. `@value` of enumerators is what the enum's `value` says; on the
//! wire plain CDR has their positions. All others are kept in the model, and change nothing.

use proc_macro2::{Literal, TokenStream};
use punctual_idl::model::{Annotation, ConstValue, Enum, Enumerator, Member, Primitive, Type};
use quote::quote;

use crate::consts;
use crate::scope::Scope;

/// Whether a member need not be there.
pub(crate) fn is_optional(member: &Member) -> bool {
    Annotation::is_set(&member.annotations, "optional")
}

/// What a member starts from, where its IDL says so.
pub(crate) fn default(member: &Member) -> Option<&ConstValue> {
    let default = Annotation::find(&member.annotations, "default")?.constant("value");
    default.filter(|_| !is_optional(member))
}

/// Whether the enumerator is the one to start from.
pub(crate) fn is_default_literal(enumerator: &Enumerator) -> bool {
    Annotation::is_set(&enumerator.annotations, "default_literal")
}

/// Whether a member's values are checked when they are marshaled.
pub(crate) fn is_checked(scope_type: &Type, member: &Member) -> bool {
    matches!(scope_type, Type::Primitive(_)) && {
        let (least, most) = range(member);
        least.or(most).is_some()
    }
}

/// The least and the greatest value that a member may have.
fn range(member: &Member) -> (Option<&ConstValue>, Option<&ConstValue>) {
    let find = |name| Annotation::find(&member.annotations, name);
    let range = find("range");
    let bound = |name| {
        let alone = find(name).and_then(|annotation| annotation.constant("value"));
        alone.or_else(|| range.and_then(|range| range.constant(name)))
    };
    (bound("min"), bound("max"))
}

impl Scope<'_> {
    /// A statement that refuses values of a member that its annotations exclude; `place` is an
    /// expression of the value.
    pub(crate) fn check_range(&self, member: &Member, place: &TokenStream) -> Option<TokenStream> {
        let spec = self.generator.spec;
        if !is_checked(spec.resolve(&member.ty), member) {
            return None;
        }
        let (least, most) = range(member);
        let bound =
            |value: Option<&ConstValue>| value.map(|v| consts::expression(self, v, &member.ty));
        let (least, most) = (bound(least), bound(most));
        let range = match most {
            Some(most) => quote!(#least ..= #most),
            None => quote!(#least ..),
        };
        let [err, error] = ["Err", "CdrError"].map(|name| self.name(name));
        let text = format!("member `{}` is out of its range", member.name);
        Some(quote! {
            if !(#range).contains(#place) {
                return #err(#error::Invalid(#text));
            }
        })
    }

    /// An expression for what a member starts from, of one that has such.
    pub(crate) fn default_of(&self, member: &Member, non_nil: bool) -> TokenStream {
        if is_optional(member) {
            return self.name("None");
        }
        let Some(value) = default(member) else {
            return self.default_value(&member.ty, non_nil);
        };
        let expression = consts::expression(self, value, &member.ty);
        match (value, self.generator.spec.resolve(&member.ty)) {
            (ConstValue::String(_) | ConstValue::WString(_), _) => {
                let string = self.name("String");
                quote!(#string::from(#expression))
            }
            // A bitmask or bitset.
            (ConstValue::Integer(_), Type::Named(_)) => {
                let callable = self.callable(&member.ty, false);
                quote!(#callable::from_bits(#expression))
            }
            _ => expression,
        }
    }
}

/// `fn value`, for an enum whose enumerators have values of their own.
pub(crate) fn values(enumeration: &Enum, names: &[proc_macro2::Ident]) -> Option<TokenStream> {
    let said = |e: &Enumerator| match Annotation::find(&e.annotations, "value")?.constant("value") {
        Some(ConstValue::Integer(value)) => i64::try_from(*value).ok(),
        _ => None,
    };
    if !enumeration.enumerators.iter().any(|e| said(e).is_some()) {
        return None;
    }
    let mut next = 0_i64;
    let arms = enumeration.enumerators.iter().zip(names).map(|(e, name)| {
        let value = said(e).unwrap_or(next);
        next = value.saturating_add(1);
        let value = Literal::i64_unsuffixed(value);
        quote!(Self::#name => #value,)
    });
    Some(quote! {
        /// The value that `@value` gives it; the one above the enumerator before where there is
        /// none.
        pub const fn value(self) -> i64 {
            match self { #(#arms)* }
        }
    })
}

/// True for a default that clippy takes for a constant of mathematics.
pub(crate) fn float_lints(member: &Member) -> Option<f64> {
    match (default(member)?, &member.ty) {
        (_, Type::Primitive(Primitive::LongDouble)) => None,
        (ConstValue::Float(value), _) => Some(*value),
        _ => None,
    }
}
