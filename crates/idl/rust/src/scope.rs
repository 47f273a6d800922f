//! Rust module under construction: its references to the runtime, to the standard library, and to
//! code generated elsewhere.
//!
//! Names are written short and imported by `use`, unless the IDL declares an item of that name in
//! the same module: then they are written out.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{DeclId, Declaration};
use quote::quote;

use crate::Generator;
use crate::layout::{self, Piece};
use crate::names::{Companion, ident, outer_scope};
use crate::parallel;

/// Rust module under construction.
pub(crate) struct Scope<'g> {
    pub(crate) generator: &'g Generator<'g>,
    /// IDL scope that it is made from.
    idl: Vec<String>,
    imports: RefCell<BTreeSet<&'static str>>,
}

/// Origin of a name.
enum Origin {
    /// Facade, `punctual::…`
    Facade,
    /// Stub support, `punctual::stub::…`
    Stub,
    /// Standard library, by its full path; to be imported.
    Std(&'static str),
    /// Standard library, by its full path; in the prelude.
    Prelude(&'static str),
}

/// Number of items that are laid out together as one piece of text.
const AT_A_TIME: usize = 32;

impl<'g> Scope<'g> {
    pub(crate) fn new(generator: &'g Generator<'g>, idl: Vec<String>) -> Self {
        Scope {
            generator,
            idl,
            imports: RefCell::default(),
        }
    }

    /// Returns the number of enclosing modules.
    pub(crate) fn depth(&self) -> usize {
        self.idl.len()
    }

    /// Lays out tokens of this module and returns their placeholder.
    pub(crate) fn laid_out(&self, piece: Piece, tokens: TokenStream) -> TokenStream {
        self.generator.pieces.lay_out(piece, self.depth(), tokens)
    }

    /// Generates and lays out tokens for each of many items: in parallel, a few of them in one
    /// piece, as a placeholder costs memory in the syntax tree, too.
    pub(crate) fn each_laid_out<T: Sync>(
        &self,
        piece: Piece,
        things: &[T],
        tokens: impl Fn(&Scope<'_>, &T) -> TokenStream + Sync,
    ) -> TokenStream {
        let (generator, idl, depth) = (self.generator, &self.idl, self.depth());
        let parts: Vec<&[T]> = things.chunks(AT_A_TIME).collect();
        let tokens_of = |scope: &Scope<'_>, part: &[T]| -> TokenStream {
            part.iter().map(|thing| tokens(scope, thing)).collect()
        };
        let texts = parallel::map(&parts, |part| {
            let scope = Scope::new(generator, idl.clone());
            let text = layout::text(piece, depth, tokens_of(&scope, part));
            (text, scope.imports.into_inner())
        });
        let laid_out = texts.into_iter().zip(parts);
        let laid_out = laid_out.map(|((text, imports), part)| {
            self.imports.borrow_mut().extend(imports);
            match text {
                Some(text) => generator.pieces.keep_items(text),
                None => tokens_of(self, part),
            }
        });
        laid_out.collect()
    }

    /// Lays out a constant of an `impl` that holds a list; returns its placeholder. `constant` has
    /// an empty list.
    pub(crate) fn laid_out_list(&self, constant: TokenStream, elements: &[String]) -> TokenStream {
        let pieces = &self.generator.pieces;
        pieces.lay_out_list(self.depth(), constant, elements)
    }

    /// Keeps the text of an expression that is the last of a body; returns its placeholder.
    pub(crate) fn kept(&self, expression: String) -> TokenStream {
        self.generator.pieces.keep_expression(expression)
    }

    /// Returns a name of the runtime or of the standard library, imported if needed.
    pub(crate) fn name(&self, name: &'static str) -> TokenStream {
        let origin = origin(name);
        if self.is_taken(name) {
            return self.full_path(name, &origin);
        }
        if !matches!(origin, Origin::Prelude(_)) {
            self.imports.borrow_mut().insert(name);
        }
        let name = ident(name);
        quote!(#name)
    }

    /// Brings a trait into scope for its methods.
    pub(crate) fn use_methods_of(&self, name: &'static str) {
        self.imports.borrow_mut().insert(name);
    }

    /// Returns a name for a generic parameter that hides nothing of this module.
    pub(crate) fn generic(&self, preferred: &str) -> Ident {
        let mut name = preferred.to_owned();
        while self.is_taken(&name) {
            name.push('_');
        }
        ident(&name)
    }

    /// Returns the path from this module to a declared type or constant.
    pub(crate) fn path(&self, declaration: &Declaration) -> TokenStream {
        let item = self.generator.names.item(declaration.id);
        self.path_in(&outer_scope(&declaration.scoped_name), declaration, item)
    }

    /// Returns the path from this module to a companion of an interface.
    pub(crate) fn companion(&self, interface: &Declaration, companion: Companion) -> TokenStream {
        let name = self.generator.names.companion(interface.id, companion);
        self.path_in(&outer_scope(&interface.scoped_name), interface, name)
    }

    /// Returns the path from this module to the error of one of an interface's operations.
    pub(crate) fn error_of(
        &self,
        interface: &Declaration,
        operation: DeclId,
        companion: Companion,
    ) -> TokenStream {
        let name = self.generator.names.companion(operation, companion);
        self.path_in(&outer_scope(&interface.scoped_name), interface, name)
    }

    /// Generates the `use` lines for all names used.
    pub(crate) fn uses(&self) -> TokenStream {
        let mut std_lines = Vec::new();
        let mut hidden = Vec::new();
        let mut groups: BTreeMap<bool, Vec<TokenStream>> = BTreeMap::new();
        for &name in self.imports.borrow().iter() {
            let simple = ident(name);
            match origin(name) {
                origin @ (Origin::Facade | Origin::Stub) if self.is_taken(name) => {
                    hidden.push(self.full_path(name, &origin));
                }
                Origin::Std(path) if !self.is_taken(name) => {
                    std_lines.push(self.local_path(path));
                }
                Origin::Facade => groups.entry(false).or_default().push(quote!(#simple)),
                Origin::Stub => groups.entry(true).or_default().push(quote!(#simple)),
                Origin::Std(_) | Origin::Prelude(_) => {}
            }
        }
        std_lines.sort_unstable();
        let std_lines = std_lines.iter().map(|path| parse(path));
        let runtime = parse(&self.local_path(&self.generator.options.runtime_path));
        let runtime_lines = groups.into_iter().map(|(is_stub, names)| {
            let stub = is_stub.then(|| quote!(::stub));
            match names.as_slice() {
                [name] => quote!(use #runtime #stub :: #name;),
                _ => quote!(use #runtime #stub :: {#(#names),*};),
            }
        });
        // A trait's own implementations see its methods without importing it.
        quote! {
            #(use #std_lines;)*
            #(#runtime_lines)*
            #(#[allow(unused_imports)] use #hidden as _;)*
        }
    }

    fn is_taken(&self, name: &str) -> bool {
        self.generator.names.is_taken(&self.idl, name)
    }

    fn full_path(&self, name: &str, origin: &Origin) -> TokenStream {
        match origin {
            Origin::Std(path) | Origin::Prelude(path) => parse(path),
            Origin::Facade | Origin::Stub => {
                let runtime = parse(&self.generator.options.runtime_path);
                let name = ident(name);
                match origin {
                    Origin::Stub => quote!(#runtime::stub::#name),
                    _ => quote!(#runtime::#name),
                }
            }
        }
    }

    /// Returns the path for `use`, which needs the leading `::` only where a module of the IDL has
    /// the crate's name.
    fn local_path(&self, path: &str) -> String {
        let short = path.strip_prefix("::").unwrap_or(path);
        let first = short.split("::").next().unwrap_or(short);
        if self.is_taken(first) {
            path.to_owned()
        } else {
            short.to_owned()
        }
    }

    fn path_in(&self, scope: &[String], declaration: &Declaration, item: &str) -> TokenStream {
        let item = ident(item);
        if let Some(path) = self.generator.extern_path(declaration, scope) {
            return quote!(#path::#item);
        }
        let downs_from = |common: usize| {
            let downs = (common..scope.len()).map(|depth| {
                let module = ident(self.generator.names.module(&scope[..=depth]));
                quote!(#module::)
            });
            quote!(#(#downs)*)
        };
        if let Some(module) = self.generator.elsewhere(declaration) {
            let path = parse(module);
            let is_relative = module.split("::").next() == Some("super");
            let ups = (0..if is_relative { self.idl.len() } else { 0 }).map(|_| quote!(super::));
            let downs = downs_from(0);
            return quote!(#(#ups)* #path:: #downs #item);
        }
        let common = self
            .idl
            .iter()
            .zip(scope)
            .take_while(|(ours, theirs)| ours == theirs)
            .count();
        let ups = (common..self.idl.len()).map(|_| quote!(super::));
        let downs = downs_from(common);
        quote!(#(#ups)* #downs #item)
    }
}

fn origin(name: &str) -> Origin {
    match name {
        "ObjectRef" | "Interface" | "OperationError" | "SystemException" | "Char" | "Fixed"
        | "LongDouble" | "Context" | "ValueRef" | "Any" | "TypeCode" | "Poller"
        | "ReplyHandler" | "Response" => Origin::Facade,
        "Arc" => Origin::Std("::std::sync::Arc"),
        "OnceLock" => Origin::Std("::std::sync::OnceLock"),
        "BTreeMap" => Origin::Std("::std::collections::BTreeMap"),
        "Error" => Origin::Std("::std::error::Error"),
        "Future" => Origin::Std("::std::future::Future"),
        "fmt" => Origin::Std("::std::fmt"),
        "Box" => Origin::Prelude("::std::boxed::Box"),
        "Clone" => Origin::Prelude("::std::clone::Clone"),
        "Default" => Origin::Prelude("::std::default::Default"),
        "Err" => Origin::Prelude("::std::result::Result::Err"),
        "From" => Origin::Prelude("::std::convert::From"),
        "Into" => Origin::Prelude("::std::convert::Into"),
        "None" => Origin::Prelude("::std::option::Option::None"),
        "Ok" => Origin::Prelude("::std::result::Result::Ok"),
        "Option" => Origin::Prelude("::std::option::Option"),
        "Result" => Origin::Prelude("::std::result::Result"),
        "Send" => Origin::Prelude("::std::marker::Send"),
        "Some" => Origin::Prelude("::std::option::Option::Some"),
        "String" => Origin::Prelude("::std::string::String"),
        "Sync" => Origin::Prelude("::std::marker::Sync"),
        "ToOwned" => Origin::Prelude("::std::borrow::ToOwned"),
        "Vec" => Origin::Prelude("::std::vec::Vec"),
        _ => Origin::Stub,
    }
}

/// Converts a path to tokens; the path is fixed or has been checked before.
pub(crate) fn parse(path: &str) -> TokenStream {
    path.parse().unwrap_or_default()
}
