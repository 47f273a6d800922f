//! What an operation with `raises` may fail with: an enum of its exceptions and the system's.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{DeclId, DeclKind, Declaration, Type};
use quote::quote;

use super::call::{self, Call};
use crate::Generator;
use crate::layout::Piece;
use crate::lints;
use crate::names::Claims;
use crate::scope::Scope;

/// The enums for the calls that an interface declares.
pub(super) fn of(scope: &Scope<'_>, interface: DeclId) -> TokenStream {
    let mut calls = call::own(scope.generator, interface);
    calls.retain(|call| !call.raises.is_empty());
    if scope.depth() == 0 {
        // They are given attributes as items of the file.
        return calls.iter().map(|call| generate(scope, call)).collect();
    }
    scope.each_laid_out(Piece::Items, &calls, generate)
}

/// The enum, for a call that has one.
pub(crate) fn generate(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let generator = scope.generator;
    let Some(name) = call.error_name(generator) else {
        return TokenStream::new();
    };
    let text = format!(" What `{}` may fail with.", call.method);
    definition(scope, &name, &text, call.raises)
}

/// The enum of that name: a variant for each exception, and one for the system's.
pub(crate) fn definition(
    scope: &Scope<'_>,
    name: &Ident,
    text: &str,
    raises: &[DeclId],
) -> TokenStream {
    let generator = scope.generator;
    let [system_exception, operation_error] =
        ["SystemException", "operation_error"].map(|name| scope.name(name));
    let variants = variants(generator, raises);
    let (names, sizes): (Vec<String>, Vec<u64>) = variants
        .iter()
        .map(|(exception, variant)| {
            let size = generator.facts.of(&Type::Named(exception.id)).rust_size;
            (variant.to_string(), size)
        })
        .chain([("System".to_owned(), 16)])
        .unzip();
    let lints = lints::variants(&name.to_string(), &names, &sizes);
    // Of a native type, the Rust type that stands for it.
    let exceptions: Vec<TokenStream> = variants
        .iter()
        .map(|(exception, _)| scope.bare(&Type::Named(exception.id)))
        .collect();
    let docs: Vec<String> = variants
        .iter()
        .map(|(exception, _)| format!(" The servant raised `{}`.", exception.name))
        .collect();
    let (natives, raised): (Vec<usize>, Vec<usize>) =
        (0..variants.len()).partition(|&at| matches!(variants[at].0.kind, DeclKind::Native));
    let variants: Vec<Ident> = variants.into_iter().map(|(_, variant)| variant).collect();
    let listed = |places: Vec<usize>| {
        let listed = places.into_iter().map(|at| {
            let (variant, exception) = (&variants[at], &exceptions[at]);
            quote!(#variant(#exception))
        });
        quote!([#(#listed),*])
    };
    let natives = (!natives.is_empty())
        .then(|| listed(natives))
        .map(|natives| quote!(, #natives));
    let raised = listed(raised);
    quote! {
        #[doc = #text]
        #lints
        #[derive(Clone, PartialEq)]
        pub enum #name {
            #(#[doc = #docs] #variants(#exceptions),)*
            /// The call could not be made, or the servant raised a system exception.
            System(#system_exception),
        }
        #operation_error!(#name, #raised #natives);
    }
}

/// Each exception with its variant.
pub(crate) fn variants<'a>(
    generator: &'a Generator<'_>,
    raises: &[DeclId],
) -> Vec<(&'a Declaration, Ident)> {
    let mut claims = Claims::default();
    claims.reserve("System");
    raises
        .iter()
        .map(|&id| {
            let variant = claims.fresh(generator.names.item(id));
            (&generator.spec[id], variant)
        })
        .collect()
}
