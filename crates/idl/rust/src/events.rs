//! Types of events: structs and unions with `@event`.

use proc_macro2::{Literal, TokenStream};
use punctual_idl::model::Declaration;
use quote::quote;

use crate::names::ident;
use crate::scope::Scope;

/// Generates the constant `EVENT_TYPE` and `impl EventValue` of a type with `@event`.
pub(crate) fn generate(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let generator = scope.generator;
    let Some(&number) = generator.spec.event_types.get(&declaration.id) else {
        return TokenStream::new();
    };
    let name = ident(generator.names.item(declaration.id));
    let number = Literal::i32_unsuffixed(number);
    let event_value = scope.name("EventValue");
    quote! {
        impl #name {
            /// Type of the events that carry such a value.
            pub const EVENT_TYPE: i32 = #number;
        }
        impl #event_value for #name {
            const EVENT_TYPE: i32 = Self::EVENT_TYPE;
        }
    }
}
