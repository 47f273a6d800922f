//! Attributes for the few clippy lints that fire in code whose shape the IDL decides.
//!
//! Each is put only where the lint would fire, so that generated code stays readable.

use proc_macro2::TokenStream;
use punctual_idl::model::Type;
use quote::quote;

use crate::facts::Facts;

/// Complexity beyond which clippy calls a type complex.
const COMPLEX: u64 = 250;

/// Names of methods of the standard library's traits.
const TRAIT_METHODS: &[&str] = &[
    "as_mut",
    "as_ref",
    "borrow",
    "borrow_mut",
    "clone",
    "cmp",
    "deref",
    "drop",
    "eq",
    "hash",
];

/// Generates the attributes of a method of a public interface: by the number of parameters (the
/// receiver included), its return type, and the size of its error.
pub(crate) fn method(
    name: &str,
    parameters: usize,
    returns: &TokenStream,
    error_size: u64,
) -> TokenStream {
    let mut lints = Vec::new();
    if parameters > 7 {
        lints.push(quote!(clippy::too_many_arguments));
    }
    if syn::parse2(returns.clone()).is_ok_and(|ty| complexity(&ty, 1) > COMPLEX) {
        lints.push(quote!(clippy::type_complexity));
    }
    if error_size >= 120 {
        lints.push(quote!(clippy::result_large_err));
    }
    if TRAIT_METHODS.contains(&name) {
        lints.push(quote!(clippy::should_implement_trait));
    }
    if name == "new" {
        lints.push(quote!(clippy::new_ret_no_self));
    }
    if name == "new" || name.starts_with("from_") || name.starts_with("into_") {
        lints.push(quote!(clippy::wrong_self_convention));
    }
    allow(&lints)
}

/// Generates the attributes of an enum: by its variants' names, and the sizes of their contents.
pub(crate) fn variants(enum_name: &str, names: &[String], sizes: &[u64]) -> TokenStream {
    let mut lints = Vec::new();
    if have_common_words(enum_name, names) {
        lints.push(quote!(clippy::enum_variant_names));
    }
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    if let [.., second, largest] = sorted.as_slice()
        && largest - second >= 180
    {
        lints.push(quote!(clippy::large_enum_variant));
    }
    allow(&lints)
}

/// Generates the attribute of a floating-point constant: clippy knows some by their value.
pub(crate) fn float(value: f64) -> TokenStream {
    use std::f64::consts as known;
    let constants = [
        known::E,
        known::FRAC_1_PI,
        known::FRAC_1_SQRT_2,
        known::FRAC_2_PI,
        known::FRAC_2_SQRT_PI,
        known::FRAC_PI_2,
        known::FRAC_PI_3,
        known::FRAC_PI_4,
        known::FRAC_PI_6,
        known::FRAC_PI_8,
        known::LN_2,
        known::LN_10,
        known::LOG10_2,
        known::LOG10_E,
        known::LOG2_10,
        known::LOG2_E,
        known::PI,
        known::SQRT_2,
        known::TAU,
        1.618_033_988,
        0.577_215_664,
    ];
    if constants.iter().any(|c| (c - value.abs()).abs() < 0.01) {
        allow(&[quote!(clippy::approx_constant)])
    } else {
        TokenStream::new()
    }
}

/// Generates the attribute of a module inside one of the same name.
pub(crate) fn inner_module(name: &str, outer: Option<&str>) -> TokenStream {
    if outer == Some(name) {
        allow(&[quote!(clippy::module_inception)])
    } else {
        TokenStream::new()
    }
}

/// Returns the size of the largest exception, as an error holds one of them.
pub(crate) fn largest(facts: &Facts, raises: &[punctual_idl::model::DeclId]) -> u64 {
    let sizes = raises
        .iter()
        .map(|&id| facts.of(&Type::Named(id)).rust_size);
    sizes.max().unwrap_or(0)
}

fn allow(lints: &[TokenStream]) -> TokenStream {
    if lints.is_empty() {
        TokenStream::new()
    } else {
        quote!(#[allow(#(#lints),*)])
    }
}

/// Computes clippy's measure: ten for each part, times its depth.
fn complexity(ty: &syn::Type, depth: u64) -> u64 {
    let inner: Vec<&syn::Type> = match ty {
        syn::Type::Path(path) => path
            .path
            .segments
            .iter()
            .flat_map(|segment| match &segment.arguments {
                syn::PathArguments::AngleBracketed(arguments) => arguments
                    .args
                    .iter()
                    .filter_map(|argument| match argument {
                        syn::GenericArgument::Type(ty) => Some(ty),
                        _ => None,
                    })
                    .collect(),
                _ => Vec::new(),
            })
            .collect(),
        syn::Type::Tuple(tuple) => tuple.elems.iter().collect(),
        syn::Type::Array(array) => vec![&*array.elem],
        _ => Vec::new(),
    };
    let inner: u64 = inner.into_iter().map(|ty| complexity(ty, depth + 1)).sum();
    10 * depth + inner
}

/// Returns whether all variants begin or end with a common word, or with the enum's own name, which
/// clippy reports.
fn have_common_words(enum_name: &str, names: &[String]) -> bool {
    let repeats_enum = names
        .iter()
        .any(|name| name.starts_with(enum_name) || name.ends_with(enum_name));
    let same = |word: fn(&str) -> &str| {
        names
            .windows(2)
            .all(|pair| word(&pair[0]) == word(&pair[1]))
    };
    repeats_enum || names.len() >= 3 && (same(first_word) || same(last_word))
}

fn first_word(name: &str) -> &str {
    let end = name
        .char_indices()
        .skip(1)
        .find(|(_, c)| c.is_ascii_uppercase())
        .map_or(name.len(), |(i, _)| i);
    &name[..end]
}

fn last_word(name: &str) -> &str {
    let start = name
        .char_indices()
        .rev()
        .find(|(_, c)| c.is_ascii_uppercase())
        .map_or(0, |(i, _)| i);
    &name[start..]
}
