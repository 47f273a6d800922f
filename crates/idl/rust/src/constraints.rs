//! Default values and value checks of members, by their annotations.

use proc_macro2::TokenStream;
use punctual_idl::model::{ConstValue, Member, Type};
use quote::quote;

use crate::annotations::{default, is_checked, is_optional, range};
use crate::consts;
use crate::scope::Scope;

impl Scope<'_> {
    /// Generates a statement that refuses values of a member that its annotations exclude; `place`
    /// is an expression of the value.
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

    /// Generates an expression for a member's default value; the member must have one.
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
