//! Mapping of `enum` to an enum without fields.

use proc_macro2::{Ident, Literal, TokenStream};
use punctual_idl::model::{Annotation, ConstValue, Declaration, Enum, Enumerator};
use quote::quote;

use crate::Generator;
use crate::docs::doc;
use crate::names::{Claimant, Claims, chosen, ident, upper_camel};
use crate::scope::Scope;
use crate::{annotations, lints};

pub(crate) fn generate(
    scope: &Scope<'_>,
    declaration: &Declaration,
    enumeration: &Enum,
) -> TokenStream {
    let name = ident(scope.generator.names.item(declaration.id));
    let doc_of_enum = doc(&declaration.doc, &format!("`enum {}`.", declaration.name));
    let names = variants(scope.generator, enumeration);
    let texts: Vec<String> = names.iter().map(Ident::to_string).collect();
    let lints = lints::variants(&name.to_string(), &texts, &[]);
    let values: Vec<Literal> = (0..)
        .map(Literal::u32_unsuffixed)
        .take(names.len())
        .collect();
    let enumerators = &enumeration.enumerators;
    let start = enumerators.iter().position(annotations::is_default_literal);
    let start = start.unwrap_or(0);
    let value = value(enumeration, &names);
    let value = value.map(|value| quote!(impl #name { #value }));
    let declared = names
        .iter()
        .zip(&values)
        .zip(&enumeration.enumerators)
        .enumerate()
        .map(|(i, ((variant, value), enumerator))| {
            let doc = doc(
                &enumerator.doc,
                &format!("Enumerator `{}`.", enumerator.name),
            );
            let default = (i == start).then(|| quote!(#[default]));
            quote!(#doc #default #variant = #value)
        });
    let codec = codec_impls(scope, &name, &names, &values);
    quote! {
        #doc_of_enum
        #lints
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum #name { #(#declared),* }
        #value
        #codec
    }
}

/// Generates the codec: an enumerator is encoded as its position.
fn codec_impls(
    scope: &Scope<'_>,
    name: &Ident,
    variants: &[Ident],
    positions: &[Literal],
) -> TokenStream {
    let [marshal, unmarshal, encoder, decoder, result, error, ok, err] = [
        "Marshal",
        "Unmarshal",
        "Encoder",
        "Decoder",
        "Result",
        "CdrError",
        "Ok",
        "Err",
    ]
    .map(|name| scope.name(name));
    quote! {
        impl #marshal for #name {
            fn marshal(&self, out: &mut #encoder<'_>) -> #result<(), #error> {
                out.put_u32(*self as u32);
                #ok(())
            }
        }
        impl #unmarshal for #name {
            const MIN_SIZE: usize = 4;
            fn unmarshal(input: &mut #decoder<'_>) -> #result<Self, #error> {
                match input.get_u32()? {
                    #(#positions => #ok(Self::#variants),)*
                    unknown => #err(#error::UnknownEnumerator(unknown)),
                }
            }
        }
    }
}

/// Returns the variants' names, in the order of the enumerators.
pub(crate) fn variants(generator: &Generator<'_>, enumeration: &Enum) -> Vec<Ident> {
    let mut claims = Claims::default();
    enumeration
        .enumerators
        .iter()
        .map(|enumerator| {
            let preferred = chosen(
                &enumerator.annotations,
                generator.spec,
                &mut generator.errors.lock(),
            );
            let claimant = Claimant::new(&enumerator.name, &enumerator.location);
            ident(&claims.claim(
                preferred.unwrap_or_else(|| upper_camel(&enumerator.name)),
                claimant,
                generator.spec,
                &mut generator.warnings.lock(),
            ))
        })
        .collect()
}

/// Generates `fn value`, for an enum whose enumerators have values of their own.
fn value(enumeration: &Enum, names: &[Ident]) -> Option<TokenStream> {
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
