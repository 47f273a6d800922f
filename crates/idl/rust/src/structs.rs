//! Mapping of `struct` to a struct with public fields.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{Declaration, Type};
use quote::quote;

use crate::docs::doc;
use crate::members::Fields;
use crate::names::ident;
use crate::scope::Scope;

pub(crate) fn generate(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let generator = scope.generator;
    let name = ident(generator.names.item(declaration.id));
    let doc = doc(&declaration.doc, &format!("`struct {}`.", declaration.name));
    let fields = Fields::new(scope, declaration);
    let fact = generator.facts.of(&Type::Named(declaration.id));
    let is_plain_data = fact.plain_data.is_some();
    let derive = fields.derive(scope, is_plain_data);
    // A struct of numbers is copied whole where its memory layout can be that of the wire.
    let layout = is_plain_data.then(|| quote!(#[repr(C)]));
    let declarations = fields.declarations(scope);
    let default_impl = fields.default_impl(scope, &name);
    if generator
        .facts
        .is_process_local(&Type::Named(declaration.id))
    {
        let derive = fields.derive_for_staying(scope);
        let debug = opaque_debug(scope, &name);
        return quote! {
            #doc
            #derive
            pub struct #name { #declarations }
            #default_impl
            #debug
        };
    }
    let codec = if is_plain_data {
        fields.plain_codec(scope, &name)
    } else {
        fields.codec_impls(scope, &name)
    };
    let holds_values = fields.holds_values_impl(scope, &name);
    quote! {
        #doc
        #derive
        #layout
        pub struct #name { #declarations }
        #default_impl
        #codec
        #holds_values
    }
}

/// Generates `impl Debug` that shows only the type's name, for a struct with local objects.
pub(crate) fn opaque_debug(scope: &Scope<'_>, name: &Ident) -> TokenStream {
    let fmt = scope.name("fmt");
    let text = name.to_string();
    quote! {
        impl #fmt::Debug for #name {
            fn fmt(&self, f: &mut #fmt::Formatter<'_>) -> #fmt::Result {
                f.debug_struct(#text).finish_non_exhaustive()
            }
        }
    }
}
