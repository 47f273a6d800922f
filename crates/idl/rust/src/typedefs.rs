//! Mapping of `typedef` to a type alias.

use proc_macro2::TokenStream;
use punctual_idl::model::{Declaration, Typedef};
use quote::quote;

use crate::docs::doc;
use crate::names::ident;
use crate::scope::Scope;

pub(crate) fn generate(
    scope: &Scope<'_>,
    declaration: &Declaration,
    typedef: &Typedef,
) -> TokenStream {
    let name = ident(scope.generator.names.item(declaration.id));
    let doc = doc(
        &declaration.doc,
        &format!("`typedef {}`.", declaration.name),
    );
    // The uses of the alias state whether a reference may be nil.
    let ty = scope.bare(&typedef.ty);
    quote!(#doc pub type #name = #ty;)
}
