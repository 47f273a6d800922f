//! Traits of servants that answer later: by a response (AMH), and by a future. Also the adapters
//! from a future to a response, and from a response to the trait that callers within the process
//! use.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{Declaration, Direction, Interface, InterfaceFlavour};
use quote::quote;

use super::call::{self, Call, Parameter, Value, tuple};
use super::deferred::{result, value};
use super::skeleton;
use crate::docs::{doc, doc_after};
use crate::layout::Piece;
use crate::lints;
use crate::names::{Claims, Companion, ident};
use crate::scope::Scope;
use crate::types::{Form, form};

/// Generates the requested traits for an interface.
pub(super) fn generate(
    scope: &Scope<'_>,
    declaration: &Declaration,
    interface: &Interface,
) -> TokenStream {
    let options = scope.generator.options;
    // No caller waits for a reply handler's answer.
    let is_handler = scope.generator.handlers.is_handler(declaration.id);
    if !options.server || !options.answers_later() || is_handler {
        return TokenStream::new();
    }
    let calls = call::own(scope.generator, declaration.id);
    let servant = amh_trait(scope, (declaration, interface), &calls);
    let blocking = blocking(scope, declaration, &calls);
    let skeleton = skeleton::of_later(scope, declaration, interface.flavour);
    let futures = options.async_servants.then(|| {
        let servant = async_trait(scope, (declaration, interface), &calls);
        let answering = answering(scope, declaration, &calls);
        let activated = (interface.flavour == InterfaceFlavour::Plain).then(|| {
            let (name, servant) = names(scope, declaration, Companion::AsyncServant);
            let async_servant = scope.name("async_servant");
            quote!(#async_servant!(#name, #servant);)
        });
        quote!(#servant #answering #activated)
    });
    quote!(#servant #blocking #skeleton #futures)
}

/// Returns the names of the interface's reference type and of a type generated beside it.
fn names(scope: &Scope<'_>, declaration: &Declaration, companion: Companion) -> (Ident, Ident) {
    let names = &scope.generator.names;
    let companion = names.companion(declaration.id, companion);
    (ident(names.item(declaration.id)), ident(companion))
}

/// Generates the supertraits of a trait: the same traits of the bases.
fn bounds(scope: &Scope<'_>, interface: &Interface, companion: Companion) -> TokenStream {
    let [send, sync] = ["Send", "Sync"].map(|name| scope.name(name));
    let bases = interface.bases.iter();
    let bases: Vec<TokenStream> = bases
        .map(|&base| scope.companion(&scope.generator.spec[base], companion))
        .collect();
    match bases.as_slice() {
        [] => quote!(#send + #sync + 'static),
        bases => quote!(#(#bases)+*),
    }
}

/// Generates the AMH servant's trait. Each of its methods, unless one-way, has a `response`
/// parameter, by which the servant replies, now or later.
fn amh_trait(
    scope: &Scope<'_>,
    (declaration, interface): (&Declaration, &Interface),
    calls: &[Call<'_>],
) -> TokenStream {
    let (_, name) = names(scope, declaration, Companion::AmhServant);
    let bounds = bounds(scope, interface, Companion::AmhServant);
    let about = format!(
        "Servant of `interface {}` that answers later, by responses: implement this trait and activate `Amh::new(…)` \
         of the implementation.",
        declaration.name
    );
    let about = doc_after(&about, &declaration.doc);
    let methods = scope.each_laid_out(Piece::Signatures, calls, |scope, call| {
        let about = doc(&call.declaration.doc, &call.fallback_doc);
        let parameters = call.passed().count() + usize::from(!call.context.is_empty());
        let lints = lints::method(&call.method, 2 + parameters, &quote!(()), 0);
        let signature = amh_signature(scope, call).0;
        quote!(#about #lints #signature;)
    });
    quote! {
        #about
        pub trait #name: #bounds { #methods }
    }
}

/// Generates `fn name(&self, response: Response<…>, …)`, and returns it with the name of its
/// parameter `response`, which is another if a parameter of the operation has this name.
fn amh_signature(scope: &Scope<'_>, call: &Call<'_>) -> (TokenStream, Ident) {
    let name = call.method_ident();
    let (_, parameters) = passed(scope, call);
    let response = call.locals().fresh("response");
    if call.oneway {
        return (quote!(fn #name(&self #parameters)), response);
    }
    let ty = response_type(scope, call);
    (
        quote!(fn #name(&self, #response: #ty #parameters)),
        response,
    )
}

/// Returns the names of the parameters that the caller passes, and generates their declarations,
/// each preceded by a comma. `inout` parameters are passed like `in` ones: their new values are
/// among the results.
fn passed(scope: &Scope<'_>, call: &Call<'_>) -> (Vec<Ident>, TokenStream) {
    let mut names: Vec<Ident> = Vec::new();
    let parameters = call.passed().map(|parameter| {
        let name = ident(&parameter.name);
        let Value { ty, non_nil } = parameter.value;
        let ty = scope.parameter(ty, non_nil);
        names.push(name.clone());
        quote!(, #name: #ty)
    });
    let parameters: Vec<TokenStream> = parameters.collect();
    let context = call.context_name().map(|name| {
        let ty = scope.name("Context");
        names.push(name.clone());
        quote!(, #name: &#ty)
    });
    (names, quote!(#(#parameters)* #context))
}

/// Generates the argument that passes a parameter of an ordinary servant's method on to the servant
/// that answers later.
fn passed_on(scope: &Scope<'_>, parameter: &Parameter<'_>) -> TokenStream {
    let name = ident(&parameter.name);
    let Value { ty, non_nil } = parameter.value;
    match form(scope.generator.spec, ty) {
        _ if parameter.direction != Direction::InOut => quote!(#name),
        Form::Scalar => quote!(*#name),
        Form::Reference | Form::Local if !non_nil => quote!(#name.as_ref()),
        _ => quote!(&*#name),
    }
}

fn response_type(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let (response, value) = (scope.name("Response"), value(scope, call));
    if call.raises.is_empty() {
        return quote!(#response<#value>);
    }
    let error = call.error_type(scope);
    quote!(#response<#value, #error>)
}

/// Generates the adapter for collocated calls of a servant that answers later: they block until the answer.
fn blocking(scope: &Scope<'_>, declaration: &Declaration, calls: &[Call<'_>]) -> TokenStream {
    let (_, later) = names(scope, declaration, Companion::AmhServant);
    let (_, servant) = names(scope, declaration, Companion::Servant);
    let (blocking, generic) = (scope.name("Blocking"), scope.generic("T"));
    let methods = scope.each_laid_out(Piece::Methods, calls, |scope, call| {
        let (signature, body) = (call.bare_signature(scope), blocking_body(scope, call));
        quote!(#signature { #body })
    });
    quote! {
        impl<#generic: #later> #servant for #blocking<#generic> { #methods }
    }
}

fn blocking_body(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let later = scope.companion(call.owner, Companion::AmhServant);
    let (blocking, ok) = (scope.name("Blocking"), scope.name("Ok"));
    let method = call.trait_method(scope.generator);
    let mut locals = call.locals();
    let context = call.context_name().map(|name| quote!(#name));
    let names: Vec<TokenStream> = call
        .passed()
        .map(|parameter| passed_on(scope, parameter))
        .chain(context)
        .collect();
    if call.oneway {
        return quote!(#later::#method(&**#blocking::servant(self) #(, #names)*); #ok(()));
    }
    let (servant, response) = (locals.fresh("servant"), locals.fresh("response"));
    let answer = quote! {
        #blocking::call(self, |#servant, #response| #later::#method(#servant, #response #(, #names)*))
    };
    let changed = |parameter: &&Parameter<'_>| parameter.direction == Direction::InOut;
    if !call.parameters.iter().any(|one| changed(&one)) {
        return answer;
    }
    // The contents of a reply, of which `inout` parameters are assigned.
    let (mut brought, mut returned, mut assigned) = (Vec::new(), Vec::new(), Vec::new());
    if call.returns.is_some() {
        let name = locals.fresh("result");
        brought.push(quote!(#name));
        returned.push(quote!(#name));
    }
    for parameter in call.replied() {
        let new = locals.fresh(&format!("new_{}", parameter.name));
        brought.push(quote!(#new));
        match changed(&parameter) {
            true => {
                let name = ident(&parameter.name);
                assigned.push(quote!(*#name = #new;));
            }
            false => returned.push(quote!(#new)),
        }
    }
    let (brought, returned) = (tuple(&brought), tuple(&returned));
    let error = call.error_type(scope);
    quote! {
        let #brought = #answer?;
        #(#assigned)*
        #ok::<_, #error>(#returned)
    }
}

/// Generates the trait whose methods are `async`.
fn async_trait(
    scope: &Scope<'_>,
    (declaration, interface): (&Declaration, &Interface),
    calls: &[Call<'_>],
) -> TokenStream {
    let (_, name) = names(scope, declaration, Companion::AsyncServant);
    let bounds = bounds(scope, interface, Companion::AsyncServant);
    let about = format!(
        "Servant of `interface {}` with `async` operations: implement this trait with `async fn`, and activate \
         `Async::on(…)` of the implementation.",
        declaration.name
    );
    let about = doc_after(&about, &declaration.doc);
    let methods = scope.each_laid_out(Piece::Signatures, calls, |scope, call| {
        let about = call.doc(scope.generator);
        let (method, returns) = (call.method_ident(), result(scope, call));
        let mut count = 1;
        let parameters = call.passed().map(|parameter| {
            count += 1;
            let name = ident(&parameter.name);
            let ty = scope.owned(parameter.value.ty, parameter.value.non_nil);
            quote!(, #name: #ty)
        });
        let parameters: Vec<TokenStream> = parameters.collect();
        let context = call.context_name().map(|name| {
            let ty = scope.name("Context");
            quote!(, #name: #ty)
        });
        count += usize::from(context.is_some());
        let largest = lints::largest(&scope.generator.facts, call.raises);
        let lints = lints::method(&call.method, count, &returns, largest);
        let [future, send] = ["Future", "Send"].map(|name| scope.name(name));
        quote! {
            #about
            #lints
            fn #method(&self #(#parameters)* #context) -> impl #future<Output = #returns> + #send;
        }
    });
    quote! {
        #about
        pub trait #name: #bounds { #methods }
    }
}

/// Generates the adapter from a servant with `async` operations to one that answers later.
fn answering(scope: &Scope<'_>, declaration: &Declaration, calls: &[Call<'_>]) -> TokenStream {
    let (_, later) = names(scope, declaration, Companion::AmhServant);
    let (_, servant) = names(scope, declaration, Companion::AsyncServant);
    let (by_future, generic) = (scope.name("Async"), scope.generic("T"));
    let methods = scope.each_laid_out(Piece::Methods, calls, |scope, call| {
        let (signature, response) = amh_signature(scope, call);
        let body = answering_body(scope, call, &response);
        quote!(#signature { #body })
    });
    quote! {
        impl<#generic: #servant> #later for #by_future<#generic> { #methods }
    }
}

fn answering_body(scope: &Scope<'_>, call: &Call<'_>, response: &Ident) -> TokenStream {
    let trait_of = scope.companion(call.owner, Companion::AsyncServant);
    let (by_future, arc) = (scope.name("Async"), scope.name("Arc"));
    let mut locals: Claims = call.locals();
    locals.reserve(&response.to_string());
    let servant = locals.fresh("servant");
    let copies: Vec<TokenStream> = call
        .passed()
        .filter_map(|parameter| owned(scope, parameter))
        .collect();
    let context = call.context_name();
    let context_copy = context.as_ref().map(|name| {
        let clone = scope.name("Clone");
        quote!(let #name = #clone::clone(#name);)
    });
    let (names, _) = passed(scope, call);
    let method = call.trait_method(scope.generator);
    let future = quote!(async move { #trait_of::#method(&*#servant #(, #names)*).await });
    let begin = match call.oneway {
        true => quote!(#by_future::run(self, #future);),
        false => quote!(#by_future::answer(self, #response, #future);),
    };
    quote! {
        #(#copies)*
        #context_copy
        let #servant = #arc::clone(#by_future::servant(self));
        #begin
    }
}

/// Generates a statement that copies an argument to a variable of the parameter's name; `None` for
/// a scalar type, which is copied when it is passed.
fn owned(scope: &Scope<'_>, parameter: &Parameter<'_>) -> Option<TokenStream> {
    let name = ident(&parameter.name);
    let Value { ty, non_nil } = parameter.value;
    let to_owned = scope.name("ToOwned");
    Some(match form(scope.generator.spec, ty) {
        Form::Scalar => return None,
        Form::Reference | Form::Local if !non_nil => quote!(let #name = #name.cloned();),
        Form::Array if scope.generator.facts.is_boxed(ty) => {
            let boxed = scope.name("Box");
            quote!(let #name = #boxed::new(#to_owned::to_owned(#name));)
        }
        _ => quote!(let #name = #to_owned::to_owned(#name);),
    })
}
