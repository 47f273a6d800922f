//! Mapping of a local interface: a trait whose objects never leave their process.

use proc_macro2::TokenStream;
use punctual_idl::model::{DeclKind, Declaration, Interface, InterfaceFlavour};
use quote::quote;

use super::call;
use crate::docs::doc_after;
use crate::names::ident;
use crate::scope::Scope;

pub(crate) fn generate(
    scope: &Scope<'_>,
    declaration: &Declaration,
    interface: &Interface,
) -> TokenStream {
    let generator = scope.generator;
    let name = ident(generator.names.item(declaration.id));
    let doc = doc_after(
        &format!(
            "`local interface {}`: implemented and used within one process.",
            declaration.name
        ),
        &declaration.doc,
    );
    let [send, sync] = ["Send", "Sync"].map(|name| scope.name(name));
    let bases = interface.bases.iter().filter_map(|&base| {
        let base = &generator.spec[base];
        let is_local = matches!(&base.kind,
            DeclKind::Interface(i) if i.flavour == InterfaceFlavour::Local);
        is_local.then(|| scope.path(base))
    });
    let methods = call::of_local(generator, declaration.id)
        .into_iter()
        .map(|call| {
            let (doc, signature) = (
                call.doc(generator),
                call.signature(scope, &TokenStream::new()),
            );
            quote!(#doc #signature;)
        });
    quote! {
        #doc
        pub trait #name: #(#bases +)* #send + #sync { #(#methods)* }
    }
}
