//! Mapping of `exception` to a struct that is a `std::error::Error`.

use proc_macro2::TokenStream;
use punctual_idl::model::Declaration;
use quote::quote;

use crate::docs::doc;
use crate::members::Fields;
use crate::names::ident;
use crate::scope::Scope;

pub(crate) fn generate(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let name = ident(scope.generator.names.item(declaration.id));
    let doc = doc(
        &declaration.doc,
        &format!("`exception {}`.", declaration.name),
    );
    let fields = Fields::new(scope, declaration);
    let derive = fields.derive(scope, false);
    let definition = if fields.is_empty() {
        quote!(pub struct #name;)
    } else {
        let declarations = fields.declarations(scope);
        quote!(pub struct #name { #declarations })
    };
    let default_impl = fields.default_impl(scope, &name);
    let codec_impls = fields.codec_impls(scope, &name);
    let user_exception = scope.name("user_exception");
    let repository_id = &declaration.repository_id;
    let text = &declaration.absolute_name()[2..];
    // An exception is displayed as its IDL name, and its members when it has any.
    let members = (!fields.is_empty()).then(|| quote!(, members));
    quote! {
        #doc
        #derive
        #definition
        #default_impl
        #codec_impls
        #user_exception!(#name, #repository_id, #text #members);
    }
}
