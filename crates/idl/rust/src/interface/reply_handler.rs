//! Reply handlers that are objects: the additions to `AMI_ClerkHandler` in addition to those of
//! every interface, and the delivery of a reply to one by a `sendc_` method (CORBA 3.3 part 1,
//! §17.8).

use proc_macro2::{Ident, TokenStream};
use punctual_idl::implied::Reply;
use punctual_idl::model::{DeclId, Declaration};
use quote::quote;

use super::call::{self, Call, tuple};
use super::servant::pass;
use crate::names::{Companion, ident};
use crate::scope::Scope;

/// Generates the conversions by which references and servants of a handler interface are accepted
/// as reply handlers.
pub(super) fn generate(scope: &Scope<'_>, declaration: &Declaration) -> Option<TokenStream> {
    let generator = scope.generator;
    if !generator.handlers.is_handler(declaration.id) {
        return None;
    }
    let handler_interface = scope.name("handler_interface");
    let name = ident(generator.names.item(declaration.id));
    let servant = generator.options.server.then(|| {
        let servant = generator
            .names
            .companion(declaration.id, Companion::Servant);
        let servant = ident(servant);
        quote!(, #servant)
    });
    Some(quote!(#handler_interface!(#name #servant);))
}

/// Handler parameter of a `sendc_` method.
pub(super) struct HandlerParameter {
    /// Trait that the handler implements.
    pub(super) bound: TokenStream,
    /// Method that converts the handler to a callback, with the arguments of the method.
    pub(super) into: TokenStream,
}

pub(super) fn taken(
    scope: &Scope<'_>,
    call: &Call<'_>,
    object: &TokenStream,
    value: &TokenStream,
    error: &TokenStream,
) -> HandlerParameter {
    let generator = scope.generator;
    let handler = generator.handlers.of(call.owner.id);
    let (Some(handler), Some(reply)) = (handler, call.reply(generator)) else {
        let [reply_handler, into] = ["ReplyHandler", "Into"].map(|name| scope.name(name));
        return HandlerParameter {
            bound: quote!(#into<#reply_handler<#value, #error>>),
            into: quote!(into()),
        };
    };
    let into = scope.name("IntoReplyHandler");
    let path = scope.path(&generator.spec[handler]);
    let delivery = delivery(scope, handler, reply);
    HandlerParameter {
        bound: quote!(#into<#path, #value, #error>),
        into: quote!(into_reply_handler(#delivery, #object)),
    }
}

/// Generates the delivery of a reply to an object's operations, and to a servant.
fn delivery(scope: &Scope<'_>, handler: DeclId, reply: Reply) -> TokenStream {
    let generator = scope.generator;
    let calls = call::all(generator, handler);
    let find = |id: DeclId| calls.iter().find(|call| call.declaration.id == id);
    let (Some(results), Some(exception)) = (find(reply.results), find(reply.exception)) else {
        return TokenStream::new();
    };
    let mut locals = results.locals();
    let names = Locals {
        replied: locals.fresh("reply"),
        error: locals.fresh("error"),
        orb: locals.fresh("orb"),
        holder: locals.fresh("holder"),
    };
    let [object, servant] = ["object", "servant"].map(|name| locals.fresh(name));
    let (replied, orb) = (&names.replied, &names.orb);
    let handler = &generator.spec[handler];
    let path = scope.path(handler);
    let delivery = scope.name("Delivery");
    let to_object = matched(scope, (results, exception), &names, &|call, arguments| {
        let method = call.method_ident();
        quote!(#object.#method(#(#arguments),*))
    });
    let to_servant = if generator.options.server {
        let matched = matched(scope, (results, exception), &names, &|call, arguments| {
            let of = scope.companion(call.owner, Companion::Servant);
            let method = call.trait_method(generator);
            quote!(#of::#method(#servant #(, #arguments)*))
        });
        let of = scope.companion(handler, Companion::Servant);
        quote!(|#servant: &dyn #of, #replied, #orb| #matched)
    } else {
        quote!(|#servant: &::std::convert::Infallible, _, _| match *#servant {})
    };
    quote! {
        #delivery {
            to_object: |#object: &#path, #replied, #orb| #to_object,
            to_servant: #to_servant,
        }
    }
}

/// Names of the locals at the delivery of a reply.
struct Locals {
    replied: Ident,
    error: Ident,
    orb: Ident,
    holder: Ident,
}

/// Generates the call of the handler's operation for results, or of its operation for an exception.
fn matched(
    scope: &Scope<'_>,
    (results, exception): (&Call<'_>, &Call<'_>),
    names: &Locals,
    call: &dyn Fn(&Call<'_>, &[TokenStream]) -> TokenStream,
) -> TokenStream {
    let [ok, err, some, held] = ["Ok", "Err", "Some", "held"].map(|name| scope.name(name));
    let Locals {
        replied,
        error,
        orb,
        holder,
    } = names;
    let parameters = results.parameters.iter();
    let (pattern, passed): (Vec<TokenStream>, Vec<TokenStream>) = parameters
        .map(|parameter| {
            let name = ident(&parameter.name);
            (quote!(#name), pass(scope, parameter, &name, false))
        })
        .unzip();
    let pattern = tuple(&pattern);
    let of_results = call(results, &passed);
    let is_non_nil = exception.parameters.iter().any(|p| p.value.non_nil);
    let passed = match is_non_nil {
        true => quote!(&#holder),
        false => quote!(#some(&#holder)),
    };
    let of_exception = call(exception, &[passed]);
    quote! {
        match #replied {
            #ok(#pattern) => #of_results,
            #err(#error) => {
                let #holder = #held(&#error, #orb)?;
                #of_exception
            }
        }
    }
}
