//! Typed object reference of an interface, with a method for each call.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{DeclId, Declaration, Direction};
use quote::quote;

use super::bases::{Bases, HIDDEN};
use super::call::{self, Call, tuple};
use super::reference_path::{is_abstract, reference_path};
use super::request::{Request, arguments, operation, results};
use super::{collocated, deferred, described, interpreted, timing, twin};
use crate::Generator;
use crate::docs::doc_after;
use crate::layout::Piece;
use crate::names::{Claims, Companion, ident};
use crate::scope::Scope;

pub(crate) fn generate(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let generator = scope.generator;
    let name = ident(object_name(generator, declaration));
    let doc = doc_after(
        &format!(
            "Reference to an object of `{} {}` (`{}`).",
            declaration.kind.describe(),
            declaration.name,
            declaration.repository_id
        ),
        &declaration.doc,
    );
    let bases = Bases::of(generator.spec, declaration.id);
    let methods = if generator.options.client {
        methods(scope, declaration, &name, &bases)
    } else {
        TokenStream::new()
    };
    let path = |base: DeclId| reference_path(scope, &generator.spec[base]);
    let inner = bases.first().map_or_else(|| scope.name("ObjectRef"), path);
    let (reference, id) = (scope.name("reference"), &declaration.repository_id);
    let of_bases = bases.first().map(|_| {
        let of_first = bases.of_first.iter().copied().map(path);
        let others = bases.others.iter().rev().copied().map(path);
        quote!(, [#(#of_first),*], [#(#others),*])
    });
    let eithers = eithers(scope, declaration, &name);
    let timing = timing::generate(scope, declaration, &name);
    let types = described::generate(scope, declaration, &name);
    let described = types.as_ref().map(|_| quote!(, described));
    quote! {
        #doc
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct #name(#inner);
        #methods
        #reference!(#name, #id #of_bases #described);
        #types
        #timing
        #eithers
    }
}

/// Returns the name of the object reference: the interface's, unless that may be a value, too.
fn object_name<'g>(generator: &'g Generator<'_>, interface: &Declaration) -> &'g str {
    if is_abstract(interface) {
        generator.names.companion(interface.id, Companion::Object)
    } else {
        generator.names.item(interface.id)
    }
}

/// Generates the reference type's methods, one for each operation and attribute access. Those that
/// the interface inherits from its first base are left out.
fn methods(
    scope: &Scope<'_>,
    declaration: &Declaration,
    name: &Ident,
    bases: &Bases,
) -> TokenStream {
    let generator = scope.generator;
    let mut calls = call::all(generator, declaration.id);
    let mut claims = Claims::default();
    for call in &calls {
        claims.reserve(&call.method);
    }
    calls.retain(|call| bases.adds(call.owner) || HIDDEN.contains(&call.method.as_str()));
    if calls.is_empty() {
        return TokenStream::new();
    }
    if interpreted::is_chosen(generator, declaration) {
        let methods = calls.iter().map(|call| interpreted::method(scope, call));
        return quote!(impl #name { #(#methods)* });
    }
    let calls = calls.into_iter().map(|call| {
        let twin = twin::name(generator, &call, &mut claims);
        let deferred = deferred::names(generator, &call, &mut claims);
        (call, twin, deferred)
    });
    let calls: Vec<_> = calls.collect();
    let methods = scope.each_laid_out(Piece::Methods, &calls, |scope, (call, twin, deferred)| {
        let method = method(scope, call);
        let twin = twin.as_ref().map(|name| twin::generate(scope, call, name));
        let deferred = deferred.as_ref();
        let deferred = deferred.map(|names| deferred::generate(scope, call, names));
        quote!(#method #twin #deferred)
    });
    quote!(impl #name { #methods })
}

fn method(scope: &Scope<'_>, call: &Call<'_>) -> TokenStream {
    let doc = call.doc(scope.generator);
    let signature = call.signature(scope, &quote!(pub));
    let operation = operation(scope, call);
    let mut locals = call.locals();
    let arguments = arguments(scope, call, &locals);
    let body = if call.oneway {
        collocated::one_way(scope, call, arguments)
    } else {
        two_way(scope, call, arguments, &mut locals)
    };
    quote! {
        #doc
        #signature {
            #operation
            #body
        }
    }
}

fn two_way(
    scope: &Scope<'_>,
    call: &Call<'_>,
    arguments: TokenStream,
    locals: &mut Claims,
) -> TokenStream {
    let request = Request {
        arguments,
        results: results(scope, call, locals),
    };
    let invocation = collocated::two_way(scope, call, &request, |_| None, locals);
    if call
        .parameters
        .iter()
        .any(|p| p.direction == Direction::InOut)
    {
        assign(scope, call, &invocation, locals)
    } else {
        invocation
    }
}

/// Generates the assignment of inout parameters, once the whole reply has been decoded.
fn assign(
    scope: &Scope<'_>,
    call: &Call<'_>,
    invocation: &TokenStream,
    locals: &mut Claims,
) -> TokenStream {
    let ok = scope.name("Ok");
    let (mut received, mut returned, mut assignments) = (Vec::new(), Vec::new(), Vec::new());
    if call.returns.is_some() {
        let name = locals.fresh("result");
        received.push(quote!(#name));
        returned.push(quote!(#name));
    }
    for parameter in call.replied() {
        let name = ident(&parameter.name);
        if parameter.direction == Direction::InOut {
            let new = locals.fresh(&format!("new_{}", parameter.name));
            received.push(quote!(#new));
            assignments.push((name, new));
        } else {
            received.push(quote!(#name));
            returned.push(quote!(#name));
        }
    }
    let returned = tuple(&returned);
    if let ([(name, _)], [_]) = (assignments.as_slice(), received.as_slice()) {
        return quote! {
            *#name = #invocation?;
            #ok(())
        };
    }
    let received = tuple(&received);
    let assignments = assignments.iter().map(|(name, new)| quote!(*#name = #new;));
    quote! {
        let #received = #invocation?;
        #(#assignments)*
        #ok(#returned)
    }
}

/// Generates widening to abstract interfaces, which may be an object or a value.
fn eithers(scope: &Scope<'_>, declaration: &Declaration, name: &Ident) -> TokenStream {
    let spec = scope.generator.spec;
    let bases = spec.ancestors(declaration.id).into_iter();
    let bases = bases
        .map(|base| &spec[base])
        .filter(|base| is_abstract(base));
    let eithers = bases.map(|base| {
        let path = scope.path(base);
        let [interface, from] = ["Interface", "From"].map(|name| scope.name(name));
        quote! {
            impl #from<#name> for #path {
                fn from(reference: #name) -> Self {
                    Self::Object(#interface::from_object(reference.into()))
                }
            }
        }
    });
    quote!(#(#eithers)*)
}
