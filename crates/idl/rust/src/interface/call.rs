//! Calls on an object: an operation, or the reading or writing of an attribute (CORBA 3.3 part 1,
//! §7.14 and §7.15). Reference, servant and skeleton are all generated from these, so that names
//! and signatures agree.

use proc_macro2::{Ident, TokenStream};
use punctual_idl::implied::{self, Reply};
use punctual_idl::model::{
    Attribute, DeclId, DeclKind, Declaration, Direction, InterfaceFlavour, Operation, Type,
};
use quote::quote;

use crate::annotations::is_non_nil;
use crate::docs::{doc, doc_with};
use crate::names::{Claimant, Claims, Companion, Half, chosen, ident, snake};
use crate::scope::Scope;
use crate::{Generator, lints};

/// Operation, or the reading or writing of an attribute.
pub(crate) struct Call<'a> {
    /// Operation or attribute.
    pub(crate) declaration: &'a Declaration,
    /// Interface that declares the operation or attribute.
    pub(crate) owner: &'a Declaration,
    /// Name of the operation in a request.
    pub(crate) wire_name: String,
    /// Name of the method, in the reference or the trait, depending on the source of the call. It
    /// is derived from the operation's name, unless several bases have operations of that name.
    pub(crate) method: String,
    half: Half,
    pub(crate) oneway: bool,
    pub(crate) returns: Option<Value<'a>>,
    pub(crate) parameters: Vec<Parameter<'a>>,
    pub(crate) raises: &'a [DeclId],
    pub(crate) context: &'a [String],
    error: Companion,
    /// `true` if the reference type with this method holds the object reference itself, rather than
    /// the reference of a base.
    is_of_root: bool,
    pub(crate) fallback_doc: String,
}

/// Type of a parameter or result.
#[derive(Clone, Copy)]
pub(crate) struct Value<'a> {
    pub(crate) ty: &'a Type,
    pub(crate) non_nil: bool,
}

/// Named parameter.
pub(crate) struct Parameter<'a> {
    /// Rust name of the parameter, without `r#`.
    pub(crate) name: String,
    /// Name in IDL.
    pub(crate) idl_name: &'a str,
    pub(crate) direction: Direction,
    pub(crate) value: Value<'a>,
}

/// Returns the calls of an interface and of all its bases, bases' first: the methods of a
/// reference.
pub(crate) fn all<'a>(generator: &'a Generator<'a>, interface: DeclId) -> Vec<Call<'a>> {
    let owners = generator.spec.ancestors(interface).into_iter();
    let mut calls: Vec<Call<'a>> = owners
        .chain([interface])
        .flat_map(|owner| own(generator, owner))
        .collect();
    claim_names(generator, &mut calls);
    let is_root = generator.spec.bases(interface).is_empty();
    for call in &mut calls {
        call.is_of_root = is_root;
    }
    calls
}

/// Returns the calls that an interface itself declares: the methods of its servant's trait.
pub(crate) fn own<'a>(generator: &'a Generator<'a>, interface: DeclId) -> Vec<Call<'a>> {
    of(generator, generator.spec.children(interface).to_vec())
}

/// Returns the methods of a local interface's trait: its own calls, and those of its non-local
/// ancestors, except the ones inherited through a local base, whose trait has them.
pub(crate) fn of_local<'a>(generator: &'a Generator<'a>, interface: DeclId) -> Vec<Call<'a>> {
    let spec = generator.spec;
    let is_local = |id: DeclId| {
        matches!(&spec[id].kind,
        DeclKind::Interface(i) if i.flavour == InterfaceFlavour::Local)
    };
    let reached_by_local_base: Vec<DeclId> = spec
        .bases(interface)
        .iter()
        .filter(|&&base| is_local(base))
        .flat_map(|&base| spec.ancestors(base))
        .collect();
    let children = spec
        .ancestors(interface)
        .into_iter()
        .filter(|base| !is_local(*base) && !reached_by_local_base.contains(base))
        .chain([interface])
        .flat_map(|owner| spec.children(owner).iter().copied())
        .collect();
    let mut calls = of(generator, children);
    claim_names(generator, &mut calls);
    calls
}

/// Gives distinct names to calls that have one name in unrelated bases.
fn claim_names(generator: &Generator<'_>, calls: &mut [Call<'_>]) {
    let mut claims = Claims::default();
    for call in calls {
        call.method = claims.claim(
            std::mem::take(&mut call.method),
            call.half.claimant(call.declaration),
            generator.spec,
            &mut generator.warnings.lock(),
        );
    }
}

fn of<'a>(generator: &'a Generator<'a>, children: Vec<DeclId>) -> Vec<Call<'a>> {
    let spec = generator.spec;
    let mut calls = Vec::new();
    for child in children {
        let declaration = &spec[child];
        let Some(owner) = declaration.parent.map(|id| &spec[id]) else {
            continue;
        };
        match &declaration.kind {
            DeclKind::Operation(operation) => {
                calls.push(Call::operation(generator, declaration, owner, operation));
            }
            DeclKind::Attribute(attribute) => {
                calls.push(Call::getter(generator, declaration, owner, attribute));
                if !attribute.readonly {
                    calls.push(Call::setter(generator, declaration, owner, attribute));
                }
            }
            _ => {}
        }
    }
    calls
}

/// Returns parameters with distinct names.
pub(crate) fn named<'a>(
    generator: &Generator<'_>,
    parameters: &'a [punctual_idl::model::Parameter],
) -> Vec<Parameter<'a>> {
    let mut claims = Claims::default();
    let parameters = parameters.iter().map(|parameter| {
        let preferred = chosen(
            &parameter.annotations,
            generator.spec,
            &mut generator.errors.lock(),
        );
        let claimant = Claimant::new(&parameter.name, &parameter.location);
        Parameter {
            name: claims.claim(
                preferred.unwrap_or_else(|| snake(&parameter.name)),
                claimant,
                generator.spec,
                &mut generator.warnings.lock(),
            ),
            idl_name: &parameter.name,
            direction: parameter.direction,
            value: Value {
                ty: &parameter.ty,
                non_nil: is_non_nil(&parameter.annotations),
            },
        }
    });
    parameters.collect()
}

impl<'a> Call<'a> {
    fn operation(
        generator: &Generator<'_>,
        declaration: &'a Declaration,
        owner: &'a Declaration,
        operation: &'a Operation,
    ) -> Self {
        let parameters = named(generator, &operation.parameters);
        Call {
            wire_name: declaration.name.clone(),
            method: generator
                .names
                .method(declaration.id, Half::Main)
                .to_owned(),
            half: Half::Main,
            oneway: operation.oneway,
            returns: (operation.returns != Type::Void).then(|| Value {
                ty: &operation.returns,
                non_nil: is_non_nil(&declaration.annotations),
            }),
            parameters,
            raises: &operation.raises,
            context: &operation.context,
            error: Companion::Error,
            is_of_root: true,
            fallback_doc: format!("Operation `{}`.", declaration.name),
            declaration,
            owner,
        }
    }

    fn getter(
        generator: &Generator<'_>,
        declaration: &'a Declaration,
        owner: &'a Declaration,
        attribute: &'a Attribute,
    ) -> Self {
        Call {
            wire_name: format!("_get_{}", declaration.name),
            method: generator
                .names
                .method(declaration.id, Half::Main)
                .to_owned(),
            half: Half::Main,
            oneway: false,
            returns: Some(Value {
                ty: &attribute.ty,
                non_nil: is_non_nil(&declaration.annotations),
            }),
            parameters: Vec::new(),
            raises: &attribute.get_raises,
            context: &[],
            error: Companion::Error,
            is_of_root: true,
            fallback_doc: format!("Attribute `{}`.", declaration.name),
            declaration,
            owner,
        }
    }

    fn setter(
        generator: &Generator<'_>,
        declaration: &'a Declaration,
        owner: &'a Declaration,
        attribute: &'a Attribute,
    ) -> Self {
        let value = Parameter {
            name: "value".to_owned(),
            idl_name: "value",
            direction: Direction::In,
            value: Value {
                ty: &attribute.ty,
                non_nil: is_non_nil(&declaration.annotations),
            },
        };
        Call {
            wire_name: format!("_set_{}", declaration.name),
            method: generator
                .names
                .method(declaration.id, Half::Setter)
                .to_owned(),
            half: Half::Setter,
            oneway: false,
            returns: None,
            parameters: vec![value],
            raises: &attribute.set_raises,
            context: &[],
            error: Companion::SetError,
            is_of_root: true,
            fallback_doc: format!("Sets attribute `{}`.", declaration.name),
            declaration,
            owner,
        }
    }

    /// Returns whether the call reads an attribute.
    pub(crate) fn is_getter(&self) -> bool {
        matches!(self.declaration.kind, DeclKind::Attribute(_)) && self.half == Half::Main
    }

    /// Returns the handler operations that deliver the call's reply.
    pub(crate) fn reply(&self, generator: &Generator<'_>) -> Option<Reply> {
        let half = match self.half {
            Half::Main => implied::Half::Main,
            Half::Setter => implied::Half::Setter,
        };
        generator.handlers.reply(self.declaration.id, half)
    }

    /// Generates an expression of the untyped object reference inside the typed reference that has
    /// this method.
    pub(crate) fn object(&self, scope: &Scope<'_>) -> TokenStream {
        if self.is_of_root {
            return quote!(&self.0);
        }
        // An operation may have the method's name.
        let interface = scope.name("Interface");
        quote!(#interface::as_object(self))
    }

    pub(crate) fn method_ident(&self) -> Ident {
        ident(&self.method)
    }

    /// Returns the method's name in the trait that the owner's servants implement.
    pub(crate) fn trait_method(&self, generator: &Generator<'_>) -> Ident {
        ident(generator.names.method(self.declaration.id, self.half))
    }

    /// Generates `fn name(&self, …) -> Result<…>` with the attributes that clippy needs before it.
    pub(crate) fn signature(&self, scope: &Scope<'_>, visibility: &TokenStream) -> TokenStream {
        let returns = self.return_type(scope);
        let count = 1 + self.passed().count() + usize::from(!self.context.is_empty());
        let largest = lints::largest(&scope.generator.facts, self.raises);
        let lints = lints::method(&self.method, count, &returns, largest);
        let signature = self.bare_signature(scope);
        quote!(#lints #visibility #signature)
    }

    /// Generates `fn name(&self, …) -> Result<…>`, for an implementation of a trait.
    pub(crate) fn bare_signature(&self, scope: &Scope<'_>) -> TokenStream {
        let name = self.method_ident();
        let parameters = self.passed_signature(scope);
        let returns = self.return_type(scope);
        quote!(fn #name(&self #parameters) -> #returns)
    }

    /// Generates the declarations of the parameters that the caller passes, each preceded by a
    /// comma.
    pub(crate) fn passed_signature(&self, scope: &Scope<'_>) -> TokenStream {
        let parameters = self.passed().map(|parameter| {
            let name = ident(&parameter.name);
            let Value { ty, non_nil } = parameter.value;
            let ty = if parameter.direction == Direction::InOut {
                let owned = scope.owned(ty, non_nil);
                quote!(&mut #owned)
            } else {
                scope.parameter(ty, non_nil)
            };
            quote!(, #name: #ty)
        });
        let context = self.context_name().map(|name| {
            let ty = scope.name("Context");
            quote!(, #name: &#ty)
        });
        quote!(#(#parameters)* #context)
    }

    /// Generates the method's documentation: the IDL comment, and the user exceptions that the
    /// method may return as errors.
    pub(crate) fn doc(&self, generator: &Generator<'_>) -> TokenStream {
        if self.raises.is_empty() {
            return doc(&self.declaration.doc, &self.fallback_doc);
        }
        let lines = ["# Errors", &self.errors_doc(generator)];
        doc_with(&self.declaration.doc, &self.fallback_doc, &lines)
    }

    /// Returns a sentence that lists the operation's user exceptions.
    pub(crate) fn errors_doc(&self, generator: &Generator<'_>) -> String {
        let names = self
            .raises
            .iter()
            .map(|&id| format!("`{}`", generator.names.item(id)));
        let names: Vec<String> = names.collect();
        match names.as_slice() {
            [] => "A system exception.".to_owned(),
            names => format!("{}, or a system exception.", names.join(", ")),
        }
    }

    /// Returns the parameters that the caller passes: all except `out` ones.
    pub(crate) fn passed(&self) -> impl Iterator<Item = &Parameter<'a>> {
        self.parameters
            .iter()
            .filter(|p| p.direction != Direction::Out)
    }

    /// Returns the parameters in the reply: all except `in` ones.
    pub(crate) fn replied(&self) -> impl Iterator<Item = &Parameter<'a>> {
        self.parameters
            .iter()
            .filter(|p| p.direction != Direction::In)
    }

    /// Returns the names in use by parameters, to choose names of locals.
    pub(crate) fn locals(&self) -> Claims {
        let mut claims = Claims::default();
        for parameter in &self.parameters {
            claims.reserve(&parameter.name);
        }
        if let Some(context) = self.context_name() {
            claims.reserve(&context.to_string());
        }
        claims
    }

    /// Returns the name of the parameter for the `context` clause.
    pub(crate) fn context_name(&self) -> Option<Ident> {
        if self.context.is_empty() {
            return None;
        }
        let mut claims = Claims::default();
        for parameter in &self.parameters {
            claims.reserve(&parameter.name);
        }
        Some(claims.fresh("context"))
    }

    /// Generates the error type of the method.
    pub(crate) fn error_type(&self, scope: &Scope<'_>) -> TokenStream {
        if self.raises.is_empty() {
            scope.name("SystemException")
        } else {
            scope.error_of(self.owner, self.declaration.id, self.error)
        }
    }

    /// Returns the name of the error's enum, if it has one of its own.
    pub(crate) fn error_name(&self, generator: &Generator<'_>) -> Option<Ident> {
        let name = generator.names.companion(self.declaration.id, self.error);
        (!self.raises.is_empty()).then(|| ident(name))
    }

    /// Generates the return type of the method.
    pub(crate) fn return_type(&self, scope: &Scope<'_>) -> TokenStream {
        let outs = self
            .parameters
            .iter()
            .filter(|p| p.direction == Direction::Out)
            .map(|p| p.value);
        let types: Vec<TokenStream> = self
            .returns
            .into_iter()
            .chain(outs)
            .map(|value| scope.owned(value.ty, value.non_nil))
            .collect();
        let (result, error) = (scope.name("Result"), self.error_type(scope));
        let value = tuple(&types);
        quote!(#result<#value, #error>)
    }
}

/// Generates a tuple; a single item is generated unchanged, without parentheses.
pub(crate) fn tuple(things: &[TokenStream]) -> TokenStream {
    match things {
        [one] => one.clone(),
        several => quote!((#(#several),*)),
    }
}
