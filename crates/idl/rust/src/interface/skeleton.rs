//! The skeleton: a request's arguments to a servant's method, its results to the reply.

use proc_macro2::{Ident, Literal, TokenStream};
use punctual_idl::model::{Declaration, Direction};
use quote::quote;

use super::call::{self, Call, Parameter, Value, tuple};
use super::servant::pass;
use super::{dispatch, errors};
use crate::codec::Place;
use crate::members::sequence;
use crate::names::{Claims, Companion, ident};
use crate::scope::Scope;
use crate::types::{Form, form};

pub(crate) fn generate(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let generator = scope.generator;
    let name = ident(generator.names.item(declaration.id));
    let skeleton = ident(
        generator
            .names
            .companion(declaration.id, Companion::Skeleton),
    );
    let servant_trait = scope.companion(declaration, Companion::Servant);
    let [implements, servant, arc] = ["Implements", "Servant", "Arc"].map(|name| scope.name(name));
    let [identity, send, sync] = ["Identity", "Send", "Sync"].map(|name| scope.name(name));
    scope.use_methods_of("Interface");
    let generic = scope.generic("T");
    let calls = call::all(generator, declaration.id);
    let dispatch = dispatch(scope, &calls);
    let provide = provide(scope, declaration, &generic);
    let (numbered, answers) = if calls.is_empty() {
        Default::default()
    } else {
        let answers = answers(scope, &calls);
        let answers = quote!(impl<#generic: #servant_trait> #skeleton<#generic> { #answers });
        (numbered(scope, &calls), answers)
    };
    quote! {
        impl<#generic: #servant_trait> #implements<#generic> for #name {
            fn skeleton(servant: #generic) -> #arc<dyn #servant> {
                #arc::new(#skeleton(servant))
            }
        }
        struct #skeleton<#generic>(#generic);
        impl<#generic: #servant_trait> #servant for #skeleton<#generic> {
            fn repository_ids(&self) -> &'static [&'static str] {
                #name::REPOSITORY_IDS
            }
            #dispatch
            #numbered
            fn identity(&self) -> #identity {
                #servant_trait::__identity(&self.0)
            }
            fn implementation(&self) -> &(dyn ::std::any::Any + #send + #sync) {
                &self.0
            }
            #provide
        }
        #answers
    }
}

/// The servant as every trait that a stub may call it by: the interface's and its bases'.
fn provide(scope: &Scope<'_>, declaration: &Declaration, servant: &Ident) -> TokenStream {
    let spec = scope.generator.spec;
    let [provided, views] = ["Provided", "views"].map(|name| scope.name(name));
    let ancestors = spec.ancestors(declaration.id).into_iter().rev();
    let traits = [declaration.id]
        .into_iter()
        .chain(ancestors)
        .map(|id| scope.companion(&spec[id], Companion::Servant));
    quote! {
        fn provide(&self) -> #provided<'_> {
            #provided::new(&self.0, const { #views![#servant as #(dyn #traits),*] })
        }
    }
}

/// From an operation's name to what answers it.
fn dispatch(scope: &Scope<'_>, calls: &[Call<'_>]) -> TokenStream {
    let returns = returns(scope);
    let call_type = scope.name("ServerCall");
    let arms = calls
        .iter()
        .map(|call| {
            let answer = answer_name(call);
            (call.wire_name.as_str(), quote!(self.#answer(call)))
        })
        .collect();
    let body = dispatch::generate(scope, arms, &otherwise(scope));
    quote!(fn dispatch(&self, call: &mut #call_type<'_>) -> #returns { #body })
}

/// The operations' names, and from the place of a name there to what answers it.
fn numbered(scope: &Scope<'_>, calls: &[Call<'_>]) -> TokenStream {
    let returns = returns(scope);
    let call_type = scope.name("ServerCall");
    let otherwise = otherwise(scope);
    let names = calls.iter().map(|call| &call.wire_name);
    let arms = calls.iter().enumerate().map(|(number, call)| {
        let (number, answer) = (Literal::usize_unsuffixed(number), answer_name(call));
        quote!(#number => self.#answer(call),)
    });
    quote! {
        fn operations(&self) -> &'static [&'static str] {
            &[#(#names),*]
        }
        fn upcall(&self, operation: usize, call: &mut #call_type<'_>) -> #returns {
            match operation {
                #(#arms)*
                _ => #otherwise,
            }
        }
    }
}

/// A method for each operation, so that what answers it stands in one place, however it is found.
fn answers(scope: &Scope<'_>, calls: &[Call<'_>]) -> TokenStream {
    let returns = returns(scope);
    let call_type = scope.name("ServerCall");
    let answers = calls.iter().map(|call| {
        let (name, body) = (answer_name(call), arm(scope, call));
        quote!(fn #name(&self, call: &mut #call_type<'_>) -> #returns #body)
    });
    quote!(#(#answers)*)
}

/// No method of the servant's trait, which a skeleton may have as well.
fn answer_name(call: &Call<'_>) -> Ident {
    ident(&format!("answer_{}", call.method))
}

fn returns(scope: &Scope<'_>) -> TokenStream {
    let [result, dispatched, error] =
        ["Result", "Dispatched", "DispatchError"].map(|name| scope.name(name));
    quote!(#result<#dispatched, #error>)
}

fn otherwise(scope: &Scope<'_>) -> TokenStream {
    let err = scope.name("Err");
    quote!(#err(call.bad_operation()))
}

/// One operation: arguments, upcall, reply.
fn arm(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let mut locals = Claims::default();
    locals.reserve("call");
    let names: Vec<Ident> = call
        .parameters
        .iter()
        .map(|parameter| locals.fresh(&parameter.name))
        .collect();
    let named: Vec<(&Parameter<'_>, &Ident)> = call.parameters.iter().zip(&names).collect();
    let context = (!call.context.is_empty()).then(|| locals.fresh("context"));

    let mut arguments: Vec<TokenStream> = named
        .iter()
        .filter(|(parameter, _)| parameter.direction != Direction::Out)
        .map(|(parameter, name)| argument(scope, parameter, name))
        .collect();
    let mut passed: Vec<TokenStream> = named
        .iter()
        .filter(|(parameter, _)| parameter.direction != Direction::Out)
        .map(|(parameter, name)| pass(scope, parameter, name))
        .collect();
    if let Some(name) = &context {
        let ty = scope.name("Context");
        scope.use_methods_of("Unmarshal");
        arguments.push(quote!(let #name = #ty::unmarshal(call.arguments())?;));
        passed.push(quote!(&#name));
    }

    let returned = call.returns.map(|value| (value, locals.fresh("result")));
    let outs = named
        .iter()
        .filter(|(parameter, _)| parameter.direction == Direction::Out)
        .map(|(_, name)| quote!(#name));
    let received: Vec<TokenStream> = returned
        .iter()
        .map(|(_, name)| quote!(#name))
        .chain(outs)
        .collect();
    let replied: Vec<(Value<'_>, &Ident)> = returned
        .iter()
        .map(|(value, name)| (*value, name))
        .chain(
            named
                .iter()
                .filter(|(parameter, _)| parameter.direction != Direction::In)
                .map(|(parameter, name)| (parameter.value, *name)),
        )
        .collect();

    let reply = reply(scope, &replied, &mut locals);
    let servant = scope.companion(call.owner, Companion::Servant);
    let method = call.trait_method(scope.generator);
    let upcall = quote!(#servant::#method(&self.0 #(, #passed)*));
    let rest = if call.raises.is_empty() {
        let upcall = if received.is_empty() {
            quote!(#upcall?;)
        } else {
            let received = tuple(&received);
            quote!(let #received = #upcall?;)
        };
        quote!(#upcall #reply)
    } else {
        answer(scope, call, &upcall, &tuple(&received), &reply)
    };
    quote!({ #(#arguments)* #rest })
}

/// Unmarshals an argument into a local: a view of the request where it can be one.
fn argument(scope: &Scope<'_>, parameter: &Parameter<'_>, name: &Ident) -> TokenStream {
    let Value { ty, non_nil } = parameter.value;
    let input = quote!(call.arguments());
    if parameter.direction == Direction::InOut {
        let value = scope.unmarshal(ty, non_nil, &input);
        return quote!(let mut #name = #value?;);
    }
    let value = match form(scope.generator.spec, ty) {
        Form::Text | Form::Sequence(_) => scope.unmarshal_view(ty, &input),
        _ => scope.unmarshal(ty, non_nil, &input),
    };
    quote!(let #name = #value?;)
}

/// Marshals the results: the return value, then inout and out parameters.
fn reply(scope: &Scope<'_>, replied: &[(Value<'_>, &Ident)], locals: &mut Claims) -> TokenStream {
    let ok = scope.name("Ok");
    let out = locals.fresh("out");
    let steps: Vec<TokenStream> = replied
        .iter()
        .map(|(value, name)| {
            let place = Place::value(quote!(#name));
            scope.marshal(value.ty, value.non_nil, &place, &quote!(#out))
        })
        .collect();
    match steps.as_slice() {
        [] => quote!(call.reply(|_| #ok(()))),
        [one] => quote!(call.reply(|#out| #one)),
        _ => {
            let body = sequence(steps, &ok);
            quote!(call.reply(|#out| { #body }))
        }
    }
}

/// The results, or the exception that was raised instead.
fn answer(
    scope: &Scope<'_>,
    call: &Call<'_>,
    upcall: &TokenStream,
    received: &TokenStream,
    reply: &TokenStream,
) -> TokenStream {
    let [ok, err] = ["Ok", "Err"].map(|name| scope.name(name));
    let error = call.error_type(scope);
    let raised = errors::variants(scope.generator, call.raises)
        .into_iter()
        .map(|(_, variant)| quote!(#err(#error::#variant(exception)) => call.raise(&exception),));
    quote! {
        match #upcall {
            #ok(#received) => #reply,
            #(#raised)*
            #err(#error::System(exception)) => #err(exception.into()),
        }
    }
}
