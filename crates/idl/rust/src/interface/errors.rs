//! Errors of operations with `raises`: an enum of its exceptions and the system's.

use std::collections::HashMap;

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{DeclId, DeclKind, Declaration, Type};
use quote::quote;

use super::call::{self, Call};
use crate::Generator;
use crate::layout::{self, Piece};
use crate::lints;
use crate::names::{Claims, ident};
use crate::scope::Scope;

/// Generates the error enums for the calls that an interface declares.
pub(super) fn of(scope: &Scope<'_>, interface: DeclId) -> TokenStream {
    let mut calls = call::own(scope.generator, interface);
    calls.retain(|call| !call.raises.is_empty());
    if scope.depth() == 0 {
        // As items of the file they are given attributes.
        return calls.iter().map(|call| generate(scope, call)).collect();
    }
    let mut shapes = Shapes::default();
    let (mut laid_out, mut others) = (String::new(), Vec::new());
    for call in calls {
        match shapes.text(scope, &call) {
            Some(text) => laid_out.push_str(&text),
            None => others.push(call),
        }
    }
    let others = scope.each_laid_out(Piece::Items, &others, generate);
    if laid_out.is_empty() {
        return others;
    }
    let laid_out = scope.generator.pieces.keep_items(laid_out);
    quote!(#laid_out #others)
}

/// Cached texts of enums of the same exceptions, which differ only in names: they are laid out once
/// for names of the same length.
#[derive(Default)]
struct Shapes<'a>(HashMap<(&'a [DeclId], usize), Option<String>>);

impl<'a> Shapes<'a> {
    /// Returns the text of the error enum of a call; `None` for one that cannot be taken from the
    /// cache.
    fn text(&mut self, scope: &Scope<'_>, call: &Call<'a>) -> Option<String> {
        let name = call.error_name(scope.generator)?.to_string();
        if !lints_of(
            scope.generator,
            &name,
            &variants(scope.generator, call.raises),
        )
        .is_empty()
        {
            return None;
        }
        let stand_in = format!(
            "{STAND_IN}{}",
            "_".repeat(name.len().checked_sub(STAND_IN.len())?)
        );
        let shape = self.0.entry((call.raises, name.len())).or_insert_with(|| {
            let tokens = definition(scope, &ident(&stand_in), OF_STAND_IN, call.raises);
            layout::text(Piece::Items, scope.depth(), tokens)
        });
        let text = shape.as_ref()?.replace(&stand_in, &name);
        let of_call = format!(" Errors of `{}`.", call.method);
        Some(text.replacen(OF_STAND_IN, &of_call, 1))
    }
}

/// Beginning of the placeholder that stands for the name in a cached enum; underscores pad it to
/// the length of the name.
const STAND_IN: &str = "E__";

const OF_STAND_IN: &str = " Errors of the operation.";

/// Generates the enum, for a call that has one.
pub(crate) fn generate(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let generator = scope.generator;
    let Some(name) = call.error_name(generator) else {
        return TokenStream::new();
    };
    let text = format!(" Errors of `{}`.", call.method);
    definition(scope, &name, &text, call.raises)
}

/// Generates the attributes that clippy needs for an enum called `name`.
fn lints_of(
    generator: &Generator<'_>,
    name: &str,
    variants: &[(&Declaration, Ident)],
) -> TokenStream {
    let (names, sizes): (Vec<String>, Vec<u64>) = variants
        .iter()
        .map(|(exception, variant)| {
            let size = generator.facts.of(&Type::Named(exception.id)).rust_size;
            (variant.to_string(), size)
        })
        .chain([("System".to_owned(), 16)])
        .unzip();
    lints::variants(name, &names, &sizes)
}

/// Generates the enum called `name`: a variant for each exception, and one for the system's.
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
    let lints = lints_of(generator, &name.to_string(), &variants);
    // For a native type, the Rust type that stands for it.
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

/// Returns each exception with its variant.
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
