//! Mapping of `interface`: a reference for callers, a trait for servants, a skeleton between a
//! request and the servant, and an error for each operation that raises exceptions.

mod abstract_interface;
pub(crate) mod bases;
pub(crate) mod call;
mod collocated;
mod copied;
mod deferred;
mod described;
mod dispatch;
pub(crate) mod errors;
mod interpreted;
mod later;
mod local;
mod long;
mod reference;
mod reference_path;
mod reply_handler;
mod request;
mod servant;
mod skeleton;
mod timing;
mod twin;

use proc_macro2::TokenStream;
use punctual_idl::model::{Declaration, Interface, InterfaceFlavour};
use quote::quote;

use crate::scope::Scope;

pub(crate) fn generate(
    scope: &Scope<'_>,
    declaration: &Declaration,
    interface: &Interface,
) -> TokenStream {
    let options = scope.generator.options;
    let definition = match interface.flavour {
        InterfaceFlavour::Local => local::generate(scope, declaration, interface),
        InterfaceFlavour::Abstract => abstract_interface::generate(scope, declaration, interface),
        InterfaceFlavour::Plain => {
            let reference = reference::generate(scope, declaration);
            let server = options.server.then(|| {
                let servant = servant::generate(scope, declaration, interface);
                let skeleton = skeleton::generate(scope, declaration);
                // No caller waits for a reply handler's answer.
                let is_handler = scope.generator.handlers.is_handler(declaration.id);
                let later = (!is_handler).then(|| later::generate(scope, declaration, interface));
                quote!(#servant #skeleton #later)
            });
            let handler = reply_handler::generate(scope, declaration);
            quote!(#reference #server #handler)
        }
    };
    let errors = errors::of(scope, declaration.id);
    quote!(#definition #errors)
}
