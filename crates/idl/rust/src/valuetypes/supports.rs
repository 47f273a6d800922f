//! Values that support interfaces: each is also a servant of them.

use proc_macro2::TokenStream;
use punctual_idl::model::{DeclId, Declaration};
use quote::quote;

use super::lineage::{holder_of_supported, is_abstract, supported};
use crate::interface::call::{self, Call};
use crate::names::{Companion, ident};
use crate::scope::Scope;

/// Returns the interfaces whose servants values of the type can be.
pub(super) fn servants(scope: &Scope<'_>, id: DeclId) -> Vec<DeclId> {
    let spec = scope.generator.spec;
    let mut supported = supported(spec, id);
    supported.retain(|&interface| scope.generator.options.server || is_abstract(spec, interface));
    supported
}

pub(super) fn generate(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let generator = scope.generator;
    let name = ident(generator.names.item(declaration.id));
    let impls = servants(scope, declaration.id)
        .into_iter()
        .map(|interface| {
            let servant = scope.companion(&generator.spec[interface], Companion::Servant);
            let calls = call::own(generator, interface);
            let holder = holder_of_supported(generator.spec, declaration.id, interface);
            let holder = scope.path(&generator.spec[holder]);
            let methods = calls.iter().map(|call| method(scope, call, &holder));
            quote!(impl #servant for #name { #(#methods)* })
        });
    quote!(#(#impls)*)
}

/// Generates a servant's method, which calls the method of the value's handle.
fn method(scope: &Scope<'_>, call: &Call<'_>, handle: &TokenStream) -> TokenStream {
    let signature = call.bare_signature(scope);
    let method = call.method_ident();
    let passed = call.passed().map(|parameter| {
        let name = ident(&parameter.name);
        quote!(, #name)
    });
    let context = call.context_name().map(|name| quote!(, #name));
    quote! {
        #signature {
            #handle::#method(self #(#passed)* #context)
        }
    }
}
