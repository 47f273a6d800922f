//! Description of the requests of an interface, for code other than stub and skeleton: a table of
//! its own operations.

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};
use punctual_idl::model::{DeclId, Declaration, Direction, Type};
use quote::quote;

use super::call::{self, Call};
use crate::Generator;
use crate::scope::Scope;

/// Returns whether interfaces get a table that describes their operations.
pub(super) fn is_chosen(generator: &Generator<'_>) -> bool {
    generator.options.type_codes
}

/// Generates the table of an interface that has operations.
pub(super) fn generate(
    scope: &Scope<'_>,
    declaration: &Declaration,
    reference: &Ident,
) -> Option<TokenStream> {
    let generator = scope.generator;
    let calls = call::own(generator, declaration.id);
    // The operations of reply handlers are described by the operations that they handle.
    if calls.is_empty() || !is_chosen(generator) || generator.handlers.is_handler(declaration.id) {
        return None;
    }
    let [described, types] = ["DescribedOperations", "OperationTypes"].map(|name| scope.name(name));
    let entries = calls.iter().map(|call| compact(entry(scope, call, &types)));
    let own_types = scope.laid_out_list(
        quote!(
            const OWN_TYPES: &'static [#types] = &[];
        ),
        &entries.collect::<Vec<_>>(),
    );
    Some(quote!(impl #described for #reference { #own_types }))
}

fn entry(scope: &Scope<'_>, call: &Call<'_>, types: &TokenStream) -> TokenStream {
    let name = &call.wire_name;
    let result = match call.returns {
        Some(value) => scope.describing(value.ty),
        None => scope.describing(&Type::Void),
    };
    let parameters = call.parameters.iter().map(|parameter| {
        let mode = scope.name("ParameterMode");
        let mode = match parameter.direction {
            Direction::In => quote!(#mode::In),
            Direction::Out => quote!(#mode::Out),
            Direction::InOut => quote!(#mode::InOut),
        };
        let (name, ty) = (parameter.idl_name, scope.describing(parameter.value.ty));
        quote!((#name, #mode, #ty))
    });
    let spec = scope.generator.spec;
    let travels = |id: &&DeclId| !matches!(spec[**id].kind, punctual_idl::model::DeclKind::Native);
    let exceptions = call.raises.iter().filter(travels);
    let exceptions = exceptions.map(|&id| scope.describing(&Type::Named(id)));
    let contexts = (!call.context.is_empty()).then(|| {
        let contexts = call.context;
        quote!(.with_contexts(&[#(#contexts),*]))
    });
    quote!(#types::new(#name, #result, &[#(#parameters),*], &[#(#exceptions),*])#contexts)
}

/// Formats tokens on one line, with the usual spaces.
fn compact(tokens: TokenStream) -> String {
    let mut text = String::new();
    let mut is_word = false;
    for token in tokens {
        let was_word = is_word;
        is_word = matches!(token, TokenTree::Ident(_) | TokenTree::Literal(_));
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::None => ("", ""),
                };
                text += open;
                text += &compact(group.stream());
                text += close;
            }
            TokenTree::Punct(mark) => match (mark.as_char(), mark.spacing()) {
                (c @ (',' | ';'), _) => text.extend([c, ' ']),
                ('=', Spacing::Alone) => text += " = ",
                (c, _) => text.push(c),
            },
            word => {
                if was_word {
                    text.push(' ');
                }
                text += &word.to_string();
            }
        }
    }
    text
}
