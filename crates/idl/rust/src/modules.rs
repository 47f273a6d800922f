//! Modules: the IDL's scopes as nested Rust modules, and the module in which each construct is
//! generated.

use proc_macro2::TokenStream;
use punctual_idl::model::{DeclId, DeclKind, Declaration};
use quote::quote;

use crate::docs::doc;
use crate::layout::{self, Piece};
use crate::names::{ident, is_item};
use crate::plan::Plan;
use crate::scope::Scope;
use crate::{
    Generator, bits, consts, enums, events, exceptions, interface, lints, structs, typed, typedefs,
    unions, valuetypes,
};

/// Generates the whole file.
pub(crate) fn generate(generator: &Generator<'_>, plan: &Plan) -> TokenStream {
    Modules { generator, plan }.contents(Vec::new(), &generator.spec.definitions)
}

struct Modules<'m> {
    generator: &'m Generator<'m>,
    plan: &'m Plan,
}

impl Modules<'_> {
    /// Generates the content of the Rust module of an IDL scope: `use` lines, then items in source
    /// order.
    fn contents(&self, idl_scope: Vec<String>, ids: &[DeclId]) -> TokenStream {
        let spec = self.generator.spec;
        let scope = Scope::new(self.generator, idl_scope);
        let mut items = Vec::new();
        let mut modules_done = Vec::new();
        for &id in ids {
            let declaration = &spec[id];
            if let DeclKind::Module(module) = &declaration.kind {
                if !modules_done.contains(&module.first_part) {
                    modules_done.push(module.first_part);
                    items.push(self.module(module.first_part, ids, &scope));
                }
                continue;
            }
            if self.plan.generates(id) {
                let item = item(&scope, declaration);
                let typed = typed::generate(&scope, declaration);
                let event = events::generate(&scope, declaration);
                items.push(at_root(&scope, quote!(#item #typed #event)));
            }
            items.push(self.inner(declaration, &scope));
        }
        let uses = scope.uses();
        quote!(#uses #(#items)*)
    }

    /// Generates an IDL module with all its parts, at the position of the first part.
    fn module(&self, first_part: DeclId, siblings: &[DeclId], scope: &Scope<'_>) -> TokenStream {
        let spec = self.generator.spec;
        let (mut body, mut comments) = (Vec::new(), Vec::new());
        for &id in siblings {
            if let DeclKind::Module(module) = &spec[id].kind
                && module.first_part == first_part
            {
                body.extend(&module.body);
                if !spec[id].doc.is_empty() && !comments.is_empty() {
                    comments.push(String::new());
                }
                comments.extend(spec[id].doc.iter().cloned());
            }
        }
        let declaration = &spec[first_part];
        let doc = doc(&comments, &format!("`module {}`.", declaration.name));
        self.nested(declaration, &doc, &body, scope)
    }

    /// Generates the module of the declarations inside an interface or type.
    fn inner(&self, declaration: &Declaration, scope: &Scope<'_>) -> TokenStream {
        let spec = self.generator.spec;
        if matches!(declaration.kind, DeclKind::Annotation(_)) {
            return TokenStream::new();
        }
        let children: Vec<DeclId> = spec
            .children(declaration.id)
            .iter()
            .copied()
            .filter(|&child| is_item(&spec[child]))
            .collect();
        if children.is_empty() {
            return TokenStream::new();
        }
        let what = declaration.kind.describe();
        let sentence = format!("Declarations inside `{what} {}`.", declaration.name);
        self.nested(declaration, &doc(&[], &sentence), &children, scope)
    }

    fn nested(
        &self,
        declaration: &Declaration,
        doc: &TokenStream,
        body: &[DeclId],
        scope: &Scope<'_>,
    ) -> TokenStream {
        let contents = self.contents(declaration.scoped_name.clone(), body);
        if contents.is_empty() {
            return TokenStream::new();
        }
        let names = &self.generator.names;
        let name = names.module(&declaration.scoped_name);
        let outer = declaration
            .scoped_name
            .split_last()
            .map(|(_, outer)| names.module(outer));
        let lints = lints::inner_module(name, outer);
        let name = ident(name);
        at_root(scope, quote!(#doc #lints pub mod #name { #contents }))
    }
}

/// Adds lint attributes to the root items: a program may use only part of its IDL, the file's items
/// are public wherever it is included, and it may be included in a module that has the IDL module's
/// name. Any call may raise a system exception: only other errors are documented.
fn at_root(scope: &Scope<'_>, items: TokenStream) -> TokenStream {
    if scope.depth() > 0 || items.is_empty() {
        return scope.laid_out(Piece::Items, items);
    }
    let allowed = syn::parse2::<syn::File>(items.clone()).map(allowed);
    scope.laid_out(Piece::Items, allowed.unwrap_or(items))
}

fn allowed(file: syn::File) -> TokenStream {
    let items = file.items.into_iter().map(|mut item| {
        let is_module = matches!(item, syn::Item::Mod(_));
        let has_operations = matches!(
            item,
            syn::Item::Mod(_) | syn::Item::Impl(_) | syn::Item::Trait(_)
        );
        let inception = is_module.then(|| quote!(, clippy::module_inception));
        if let Some(attributes) = attributes_of(&mut item) {
            let docs = attributes.iter().take_while(|a| a.path().is_ident("doc"));
            let after_docs = docs.count();
            let errors = has_operations.then(|| quote!(, clippy::missing_errors_doc));
            let allow = syn::parse_quote!(#[allow(dead_code, unreachable_pub #errors #inception)]);
            attributes.insert(after_docs, allow);
        }
        item
    });
    quote!(#(#items)*)
}

/// Returns the attributes of an item with a name of its own.
fn attributes_of(item: &mut syn::Item) -> Option<&mut Vec<syn::Attribute>> {
    match item {
        syn::Item::Const(item) if item.ident != "_" => Some(&mut item.attrs),
        syn::Item::Enum(item) => Some(&mut item.attrs),
        syn::Item::Impl(item) if item.trait_.is_none() => Some(&mut item.attrs),
        syn::Item::Mod(item) => Some(&mut item.attrs),
        syn::Item::Struct(item) => Some(&mut item.attrs),
        syn::Item::Trait(item) if !layout::is_macro_call(item) => Some(&mut item.attrs),
        syn::Item::Type(item) => Some(&mut item.attrs),
        _ => None,
    }
}

fn item(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    match &declaration.kind {
        DeclKind::Interface(interface) => interface::generate(scope, declaration, interface),
        DeclKind::Typedef(typedef) => typedefs::generate(scope, declaration, typedef),
        DeclKind::Struct(_) => structs::generate(scope, declaration),
        DeclKind::Exception(_) => exceptions::generate(scope, declaration),
        DeclKind::Union(union) => unions::generate(scope, declaration, union),
        DeclKind::Enum(enumeration) => enums::generate(scope, declaration, enumeration),
        DeclKind::Bitmask(bitmask) => bits::mask(scope, declaration, bitmask),
        DeclKind::Bitset(_) => bits::set(scope, declaration),
        DeclKind::Const(constant) => consts::generate(scope, declaration, constant),
        DeclKind::ValueType(value) => valuetypes::generate(scope, declaration, value),
        DeclKind::ValueBox(boxed) => valuetypes::generate_box(scope, declaration, boxed),
        // Parts of other items, named by the user, refused before, or without generated code.
        DeclKind::Module(_)
        | DeclKind::Annotation(_)
        | DeclKind::Operation(_)
        | DeclKind::Attribute(_)
        | DeclKind::Native => TokenStream::new(),
    }
}
