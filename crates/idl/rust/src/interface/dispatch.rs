//! From an operation's name to what it does, in a few steps however many operations there are: by
//! the name's length, then by those of its octets that tell names of that length apart. The last
//! step compares the whole name.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::scope::Scope;

/// Names that are compared one after the other.
const FEW: usize = 2;

/// Interfaces with no more operations are not worth more than a plain `match`.
const SMALL: usize = 4;

/// A name and the expression for it.
type Arm<'n> = (&'n str, TokenStream);

/// The expression that chooses among others by `operation`.
pub(super) fn generate(
    scope: &Scope<'_>,
    arms: Vec<Arm<'_>>,
    otherwise: &TokenStream,
) -> TokenStream {
    if arms.is_empty() {
        return otherwise.clone();
    }
    if arms.len() <= SMALL {
        return compare(arms, otherwise);
    }
    let mut lengths: BTreeMap<usize, Vec<Arm<'_>>> = BTreeMap::new();
    for arm in arms {
        lengths.entry(arm.0.len()).or_default().push(arm);
    }
    let branches = lengths.into_iter().map(|(length, arms)| {
        let length = Literal::usize_unsuffixed(length);
        branch(scope, &quote!(#length), arms, otherwise)
    });
    quote! {
        match operation.len() {
            #(#branches)*
            _ => #otherwise,
        }
    }
}

/// Chooses among names of one length.
fn choose(scope: &Scope<'_>, arms: Vec<Arm<'_>>, otherwise: &TokenStream) -> TokenStream {
    let position = (arms.len() > FEW).then(|| best_position(&arms)).flatten();
    let Some(position) = position else {
        return compare(arms, otherwise);
    };
    let some = scope.name("Some");
    let mut groups: BTreeMap<u8, Vec<Arm<'_>>> = BTreeMap::new();
    for arm in arms {
        let octet = arm.0.as_bytes()[position];
        groups.entry(octet).or_default().push(arm);
    }
    let branches = groups.into_iter().map(|(octet, arms)| {
        let octet = Literal::byte_character(octet);
        branch(scope, &quote!(#some(#octet)), arms, otherwise)
    });
    let octet = if position == 0 {
        quote!(first())
    } else {
        let position = Literal::usize_unsuffixed(position);
        quote!(get(#position))
    };
    quote! {
        match operation.as_bytes().#octet {
            #(#branches)*
            _ => #otherwise,
        }
    }
}

/// One arm of a `match` whose last one is `otherwise`, for the names that go by this pattern.
fn branch(
    scope: &Scope<'_>,
    pattern: &TokenStream,
    arms: Vec<Arm<'_>>,
    otherwise: &TokenStream,
) -> TokenStream {
    if let [(name, answer)] = arms.as_slice() {
        return quote!(#pattern if operation == #name => #answer,);
    }
    let branch = choose(scope, arms, otherwise);
    quote!(#pattern => #branch,)
}

/// Where names of one length differ most, if they differ anywhere.
fn best_position(arms: &[Arm<'_>]) -> Option<usize> {
    let length = arms.first()?.0.len();
    let distinct = |position: usize| {
        let octets = arms.iter().map(|(name, _)| name.as_bytes()[position]);
        octets.collect::<BTreeSet<u8>>().len()
    };
    // The first of the best.
    let best = (0..length)
        .rev()
        .max_by_key(|&position| distinct(position))?;
    (distinct(best) > 1).then_some(best)
}

fn compare(arms: Vec<Arm<'_>>, otherwise: &TokenStream) -> TokenStream {
    let arms = arms
        .into_iter()
        .map(|(name, answer)| quote!(#name => #answer,));
    quote! {
        match operation {
            #(#arms)*
            _ => #otherwise,
        }
    }
}
