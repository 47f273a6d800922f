//! The handle to values of a type: a method for each member of the state and for each operation.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{DeclId, DeclKind, Declaration, ValueFlavour};
use quote::quote;

use super::factory::without_operations;
use super::lineage::{concrete_chain, has_operations, is_abstract, lineage, own_calls, supported};
use super::state::{State, StateMember};
use crate::docs::{doc, doc_after, doc_with};
use crate::interface::call::Call;
use crate::members::owned;
use crate::names::{Claims, Companion, ident};
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
    let value_ref = scope.name("ValueRef");
    let methods = methods(scope, declaration, &name);
    let value_type = value_type_impl(scope, declaration, &name);
    let conversions = conversions(scope, declaration, &name);
    let codec = codec_impls(scope, &name);
    quote! {
        #doc
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct #name(#value_ref);
        #methods
        #value_type
        #conversions
        #codec
    }
}

fn methods(scope: &Scope<'_>, declaration: &Declaration, name: &Ident) -> TokenStream {
    let (generator, id) = (scope.generator, declaration.id);
    let spec = generator.spec;
    let mut claims = Claims::default();
    let calls: Vec<(DeclId, Call<'_>)> = lineage(spec, id)
        .into_iter()
        .flat_map(|owner| {
            let calls = own_calls(generator, owner).into_iter();
            calls.map(move |call| (owner, call))
        })
        .collect();
    for (_, call) in &calls {
        claims.reserve(&call.method);
    }
    let operations = calls
        .iter()
        .map(|(owner, call)| operation(scope, id, *owner, call));
    let operations: Vec<TokenStream> = operations.collect();
    let mut accessors = Vec::new();
    for owner in concrete_chain(spec, id) {
        if matches!(&spec[owner].kind, DeclKind::ValueType(v) if v.flavour == ValueFlavour::Abstract)
        {
            continue;
        }
        let state = scope.companion(&spec[owner], Companion::State);
        for member in State::new(scope, &spec[owner]).members() {
            accessors.push(accessor(scope, &state, member, &mut claims));
        }
    }
    let constructors = constructors(scope, declaration, name, &mut claims);
    let inside = quote!(#constructors #(#accessors)* #(#operations)*);
    if inside.is_empty() {
        return inside;
    }
    quote!(impl #name { #inside })
}

/// What makes values of a type that has state and nothing else.
fn constructors(
    scope: &Scope<'_>,
    declaration: &Declaration,
    name: &Ident,
    claims: &mut Claims,
) -> TokenStream {
    let generator = scope.generator;
    let is_box = matches!(declaration.kind, DeclKind::ValueBox(_));
    let has_state = is_box
        || matches!(&declaration.kind, DeclKind::ValueType(v) if v.flavour != ValueFlavour::Abstract);
    if !has_state {
        return TokenStream::new();
    }
    // A box has its value instead.
    let snapshot = (!is_box).then(|| snapshot(scope, declaration, claims));
    if has_operations(generator, declaration.id) {
        return snapshot.unwrap_or_default();
    }
    let [value_ref, value_type, arc, boxed] =
        ["ValueRef", "ValueType", "Arc", "Box"].map(|name| scope.name(name));
    let state = scope.companion(declaration, Companion::State);
    let factory = without_operations(scope, declaration);
    let (new, beside) = (claims.fresh("new"), claims.fresh("new_beside"));
    let (parameter, ty, whole) = match &declaration.kind {
        DeclKind::ValueBox(of) => {
            let ty = scope.owned(&of.ty, false);
            (ident("value"), ty, quote!(#state { value }))
        }
        _ => (ident("state"), state, quote!(state)),
    };
    quote! {
        /// A value with that state, in a graph of its own.
        #[must_use]
        pub fn #new(#parameter: #ty) -> Self {
            #name(#value_ref::new(#arc::new(#factory), #boxed::new(#whole)))
        }
        /// A value with that state in the graph of another: a cycle through both is freed as a whole.
        #[must_use]
        pub fn #beside(other: &impl #value_type, #parameter: #ty) -> Self {
            let other = #value_type::as_value(other);
            #name(other.beside(#arc::new(#factory), #boxed::new(#whole)))
        }
        #snapshot
    }
}

/// A method that gives all of the state.
fn snapshot(scope: &Scope<'_>, declaration: &Declaration, claims: &mut Claims) -> TokenStream {
    let clone = scope.name("Clone");
    let state = scope.companion(declaration, Companion::State);
    let method = claims.fresh("state");
    quote! {
        /// All of the state as it is now.
        #[must_use]
        pub fn #method(&self) -> #state {
            self.0.read(|state: &#state| #clone::clone(state))
        }
    }
}

/// How a member is read and set.
fn accessor(
    scope: &Scope<'_>,
    state: &TokenStream,
    member: &StateMember,
    claims: &mut Claims,
) -> TokenStream {
    let StateMember {
        field,
        member,
        is_public,
    } = member;
    let generator = scope.generator;
    let clone = scope.name("Clone");
    let plain = field.to_string();
    let plain = plain.strip_prefix("r#").unwrap_or(&plain);
    let (get, set) = (claims.fresh(plain), claims.fresh(&format!("set_{plain}")));
    let visibility = if *is_public {
        ""
    } else {
        " It is private: for who implements the operations."
    };
    let sentence = format!("Member `{}`.{visibility}", member.name);
    let doc_of_get = doc(&member.doc, &sentence);
    let doc_of_set = doc(&[], &format!("Sets member `{}`.{visibility}", member.name));
    let ty = owned(scope, member);
    let is_text = matches!(form(generator.spec, &member.ty), Form::Text)
        && !crate::annotations::is_optional(member);
    let (parameter, new) = if is_text {
        (quote!(impl Into<#ty>), quote!(value.into()))
    } else {
        (ty.clone(), quote!(value))
    };
    let put = if generator.facts.holds_values(&member.ty) {
        quote!(replace)
    } else {
        quote!(set)
    };
    quote! {
        #doc_of_get
        #[must_use]
        pub fn #get(&self) -> #ty {
            self.0.read(|state: &#state| #clone::clone(&state.#field))
        }
        #doc_of_set
        pub fn #set(&self, value: #parameter) {
            self.0.#put(#new, |state: &mut #state| &mut state.#field);
        }
    }
}

/// A method that does what the value's operations do.
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
        quote!(&<#base as #value_type>::from_value(#clone::clone(&self.0)))
    };
    let method = call.trait_method(generator);
    let passed = call.passed().map(|parameter| ident(&parameter.name));
    let context = call.context_name().map(|name| quote!(, #name));
    quote! {
        #doc
        #signature {
            let #local: #arc<dyn #operations> = #operations_of(&self.0)?;
            #operations::#method(&*#local, #this #(, #passed)* #context)
        }
    }
}

fn value_type_impl(scope: &Scope<'_>, declaration: &Declaration, name: &Ident) -> TokenStream {
    let [value_type, value_ref] = ["ValueType", "ValueRef"].map(|name| scope.name(name));
    let id = &declaration.repository_id;
    let is_abstract =
        matches!(&declaration.kind, DeclKind::ValueType(v) if v.flavour == ValueFlavour::Abstract);
    let default_factory = (!is_abstract).then(|| {
        let [option, some, arc, factory_trait] =
            ["Option", "Some", "Arc", "ValueFactory"].map(|name| scope.name(name));
        let factory = without_operations(scope, declaration);
        quote! {
            fn default_factory() -> #option<#arc<dyn #factory_trait>> {
                #some(#arc::new(#factory))
            }
        }
    });
    quote! {
        impl #value_type for #name {
            const REPOSITORY_ID: &'static str = #id;
            fn from_value(value: #value_ref) -> Self {
                Self(value)
            }
            fn as_value(&self) -> &#value_ref {
                &self.0
            }
            #default_factory
        }
    }
}

/// Widening: to `ValueBase`, to every base, to every abstract interface that is supported.
fn conversions(scope: &Scope<'_>, declaration: &Declaration, name: &Ident) -> TokenStream {
    let spec = scope.generator.spec;
    let [value_type, value_ref, from] =
        ["ValueType", "ValueRef", "From"].map(|name| scope.name(name));
    let bases = spec.ancestors(declaration.id).into_iter().map(|base| {
        let base = scope.path(&spec[base]);
        quote! {
            impl #from<#name> for #base {
                fn from(value: #name) -> Self {
                    #value_type::from_value(value.0)
                }
            }
        }
    });
    let interfaces = supported(spec, declaration.id)
        .into_iter()
        .filter(|&interface| is_abstract(spec, interface))
        .map(|interface| {
            let interface = scope.path(&spec[interface]);
            quote! {
                impl #from<#name> for #interface {
                    fn from(value: #name) -> Self {
                        Self::Value(value.0)
                    }
                }
            }
        });
    quote! {
        impl #from<#name> for #value_ref {
            fn from(value: #name) -> Self {
                value.0
            }
        }
        #(#bases)*
        #(#interfaces)*
    }
}

fn codec_impls(scope: &Scope<'_>, name: &Ident) -> TokenStream {
    let [marshal, unmarshal, nilable, holds_values, graph] =
        ["Marshal", "Unmarshal", "Nilable", "HoldsValues", "Graph"].map(|name| scope.name(name));
    let [encoder, decoder, result, option, some, error] =
        ["Encoder", "Decoder", "Result", "Option", "Some", "CdrError"].map(|name| scope.name(name));
    let [marshal_value, unmarshal_value] =
        ["marshal_value", "unmarshal_value"].map(|name| scope.name(name));
    quote! {
        impl #marshal for #name {
            fn marshal(&self, out: &mut #encoder<'_>) -> #result<(), #error> {
                #marshal_value(#some(self), out)
            }
        }
        impl #unmarshal for #name {
            const MIN_SIZE: usize = 4;
            fn unmarshal(input: &mut #decoder<'_>) -> #result<Self, #error> {
                #unmarshal_value(input)?.ok_or(#error::NilReference)
            }
        }
        impl #nilable for #name {
            fn marshal_nilable(
                this: #option<&Self>,
                out: &mut #encoder<'_>,
            ) -> #result<(), #error> {
                #marshal_value(this, out)
            }
            fn unmarshal_nilable(
                input: &mut #decoder<'_>,
            ) -> #result<#option<Self>, #error> {
                #unmarshal_value(input)
            }
        }
        impl #holds_values for #name {
            fn adopt(&mut self, graph: &#graph) {
                #holds_values::adopt(&mut self.0, graph);
            }
        }
    }
}
