//! Mapping of `valuetype`: a handle to values, their state, their factory, and a trait for their
//! operations (CORBA 3.3 part 1, §7.9 and §9).
//!
//! `valuetype Account : Base supports Printable` gives
//!
//! - `Account`, the handle: cheap to clone, with a method for each member and each operation; those
//!   of the first base
//!   are available through `Deref`;
//! - `AccountState`, a struct of the members, the base's under `base`;
//! - `AccountFactory`, which makes values, and which an ORB needs to read them;
//! - `AccountOperations`, the trait for the implementation of its operations, if it has any: with
//!   those of the interfaces
//!   that it supports, and those of its bases as supertraits. A method's `this` is the value;
//! - `AccountInitializers`, the trait for its `factory` operations, if it has any.
//!
//! A value whose factory has no operations has its state all the same.

mod accessors;
mod factory;
mod handle;
mod initializers;
mod lineage;
mod operations;
mod state;
mod supports;

use proc_macro2::TokenStream;
use punctual_idl::model::{Declaration, ValueBox, ValueFlavour, ValueType};
use quote::quote;

use crate::interface::{call, errors};
use crate::scope::Scope;
use state::State;

pub(crate) use accessors::Known;
pub(crate) use lineage::concrete_base;

pub(crate) fn generate(
    scope: &Scope<'_>,
    declaration: &Declaration,
    value: &ValueType,
) -> TokenStream {
    let handle = handle::generate(scope, declaration);
    let operations = operations::generate(scope, declaration);
    let supports = supports::generate(scope, declaration);
    let calls = call::own(scope.generator, declaration.id);
    let errors = calls.iter().map(|call| errors::generate(scope, call));
    let concrete = (value.flavour != ValueFlavour::Abstract).then(|| {
        let state = State::new(scope, declaration).definition();
        let factory = factory::generate(scope, declaration, value);
        let initializers = initializers::generate(scope, declaration, value);
        quote!(#state #factory #initializers)
    });
    quote!(#handle #operations #supports #concrete #(#errors)*)
}

pub(crate) fn generate_box(
    scope: &Scope<'_>,
    declaration: &Declaration,
    _boxed: &ValueBox,
) -> TokenStream {
    let handle = handle::generate(scope, declaration);
    let state = State::new(scope, declaration).definition();
    let factory = factory::generate_box(scope, declaration);
    quote!(#handle #state #factory)
}
