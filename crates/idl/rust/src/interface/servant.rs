//! The trait that servants of an interface implement.

use proc_macro2::TokenStream;
use punctual_idl::model::{Declaration, Interface};
use quote::quote;

use super::call::{self, Call};
use crate::docs::doc_after;
use crate::names::{Companion, ident};
use crate::scope::Scope;

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
    let [send, sync, arc] = ["Send", "Sync", "Arc"].map(|name| scope.name(name));
    let doc = doc_after(
        &format!(
            "What an object of `interface {}` does: implement it and activate the implementation.",
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
    let methods = calls.iter().map(|call| {
        let (doc, signature) = (
            call.doc(generator),
            call.signature(scope, &TokenStream::new()),
        );
        quote!(#doc #signature;)
    });
    let shared = calls
        .iter()
        .map(|call| pass_on(scope, call, &quote!(#name)));
    let generic = scope.generic("T");
    quote! {
        #doc
        pub trait #name: #bounds { #(#methods)* }
        impl<#generic: #name + ?Sized> #name for #arc<#generic> { #(#shared)* }
    }
}

/// A shared servant does what the servant does.
fn pass_on(scope: &Scope<'_>, call: &Call<'_>, servant: &TokenStream) -> TokenStream {
    let signature = call.bare_signature(scope);
    let method = call.method_ident();
    let arguments = call.passed().map(|parameter| {
        let name = ident(&parameter.name);
        quote!(, #name)
    });
    let context = call.context_name().map(|name| quote!(, #name));
    quote! {
        #signature {
            #servant::#method(&**self #(#arguments)* #context)
        }
    }
}
