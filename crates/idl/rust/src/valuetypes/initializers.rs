//! Operations `factory`: the trait of their implementations, and their errors.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{Declaration, Factory, ValueType};
use quote::quote;

use crate::docs::doc_with;
use crate::interface::call::{self, Parameter, Value};
use crate::interface::errors;
use crate::lints;
use crate::names::{Claims, Companion, ident, snake, upper_camel};
use crate::scope::Scope;

/// Named initializer.
pub(super) struct Initializer<'a> {
    pub(super) factory: &'a Factory,
    pub(super) method: Ident,
    pub(super) parameters: Vec<Parameter<'a>>,
    error: String,
}

pub(super) fn all<'a>(
    scope: &Scope<'_>,
    declaration: &Declaration,
    value: &'a ValueType,
) -> Vec<Initializer<'a>> {
    let mut claims = Claims::default();
    let value_name = scope.generator.names.item(declaration.id).to_owned();
    let initializers = value.factories.iter().map(|factory| Initializer {
        factory,
        method: claims.fresh(&snake(&factory.name)),
        parameters: call::named(scope.generator, &factory.parameters),
        error: format!("{value_name}{}Error", upper_camel(&factory.name)),
    });
    initializers.collect()
}

pub(super) fn generate(
    scope: &Scope<'_>,
    declaration: &Declaration,
    value: &ValueType,
) -> TokenStream {
    let initializers = all(scope, declaration, value);
    if initializers.is_empty() {
        return TokenStream::new();
    }
    let names = &scope.generator.names;
    let name = ident(names.companion(declaration.id, Companion::Initializers));
    let text = format!(
        " Initializers of `{}`: implement this trait and give it to a factory.",
        declaration.name
    );
    let [send, sync] = ["Send", "Sync"].map(|name| scope.name(name));
    let state = scope.companion(declaration, Companion::State);
    let methods = initializers.iter().map(|initializer| {
        let doc = initializer.doc(scope);
        let signature = initializer.signature(scope, &TokenStream::new(), &state);
        quote!(#doc #signature;)
    });
    let errors = initializers.iter().map(|initializer| {
        let raises = &initializer.factory.raises;
        if raises.is_empty() {
            return TokenStream::new();
        }
        let name = ident(&initializer.error);
        let text = format!(" Errors of `{}`.", initializer.method);
        errors::definition(scope, &name, &text, raises)
    });
    quote! {
        #[doc = #text]
        pub trait #name: #send + #sync + 'static { #(#methods)* }
        #(#errors)*
    }
}

impl Initializer<'_> {
    pub(super) fn doc(&self, scope: &Scope<'_>) -> TokenStream {
        let names = &scope.generator.names;
        let raised = self.factory.raises.iter();
        let raised: String = raised
            .map(|&id| format!("`{}`, ", names.item(id)))
            .collect();
        let or = if raised.is_empty() { "A" } else { "or a" };
        let errors = format!("{raised}{or} system exception.");
        let fallback = format!("Initializer `{}`.", self.factory.name);
        doc_with(&self.factory.doc, &fallback, &["# Errors", "", &errors])
    }

    /// Generates `fn name(&self, …) -> Result<made, …>` with the attributes that clippy needs
    /// before it.
    pub(super) fn signature(
        &self,
        scope: &Scope<'_>,
        visibility: &TokenStream,
        made: &TokenStream,
    ) -> TokenStream {
        let method = &self.method;
        let parameters = self.parameters.iter().map(|Parameter { name, value, .. }| {
            let Value { ty, non_nil } = *value;
            let (name, ty) = (ident(name), scope.parameter(ty, non_nil));
            quote!(, #name: #ty)
        });
        let (result, error) = (scope.name("Result"), self.error(scope));
        let returns = quote!(#result<#made, #error>);
        let largest = lints::largest(&scope.generator.facts, &self.factory.raises);
        let count = 1 + self.parameters.len();
        let lints = lints::method(&method.to_string(), count, &returns, largest);
        quote!(#lints #visibility fn #method(&self #(#parameters)*) -> #returns)
    }

    fn error(&self, scope: &Scope<'_>) -> TokenStream {
        if self.factory.raises.is_empty() {
            return scope.name("SystemException");
        }
        let error = ident(&self.error);
        quote!(#error)
    }
}
