//! Factories of values of a type.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::model::{DeclKind, Declaration, ValueFlavour, ValueType};
use quote::quote;

use super::initializers::{self, Initializer};
use super::lineage::{has_operations, truncatable_to, with_operations};
use crate::names::{Claims, Companion, ident};
use crate::scope::Scope;

/// Factory under construction.
struct Factory<'s, 'g> {
    scope: &'s Scope<'g>,
    declaration: &'s Declaration,
    name: Ident,
    handle: TokenStream,
    state: TokenStream,
    has_operations: bool,
    initializers: Vec<Initializer<'s>>,
    is_custom: bool,
}

pub(super) fn generate(
    scope: &Scope<'_>,
    declaration: &Declaration,
    value: &ValueType,
) -> TokenStream {
    let mut factory = Factory::new(scope, declaration);
    factory.has_operations = has_operations(scope.generator, declaration.id);
    factory.initializers = initializers::all(scope, declaration, value);
    factory.is_custom = value.flavour == ValueFlavour::Custom;
    factory.definition()
}

pub(super) fn generate_box(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    Factory::new(scope, declaration).definition()
}

/// Generates an expression of the factory of a type's values without operations.
pub(super) fn without_operations(scope: &Scope<'_>, declaration: &Declaration) -> TokenStream {
    let factory = scope.companion(declaration, Companion::Factory);
    let has_initializers =
        matches!(&declaration.kind, DeclKind::ValueType(v) if !v.factories.is_empty());
    if has_initializers || has_operations(scope.generator, declaration.id) {
        quote!(#factory::default())
    } else {
        factory
    }
}

impl<'s, 'g> Factory<'s, 'g> {
    fn new(scope: &'s Scope<'g>, declaration: &'s Declaration) -> Self {
        let names = &scope.generator.names;
        Factory {
            scope,
            declaration,
            name: ident(names.companion(declaration.id, Companion::Factory)),
            handle: scope.path(declaration),
            state: scope.companion(declaration, Companion::State),
            has_operations: false,
            initializers: Vec::new(),
            is_custom: false,
        }
    }

    fn definition(&self) -> TokenStream {
        let scope = self.scope;
        let name = &self.name;
        let text = format!(
            " Factory of values of `{}`; register it with each ORB that reads them.",
            self.declaration.name
        );
        let fields = self.fields();
        let has_fields = !fields.is_empty();
        let struct_ = if has_fields {
            quote!(pub struct #name { #(#fields,)* })
        } else {
            quote!(pub struct #name;)
        };
        let methods = self.methods(has_fields);
        let [fmt, formatter] = [scope.name("fmt"), quote!(Formatter)];
        let text_of_debug = name.to_string();
        let value_factory = self.value_factory_impl();
        quote! {
            #[doc = #text]
            #[derive(Clone, Default)]
            #struct_
            #methods
            impl #fmt::Debug for #name {
                fn fmt(&self, f: &mut #fmt::#formatter<'_>) -> #fmt::Result {
                    f.write_str(#text_of_debug)
                }
            }
            #value_factory
        }
    }

    fn operations(&self) -> TokenStream {
        self.scope
            .companion(self.declaration, Companion::Operations)
    }

    fn initializers(&self) -> TokenStream {
        self.scope
            .companion(self.declaration, Companion::Initializers)
    }

    /// Generates the fields with their types.
    fn fields(&self) -> Vec<TokenStream> {
        let [option, arc] = ["Option", "Arc"].map(|name| self.scope.name(name));
        let mut fields = Vec::new();
        if self.has_operations {
            let operations = self.operations();
            fields.push(quote!(operations: #option<#arc<dyn #operations>>));
        }
        if !self.initializers.is_empty() {
            let initializers = self.initializers();
            fields.push(quote!(initializers: #option<#arc<dyn #initializers>>));
        }
        fields
    }

    fn methods(&self, has_fields: bool) -> TokenStream {
        let scope = self.scope;
        let (name, handle, state) = (&self.name, &self.handle, &self.state);
        let mut claims = Claims::default();
        for initializer in &self.initializers {
            claims.reserve(&initializer.method.to_string());
        }
        let [new, create, beside] =
            ["new", "create", "create_beside"].map(|name| claims.fresh(name));
        let [value_type, value_ref, arc, boxed, clone] =
            ["ValueType", "ValueRef", "Arc", "Box", "Clone"].map(|name| scope.name(name));
        let new = has_fields.then(|| self.constructor(&new));
        let initializers = self
            .initializers
            .iter()
            .map(|initializer| self.initializer(initializer, &create));
        quote! {
            impl #name {
                #new
                /// Creates a value with this state, in a graph of its own.
                #[must_use]
                pub fn #create(&self, state: #state) -> #handle {
                    let factory = #arc::new(#clone::clone(self));
                    #value_type::from_value(#value_ref::new(factory, #boxed::new(state)))
                }
                /// Creates a value with this state in the graph of another value: a cycle through both is freed as a whole.
                #[must_use]
                pub fn #beside(&self, other: &impl #value_type, state: #state) -> #handle {
                    let factory = #arc::new(#clone::clone(self));
                    let other = #value_type::as_value(other);
                    #value_type::from_value(other.beside(factory, #boxed::new(state)))
                }
                #(#initializers)*
            }
        }
    }

    /// Generates `new`, which takes the implementation of all operations.
    fn constructor(&self, new: &Ident) -> TokenStream {
        let scope = self.scope;
        let [arc, some, clone] = ["Arc", "Some", "Clone"].map(|name| scope.name(name));
        let (mut bounds, mut values) = (Vec::new(), Vec::new());
        if self.has_operations {
            bounds.push(self.operations());
            values.push(quote!(operations));
        }
        if !self.initializers.is_empty() {
            bounds.push(self.initializers());
            values.push(quote!(initializers));
        }
        let (last, others) = match values.split_last() {
            Some((last, others)) => (last.clone(), others.to_vec()),
            None => return TokenStream::new(),
        };
        quote! {
            /// Creates a factory of values with the operations of an implementation.
            #[must_use]
            pub fn #new(implementation: impl #(#bounds)+*) -> Self {
                let implementation = #arc::new(implementation);
                Self {
                    #(#others: #some(#clone::clone(&implementation) as _),)*
                    #last: #some(implementation),
                }
            }
        }
    }

    fn initializer(&self, initializer: &Initializer<'_>, create: &Ident) -> TokenStream {
        let scope = self.scope;
        let [ok, some, err] = ["Ok", "Some", "Err"].map(|name| scope.name(name));
        let no_initializer = scope.name("no_initializer");
        let doc = initializer.doc(scope);
        let signature = initializer.signature(scope, &quote!(pub), &self.handle);
        let method = &initializer.method;
        let passed = initializer.parameters.iter().map(|p| ident(&p.name));
        let id = &self.declaration.repository_id;
        let mut locals = Claims::default();
        for parameter in &initializer.parameters {
            locals.reserve(&parameter.name);
        }
        let local = locals.fresh("initializers");
        let into = (!initializer.factory.raises.is_empty()).then(|| quote!(.into()));
        quote! {
            #doc
            #signature {
                let #some(#local) = &self.initializers else {
                    return #err(#no_initializer(#id) #into);
                };
                #ok(self.#create(#local.#method(#(#passed),*)?))
            }
        }
    }

    fn value_factory_impl(&self) -> TokenStream {
        let scope = self.scope;
        let spec = scope.generator.spec;
        let (name, state) = (&self.name, &self.state);
        let [value_factory, value_state, boxed] =
            ["ValueFactory", "ValueState", "Box"].map(|name| scope.name(name));
        let id = &self.declaration.repository_id;
        let is_custom = self.is_custom.then(|| {
            quote! {
                fn is_custom(&self) -> bool {
                    true
                }
            }
        });
        let handle = &self.handle;
        let value_type = scope.name("ValueType");
        let truncatable = truncatable_to(spec, self.declaration.id).map(|_| {
            let option = scope.name("Option");
            quote! {
                fn truncatable_to(&self, at: usize) -> #option<&str> {
                    <#handle as #value_type>::TRUNCATABLE_TO.get(at).copied()
                }
            }
        });
        let view = self.view();
        quote! {
            impl #value_factory for #name {
                fn repository_id(&self) -> &str {
                    #id
                }
                #truncatable
                #is_custom
                fn kinds(&self) -> &[::std::any::TypeId] {
                    <#handle as #value_type>::KINDS
                }
                fn create(&self) -> #boxed<dyn #value_state> {
                    #boxed::<#state>::default()
                }
                #view
            }
        }
    }

    /// Generates the views: the operations as known to handles to the type and to its bases; and
    /// the value as a servant of the interfaces that it supports.
    fn view(&self) -> TokenStream {
        if !self.has_operations {
            return TokenStream::new();
        }
        let scope = self.scope;
        let spec = scope.generator.spec;
        let [option, some, none, boxed, arc, clone, value_ref, value_type] = [
            "Option",
            "Some",
            "None",
            "Box",
            "Arc",
            "Clone",
            "ValueRef",
            "ValueType",
        ]
        .map(|name| scope.name(name));
        let own = self.operations();
        let traits = with_operations(spec, self.declaration.id).into_iter().rev();
        let traits = traits.map(|value| scope.companion(&spec[value], Companion::Operations));
        let as_operations = scope.name("as_operations");
        let operations = quote!(#as_operations!(wanted, operations, #own, [#(#traits),*]););
        let handle = &self.handle;
        let servants = super::supports::servants(scope, self.declaration.id)
            .into_iter()
            .map(|interface| {
                let servant = scope.companion(&spec[interface], Companion::Servant);
                quote! {
                    if wanted == ::std::any::TypeId::of::<#arc<dyn #servant>>() {
                        let value: #handle = #value_type::from_value(#clone::clone(value));
                        let servant: #arc<dyn #servant> = #arc::new(value);
                        return #some(#boxed::new(servant));
                    }
                }
            })
            .collect::<Vec<_>>();
        let value = if servants.is_empty() {
            quote!(_value)
        } else {
            quote!(value)
        };
        quote! {
            fn view(
                &self,
                wanted: ::std::any::TypeId,
                #value: &#value_ref,
            ) -> #option<#boxed<dyn ::std::any::Any>> {
                let operations = self.operations.as_ref()?;
                #operations
                #(#servants)*
                #none
            }
        }
    }
}
