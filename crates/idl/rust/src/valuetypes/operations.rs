//! Trait of implementations of a valuetype's operations.

use proc_macro2::TokenStream;
use punctual_idl::model::Declaration;
use quote::quote;

use super::lineage::{has_operations, own_calls};
use crate::docs::doc;
use crate::interface::call::Call;
use crate::lints;
use crate::names::{Companion, ident};
use crate::scope::Scope;

pub(super) fn generate(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let generator = scope.generator;
    if !has_operations(generator, declaration.id) {
        return TokenStream::new();
    }
    let name = ident(
        generator
            .names
            .companion(declaration.id, Companion::Operations),
    );
    let doc = doc(
        &[],
        &format!(
            "Operations of `{}`: implement this trait and give the implementation to a factory. `this` is the value.",
            declaration.name
        ),
    );
    let bases: Vec<TokenStream> = generator
        .spec
        .bases(declaration.id)
        .iter()
        .filter(|&&base| has_operations(generator, base))
        .map(|&base| scope.companion(&generator.spec[base], Companion::Operations))
        .collect();
    let bounds = if bases.is_empty() {
        let [send, sync] = ["Send", "Sync"].map(|name| scope.name(name));
        quote!(#send + #sync + 'static)
    } else {
        quote!(#(#bases)+*)
    };
    let handle = scope.path(declaration);
    let calls = own_calls(generator, declaration.id);
    let methods = calls.iter().map(|call| method(scope, call, &handle));
    quote! {
        #doc
        pub trait #name: #bounds { #(#methods)* }
    }
}

fn method(scope: &Scope<'_>, call: &Call<'_>, handle: &TokenStream) -> TokenStream {
    let generator = scope.generator;
    let doc = call.doc(generator);
    let name = call.trait_method(generator);
    let this = call.locals().fresh("this");
    let passed = call.passed_signature(scope);
    let returns = call.return_type(scope);
    let count = 2 + call.passed().count() + usize::from(!call.context.is_empty());
    let largest = lints::largest(&generator.facts, call.raises);
    let lints = lints::method(&name.to_string(), count, &returns, largest);
    quote!(#doc #lints fn #name(&self, #this: &#handle #passed) -> #returns;)
}
