//! Mapping of `bitmask` to a set of flags, of `bitset` to small integers side by side: each a
//! struct around one unsigned integer, which is its encoding.
//!
//! Plain CDR has neither. To peers without them, a value is that integer. Bits that no flag and no
//! field has are kept, so that a value passed on is the value received.

use proc_macro2::{Ident, Literal, TokenStream};
use punctual_idl::model::{Bitfield, Bitmask, DeclKind, Declaration, Primitive};
use quote::quote;

use crate::docs::doc;
use crate::names::{Claimant, Claims, chosen, ident, screaming_snake, snake};
use crate::scope::Scope;
use crate::types::number;

/// Generates a struct with a constant for each flag of a `bitmask`.
pub(crate) fn mask(scope: &Scope<'_>, declaration: &Declaration, mask: &Bitmask) -> TokenStream {
    let name = ident(scope.generator.names.item(declaration.id));
    let holder = scope.primitive(mask.holder());
    let definition = definition(scope, declaration, &name, &holder);
    let mut claims = Claims::default();
    claims.reserve("ALL");
    let flags = mask.flags.iter().map(|flag| {
        let claimant = Claimant::new(&flag.name, &flag.location);
        let name = claim(scope, &mut claims, &flag.annotations, claimant, || {
            screaming_snake(&flag.name)
        });
        let doc = doc(&flag.doc, &format!("Flag `{}`.", flag.name));
        let position = number(flag.position);
        quote!(#doc pub const #name: Self = Self(1 << #position);)
    });
    let all = mask
        .flags
        .iter()
        .fold(0_u64, |all, flag| all | 1 << flag.position);
    let all = hexadecimal(all);
    let accessors = integer(&holder);
    quote! {
        #definition
        impl #name {
            #(#flags)*
            /// All flags.
            pub const ALL: Self = Self(#all);
            #accessors
            /// Returns `true` if no bit is set.
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }
            /// Returns `true` if all flags of `other` are set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
            /// Sets the flags of `other`.
            pub const fn insert(&mut self, other: Self) {
                self.0 |= other.0;
            }
            /// Clears the flags of `other`.
            pub const fn remove(&mut self, other: Self) {
                self.0 &= !other.0;
            }
        }
        impl ::std::ops::BitOr for #name {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }
        impl ::std::ops::BitAnd for #name {
            type Output = Self;
            fn bitand(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }
        }
    }
}

/// Generates a struct with a method to read and one to write each field of a `bitset`.
pub(crate) fn set(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let DeclKind::Bitset(set) = &declaration.kind else {
        return TokenStream::new();
    };
    let name = ident(scope.generator.names.item(declaration.id));
    let holder = scope.primitive(set.holder());
    let definition = definition(scope, declaration, &name, &holder);
    let mut claims = Claims::default();
    for taken in ["bits", "from_bits"] {
        claims.reserve(taken);
    }
    let fields = all_fields(scope, declaration);
    let fields = fields.into_iter().map(|field| {
        let claimant = Claimant::new(&field.name, &field.location);
        let getter = claim(
            scope,
            &mut claims,
            &field.annotations,
            claimant.clone(),
            || snake(&field.name),
        );
        let setter = claim(scope, &mut claims, &[], claimant, || {
            format!("set_{}", snake(&field.name))
        });
        accessors(scope, field, set.holder(), &getter, &setter)
    });
    let integer = integer(&holder);
    quote! {
        #definition
        impl #name {
            #(#fields)*
            #integer
        }
    }
}

/// Generates the struct, and its encoding.
fn definition(
    scope: &Scope<'_>,
    declaration: &Declaration,
    name: &Ident,
    holder: &TokenStream,
) -> TokenStream {
    let what = declaration.kind.describe();
    let doc = doc(&declaration.doc, &format!("`{what} {}`.", declaration.name));
    let [marshal, unmarshal, encoder, decoder, result, error] = [
        "Marshal",
        "Unmarshal",
        "Encoder",
        "Decoder",
        "Result",
        "CdrError",
    ]
    .map(|name| scope.name(name));
    quote! {
        #doc
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct #name(#holder);
        impl #marshal for #name {
            fn marshal(&self, out: &mut #encoder<'_>) -> #result<(), #error> {
                self.0.marshal(out)
            }
        }
        impl #unmarshal for #name {
            const MIN_SIZE: usize = <#holder>::MIN_SIZE;
            fn unmarshal(input: &mut #decoder<'_>) -> #result<Self, #error> {
                #holder::unmarshal(input).map(Self)
            }
        }
    }
}

/// Generates the access to the value as its integer.
fn integer(holder: &TokenStream) -> TokenStream {
    quote! {
        /// Returns all bits.
        pub const fn bits(self) -> #holder {
            self.0
        }
        /// Creates the value of these bits, without a check of their meaning.
        pub const fn from_bits(bits: #holder) -> Self {
            Self(bits)
        }
    }
}

/// Returns a bitset's fields, those of its bases first.
fn all_fields<'a>(scope: &Scope<'a>, declaration: &'a Declaration) -> Vec<&'a Bitfield> {
    let mut chain = Vec::new();
    let mut next = Some(declaration);
    while let Some(DeclKind::Bitset(set)) = next.map(|declaration| &declaration.kind) {
        chain.push(set);
        next = set.base.map(|base| &scope.generator.spec[base]);
    }
    chain.iter().rev().flat_map(|set| &set.fields).collect()
}

/// Generates the methods that read and write a field.
fn accessors(
    scope: &Scope<'_>,
    field: &Bitfield,
    holder: Primitive,
    getter: &Ident,
    setter: &Ident,
) -> TokenStream {
    let doc_of_getter = doc(&field.doc, &format!("Field `{}`.", field.name));
    let doc_of_setter = format!(
        " Sets field `{}` to the lowest bits of the value, of which it has {}.",
        field.name, field.bits
    );
    let (ty, holder) = (scope.primitive(field.ty), scope.primitive(holder));
    let mask = hexadecimal(u64::MAX >> (64 - field.bits));
    let position = number(field.position);
    let is_signed = field.ty.integer_range().is_some_and(|(least, _)| least < 0);
    let read = if field.ty == Primitive::Boolean {
        quote!((self.0 >> #position) & 1 != 0)
    } else if is_signed {
        // The field's most significant bit is its sign.
        let (up, down) = (64 - field.position - field.bits, 64 - field.bits);
        let (up, down) = (number(up), number(down));
        quote!((((self.0 as u64) << #up) as i64 >> #down) as #ty)
    } else {
        quote!(((self.0 >> #position) & #mask) as #ty)
    };
    let value = quote!((value as #holder & #mask) << #position);
    quote! {
        #doc_of_getter
        #[allow(clippy::identity_op, clippy::unnecessary_cast)]
        pub const fn #getter(self) -> #ty {
            #read
        }
        #[doc = #doc_of_setter]
        #[allow(clippy::identity_op, clippy::unnecessary_cast)]
        pub const fn #setter(&mut self, value: #ty) {
            self.0 = self.0 & !(#mask << #position) | #value;
        }
    }
}

fn claim(
    scope: &Scope<'_>,
    claims: &mut Claims,
    annotations: &[punctual_idl::model::Annotation],
    claimant: Claimant,
    preferred: impl FnOnce() -> String,
) -> Ident {
    let generator = scope.generator;
    let chosen = chosen(annotations, generator.spec, &mut generator.errors.lock());
    ident(&claims.claim(
        chosen.unwrap_or_else(preferred),
        claimant,
        generator.spec,
        &mut generator.warnings.lock(),
    ))
}

fn hexadecimal(value: u64) -> Literal {
    format!("0x{value:x}")
        .parse()
        .unwrap_or_else(|_| Literal::u64_unsuffixed(value))
}
