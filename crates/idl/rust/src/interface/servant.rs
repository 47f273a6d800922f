//! Trait that servants of an interface implement, and the passing of arguments to it.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{Declaration, Interface};
use quote::quote;

use super::call::{self, Call, Parameter, Value};
use crate::docs::doc_after;
use crate::layout::{self, Piece};
use crate::names::{Companion, ident};
use crate::scope::Scope;
use crate::types::{Form, form};

pub(crate) fn generate(
    scope: &Scope<'_>,
    declaration: &Declaration,
    interface: &Interface,
) -> TokenStream {
    let generator = scope.generator;
    let name = ident(
        generator
            .names
            .companion(declaration.id, Companion::Servant),
    );
    let [send, sync, identity] = ["Send", "Sync", "Identity"].map(|name| scope.name(name));
    let doc = doc_after(
        &format!(
            "Servant of `interface {}`: implement this trait and activate the implementation in an object adapter.",
            declaration.name
        ),
        &declaration.doc,
    );
    let bases: Vec<TokenStream> = interface
        .bases
        .iter()
        .map(|&base| scope.companion(&generator.spec[base], Companion::Servant))
        .collect();
    let bounds = if bases.is_empty() {
        quote!(#send + #sync + 'static)
    } else {
        quote!(#(#bases)+*)
    };
    let calls = call::own(generator, declaration.id);
    let methods = scope.each_laid_out(Piece::Signatures, &calls, |scope, call| {
        let doc = call.doc(generator);
        let signature = call.signature(scope, &TokenStream::new());
        quote!(#doc #signature;)
    });
    let reference = ident(generator.names.item(declaration.id));
    let delegates = delegates(scope, &calls, &name, &reference);
    quote! {
        #doc
        pub trait #name: #bounds {
            #methods
            #[doc(hidden)]
            fn __identity(&self) -> #identity {
                #identity::of::<#reference, Self>(self)
            }
        }
        #delegates
    }
}

/// Generates implementations of the trait for types that hold a servant (`Arc`, `Box`, a part of an
/// object), which delegate to that servant.
fn delegates(
    scope: &Scope<'_>,
    calls: &[Call<'_>],
    name: &Ident,
    reference: &Ident,
) -> TokenStream {
    let delegate = scope.name("delegate");
    let signatures = scope.each_laid_out(Piece::Signatures, calls, |scope, call| {
        let signature = call.bare_signature(scope);
        quote!(#signature;)
    });
    layout::signatures(&delegate, name, reference, &signatures)
}

/// Generates the passing of a local to the servant: itself, or a reference to it, by which it may
/// be changed.
pub(super) fn pass(
    scope: &Scope<'_>,
    parameter: &Parameter<'_>,
    name: &Ident,
    is_changed: bool,
) -> TokenStream {
    let Value { ty, non_nil } = parameter.value;
    if is_changed {
        return quote!(&mut #name);
    }
    match form(scope.generator.spec, ty) {
        Form::Scalar => quote!(#name),
        Form::Reference | Form::Local if !non_nil => quote!(#name.as_ref()),
        _ => quote!(&#name),
    }
}
