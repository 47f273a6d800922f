//! Generation of `HoldsValues`: values held by a graph release their own handles to it.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::Member;
use quote::quote;

use crate::scope::Scope;

/// Generates statements in which each field that may hold values releases its handles to `graph`.
pub(crate) fn adopt_members<'m>(
    scope: &Scope<'_>,
    fields: impl Iterator<Item = (&'m Ident, &'m Member)>,
) -> TokenStream {
    let generator = scope.generator;
    let holders = fields
        .filter(|(_, member)| generator.facts.holds_values(&member.ty))
        .map(|(field, _)| {
            let holds_values = scope.name("HoldsValues");
            quote!(#holds_values::adopt(&mut self.#field, graph);)
        });
    quote!(#(#holders)*)
}

/// Generates `impl HoldsValues` for a struct, if it may contain handles to values.
pub(crate) fn of_struct<'m>(
    scope: &Scope<'_>,
    name: &Ident,
    fields: impl Iterator<Item = (&'m Ident, &'m Member)>,
) -> TokenStream {
    let adopt = adopt_members(scope, fields);
    if adopt.is_empty() {
        return adopt;
    }
    let [holds_values, graph] = ["HoldsValues", "Graph"].map(|name| scope.name(name));
    quote! {
        impl #holds_values for #name {
            fn adopt(&mut self, graph: &#graph) {
                #adopt
            }
        }
    }
}
