//! Table of the timing that `@rt` states of an interface's operations, inherited ones included.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{Declaration, RtInfo, RtLevel};
use quote::{format_ident, quote};

use crate::scope::{self, Scope};

/// Generates the constant `RT_OPERATIONS` of a reference type; nothing for an interface without
/// `@rt`.
pub(super) fn generate(
    scope: &Scope<'_>,
    declaration: &Declaration,
    reference: &Ident,
) -> Option<TokenStream> {
    let spec = scope.generator.spec;
    let operations = spec.all_operations(declaration.id).into_iter();
    let timed = operations.filter_map(|id| Some((&spec[id], spec[id].rt()?)));
    let entries: Vec<TokenStream> = timed
        .flat_map(|(operation, info)| entries(scope, operation, info))
        .collect();
    if entries.is_empty() {
        return None;
    }
    let operation = scope.name("RtOperation");
    Some(quote! {
        impl #reference {
            /// Timing of the operations with `@rt`, inherited ones first.
            pub const RT_OPERATIONS: &'static [#operation] = &[#(#entries),*];
        }
    })
}

/// Generates an element for each request of an operation or attribute.
fn entries(scope: &Scope<'_>, declaration: &Declaration, info: &RtInfo) -> Vec<TokenStream> {
    let operation = scope.name("RtOperation");
    let stated = stated(scope, info);
    let names = declaration.request_names().into_iter();
    let names = names.zip(declaration.names_in_schedule());
    names
        .map(|(name, scoped_name)| quote!(#operation::new(#name, #scoped_name) #stated))
        .collect()
}

/// Generates the calls that give an element what the annotation states.
fn stated(scope: &Scope<'_>, info: &RtInfo) -> TokenStream {
    let times = [
        ("wcet", &info.wcet),
        ("typical", &info.typical),
        ("cached", &info.cached),
        ("period", &info.period),
        ("deadline", &info.deadline),
        ("offset", &info.offset),
        ("jitter", &info.jitter),
    ];
    let times = times.into_iter().filter_map(|(key, time)| {
        let nanos = grouped(time.as_ref()?.value);
        let with = format_ident!("with_{key}");
        Some(quote!(.#with(#nanos)))
    });
    let levels = [
        ("criticality", &info.criticality),
        ("importance", &info.importance),
    ];
    let levels = levels.into_iter().filter_map(|(key, level)| {
        let level = level_of(scope, level.as_ref()?.value);
        let with = format_ident!("with_{key}");
        Some(quote!(.#with(#level)))
    });
    let threads = info.threads.as_ref().map(|threads| {
        let threads = grouped(threads.value.into());
        quote!(.with_threads(#threads))
    });
    quote!(#(#times)* #(#levels)* #threads)
}

fn level_of(scope: &Scope<'_>, level: RtLevel) -> TokenStream {
    let levels = scope.name("RtLevel");
    match level {
        RtLevel::VeryLow => quote!(#levels::VeryLow),
        RtLevel::Low => quote!(#levels::Low),
        RtLevel::Medium => quote!(#levels::Medium),
        RtLevel::High => quote!(#levels::High),
        RtLevel::VeryHigh => quote!(#levels::VeryHigh),
    }
}

/// Returns a number with its digits in groups of three.
fn grouped(number: u64) -> TokenStream {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    scope::parse(&text)
}
