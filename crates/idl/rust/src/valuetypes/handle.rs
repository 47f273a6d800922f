//! Handle to values of a type: a method for each member of the state and for each operation.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{DeclId, DeclKind, Declaration, ValueFlavour};
use quote::quote;

use super::accessors::Accessors;
use super::factory::without_operations;
use super::lineage::{has_operations, is_abstract, lineage, own_calls, supported, truncatable_to};
use super::state::{State, StateMember};
use crate::docs::{doc, doc_after, doc_with};
use crate::interface::bases::{Bases, HIDDEN};
use crate::interface::call::Call;
use crate::members::owned;
use crate::names::{Companion, ident};
use crate::scope::Scope;
use crate::types::{Form, form};

pub(super) fn generate(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let generator = scope.generator;
    let name = ident(generator.names.item(declaration.id));
    let doc = doc_after(
        &format!(
            "Handle to a value of `{} {}` (`{}`).",
            declaration.kind.describe(),
            declaration.name,
            declaration.repository_id
        ),
        &declaration.doc,
    );
    let bases = Bases::of(generator.spec, declaration.id);
    let path = |base: DeclId| scope.path(&generator.spec[base]);
    let inner = bases.first().map_or_else(|| scope.name("ValueRef"), path);
    let methods = methods(scope, declaration, &name, &bases);
    let value_handle = value_handle(scope, declaration, &name, &bases);
    quote! {
        #doc
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct #name(#inner);
        #methods
        #value_handle
    }
}

/// Generates a method for each member and each call, except those of the first base.
fn methods(
    scope: &Scope<'_>,
    declaration: &Declaration,
    name: &Ident,
    bases: &Bases,
) -> TokenStream {
    let (generator, id) = (scope.generator, declaration.id);
    let spec = generator.spec;
    let operations = lineage(spec, id).into_iter().flat_map(|owner| {
        let is_added = bases.adds(&spec[owner]);
        let calls = own_calls(generator, owner).into_iter();
        let calls = calls.filter(|call| is_added || HIDDEN.contains(&call.method.as_str()));
        let calls = calls.map(|call| operation(scope, id, owner, &call));
        calls.collect::<Vec<_>>()
    });
    let operations: Vec<TokenStream> = operations.collect();
    let all = Accessors::of(scope, id);
    let mut accessors = Vec::new();
    let mut state: Option<(DeclId, State<'_, '_>)> = None;
    for (method, access) in all.to_write() {
        if state
            .as_ref()
            .is_none_or(|(owner, _)| *owner != access.owner)
        {
            state = Some((access.owner, State::new(scope, &spec[access.owner])));
        }
        let member = state
            .as_ref()
            .and_then(|(_, state)| state.members().get(access.member));
        let state = scope.companion(&spec[access.owner], Companion::State);
        let method = ident(method);
        let accessor = if access.is_setter { setter } else { getter };
        accessors
            .extend(member.map(|member| accessor(scope, declaration, &state, member, &method)));
    }
    let constructors = constructors(scope, declaration, &all);
    let inside = quote!(#constructors #(#accessors)* #(#operations)*);
    if inside.is_empty() {
        return inside;
    }
    quote!(impl #name { #inside })
}

/// Generates the constructors of a type with state and nothing else.
fn constructors(
    scope: &Scope<'_>,
    declaration: &Declaration,
    accessors: &Accessors,
) -> TokenStream {
    let generator = scope.generator;
    let is_box = matches!(declaration.kind, DeclKind::ValueBox(_));
    let has_state = is_box
        || matches!(&declaration.kind, DeclKind::ValueType(v) if v.flavour != ValueFlavour::Abstract);
    if !has_state {
        return TokenStream::new();
    }
    // A box has an accessor for its value instead.
    let snapshot = (!is_box).then(|| snapshot(scope, declaration, accessors));
    if has_operations(generator, declaration.id) {
        return snapshot.unwrap_or_default();
    }
    let [value_ref, value_type, arc, boxed] =
        ["ValueRef", "ValueType", "Arc", "Box"].map(|name| scope.name(name));
    let state = scope.companion(declaration, Companion::State);
    let factory = without_operations(scope, declaration);
    let (new, beside) = (accessors.fresh("new"), accessors.fresh("new_beside"));
    let (parameter, ty, whole) = match &declaration.kind {
        DeclKind::ValueBox(of) => {
            let ty = scope.owned(&of.ty, false);
            (ident("value"), ty, quote!(#state { value }))
        }
        _ => (ident("state"), state, quote!(state)),
    };
    quote! {
        /// Creates a value with this state, in a graph of its own.
        #[must_use]
        pub fn #new(#parameter: #ty) -> Self {
            #value_type::from_value(#value_ref::new(#arc::new(#factory), #boxed::new(#whole)))
        }
        /// Creates a value with this state in the graph of another value: a cycle through both is freed as a whole.
        #[must_use]
        pub fn #beside(other: &impl #value_type, #parameter: #ty) -> Self {
            let other = #value_type::as_value(other);
            #value_type::from_value(other.beside(#arc::new(#factory), #boxed::new(#whole)))
        }
        #snapshot
    }
}

/// Generates a method that returns all of the state.
fn snapshot(scope: &Scope<'_>, declaration: &Declaration, accessors: &Accessors) -> TokenStream {
    let clone = scope.name("Clone");
    let state = scope.companion(declaration, Companion::State);
    let method = accessors.fresh("state");
    let value = value(scope, declaration);
    quote! {
        /// Returns a copy of the whole state.
        #[must_use]
        pub fn #method(&self) -> #state {
            #value.read(|state: &#state| #clone::clone(state))
        }
    }
}

/// Generates the access of the handle's methods to the value.
fn value(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    if scope.generator.spec.bases(declaration.id).is_empty() {
        return quote!(self.0);
    }
    let value_type = scope.name("ValueType");
    quote!(#value_type::as_value(self))
}

/// Generates the reading of a member.
fn getter(
    scope: &Scope<'_>,
    handle: &Declaration,
    state: &TokenStream,
    member: &StateMember,
    method: &Ident,
) -> TokenStream {
    let (value, field) = (value(scope, handle), &member.field);
    let clone = scope.name("Clone");
    let sentence = format!("Member `{}`.{}", member.member.name, whose(member));
    let doc = doc(&member.member.doc, &sentence);
    let ty = owned(scope, &member.member);
    quote! {
        #doc
        #[must_use]
        pub fn #method(&self) -> #ty {
            #value.read(|state: &#state| #clone::clone(&state.#field))
        }
    }
}

/// Generates the setting of a member.
fn setter(
    scope: &Scope<'_>,
    handle: &Declaration,
    state: &TokenStream,
    of: &StateMember,
    method: &Ident,
) -> TokenStream {
    let StateMember { field, member, .. } = of;
    let generator = scope.generator;
    let target = value(scope, handle);
    let doc = doc(&[], &format!("Sets member `{}`.{}", member.name, whose(of)));
    let ty = owned(scope, member);
    let is_text = matches!(form(generator.spec, &member.ty), Form::Text)
        && !crate::annotations::is_optional(member);
    let (parameter, new) = if is_text {
        (quote!(impl Into<#ty>), quote!(value.into()))
    } else {
        (ty, quote!(value))
    };
    let put = if generator.facts.holds_values(&member.ty) {
        quote!(replace)
    } else {
        quote!(set)
    };
    quote! {
        #doc
        pub fn #method(&self, value: #parameter) {
            #target.#put(#new, |state: &mut #state| &mut state.#field);
        }
    }
}

/// Returns the remark in the documentation of a private member's methods.
fn whose(member: &StateMember) -> &'static str {
    if member.is_public {
        ""
    } else {
        " It is private: for implementations of the operations."
    }
}

/// Generates a method that calls the value's operations.
fn operation(scope: &Scope<'_>, id: DeclId, owner: DeclId, call: &Call<'_>) -> TokenStream {
    let generator = scope.generator;
    let spec = generator.spec;
    let doc = {
        let errors = call.errors_doc(generator);
        let errors = format!("{errors} NO_IMPLEMENT if no factory with operations made the value.");
        let lines = ["# Errors", &errors];
        doc_with(&call.declaration.doc, &call.fallback_doc, &lines)
    };
    let signature = call.signature(scope, &quote!(pub));
    let [arc, operations_of] = ["Arc", "operations_of"].map(|name| scope.name(name));
    let operations = scope.companion(&spec[owner], Companion::Operations);
    let mut locals = call.locals();
    let local = locals.fresh("operations");
    let this = if owner == id {
        quote!(self)
    } else {
        let value_type = scope.name("ValueType");
        let clone = scope.name("Clone");
        let base = scope.path(&spec[owner]);
        quote!(&<#base as #value_type>::from_value(#clone::clone(#value_type::as_value(self))))
    };
    let value = if spec.bases(id).is_empty() {
        quote!(&self.0)
    } else {
        let value_type = scope.name("ValueType");
        quote!(#value_type::as_value(self))
    };
    let method = call.trait_method(generator);
    let passed = call.passed().map(|parameter| ident(&parameter.name));
    let context = call.context_name().map(|name| quote!(, #name));
    quote! {
        #doc
        #signature {
            let #local: #arc<dyn #operations> = #operations_of(#value)?;
            #operations::#method(&*#local, #this #(, #passed)* #context)
        }
    }
}

/// Generates the rest of the handle: its implementation of the trait of handles, its widening to
/// `ValueBase`, to every base and to every supported abstract interface, and its marshaling.
fn value_handle(
    scope: &Scope<'_>,
    declaration: &Declaration,
    name: &Ident,
    bases: &Bases,
) -> TokenStream {
    let spec = scope.generator.spec;
    let path = |id: DeclId| scope.path(&spec[id]);
    let (value_handle, id) = (scope.name("value_handle"), &declaration.repository_id);
    let of_first = bases.of_first.iter().copied().map(path);
    let others = bases.others.iter().rev().copied().map(path);
    let eithers = supported(spec, declaration.id).into_iter();
    let eithers = eithers
        .filter(|&interface| is_abstract(spec, interface))
        .map(path);
    let is_abstract =
        matches!(&declaration.kind, DeclKind::ValueType(v) if v.flavour == ValueFlavour::Abstract);
    let factory = (!is_abstract).then(|| {
        let factory = without_operations(scope, declaration);
        quote!(, factory #factory)
    });
    let truncatable = truncatable_to(spec, declaration.id).map(path);
    let truncatable = truncatable.map(|base| quote!(, truncatable #base));
    quote! {
        #value_handle!(
            #name, #id, [#(#of_first),*], [#(#others),*], [#(#eithers),*] #factory #truncatable
        );
    }
}
