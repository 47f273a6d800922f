//! Names: every declaration's Rust name, the Rust module of each IDL scope, and the names of the
//! companions of a declaration. Assigned once, before any code is written, so that all places
//! agree.

mod case;
mod claims;
mod methods;

use std::collections::BTreeMap;

use crate::Options;
use punctual_idl::diagnostic::Diagnostic;
use punctual_idl::model::{
    DeclId, DeclKind, Declaration, InterfaceFlavour, Specification, ValueFlavour, ValueType,
};

pub use case::is_keyword;
use case::module;
pub(crate) use case::{ident, screaming_snake, snake, upper_camel};
pub(crate) use claims::{Claimant, Claims, chosen};
pub(crate) use methods::Half;
use methods::Methods;

/// Scoped name of an IDL scope; empty for the global one.
pub(crate) type IdlScope = [String];

/// Companion generated beside an interface, valuetype or typedef.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Companion {
    /// Trait that servants implement.
    Servant,
    /// Struct that dispatches requests to a servant.
    Skeleton,
    /// Trait of servants that answer later.
    AmhServant,
    /// Struct that dispatches requests to a servant that answers later.
    AmhSkeleton,
    /// Trait of servants whose operations are `async`.
    AsyncServant,
    /// Error of an operation, or of the reading of an attribute.
    Error,
    /// Error of the writing of an attribute.
    SetError,
    /// Type that has a typedef's TypeCode.
    Alias,
    /// Typed object reference of an abstract interface.
    Object,
    /// Struct of a value's members.
    State,
    /// Factory of values.
    Factory,
    /// Trait of implementations of a valuetype's operations.
    Operations,
    /// Trait of implementations of a valuetype's initializers.
    Initializers,
}

/// Names of a specification.
#[derive(Debug, Default)]
pub(crate) struct Names {
    items: BTreeMap<DeclId, String>,
    modules: BTreeMap<Vec<String>, String>,
    companions: BTreeMap<(DeclId, Companion), String>,
    claims: BTreeMap<Vec<String>, Claims>,
    methods: Methods,
}

impl Names {
    /// Assigns the names of everything that becomes an item of a module.
    pub(crate) fn new(
        spec: &Specification,
        options: &Options,
        warnings: &mut Vec<Diagnostic>,
        errors: &mut Vec<Diagnostic>,
    ) -> Names {
        let mut names = Names::default();
        // First the names fixed by `@rust_name`, then those that IDL declares, then those of
        // companions.
        for declaration in items(spec) {
            if let Some(name) = chosen(&declaration.annotations, spec, errors) {
                names.name_item(spec, declaration, name, warnings);
            }
        }
        for declaration in items(spec) {
            if !names.items.contains_key(&declaration.id) {
                let preferred = preferred(declaration);
                names.name_item(spec, declaration, preferred, warnings);
            }
        }
        for declaration in items(spec) {
            names.name_companions(spec, declaration, warnings);
        }
        for declaration in items(spec) {
            names.name_later(spec, options, declaration, warnings);
        }
        names.methods = Methods::new(spec, warnings, errors);
        names
    }

    /// Returns the Rust name of a type or constant.
    pub(crate) fn item(&self, id: DeclId) -> &str {
        self.items.get(&id).map_or("", String::as_str)
    }

    /// Returns the Rust module of an IDL scope, by its last name.
    pub(crate) fn module(&self, scope: &IdlScope) -> &str {
        self.modules.get(scope).map_or("", String::as_str)
    }

    /// Returns the name of a companion of an interface or of one of its operations.
    pub(crate) fn companion(&self, id: DeclId, companion: Companion) -> &str {
        self.companions
            .get(&(id, companion))
            .map_or("", String::as_str)
    }

    /// Returns the method of an operation or of half an attribute, as in the interface that
    /// declares it: in its reference and in its servant's trait.
    pub(crate) fn method(&self, id: DeclId, half: Half) -> &str {
        self.methods.of(id, half)
    }

    /// Returns `true` if an item in the Rust module of `scope` is called `name`.
    pub(crate) fn is_taken(&self, scope: &IdlScope, name: &str) -> bool {
        self.claims
            .get(scope)
            .is_some_and(|claims| claims.contains(name))
    }

    fn name_item(
        &mut self,
        spec: &Specification,
        declaration: &Declaration,
        preferred: String,
        warnings: &mut Vec<Diagnostic>,
    ) {
        let is_module = matches!(declaration.kind, DeclKind::Module(_));
        if is_module && let Some(name) = self.modules.get(&declaration.scoped_name) {
            self.items.insert(declaration.id, name.clone());
            return;
        }
        let name = self.claim(spec, declaration, preferred, warnings);
        if is_module {
            self.modules
                .insert(declaration.scoped_name.clone(), name.clone());
        }
        self.items.insert(declaration.id, name);
    }

    fn name_companions(
        &mut self,
        spec: &Specification,
        declaration: &Declaration,
        warnings: &mut Vec<Diagnostic>,
    ) {
        let id = declaration.id;
        let name = self.item(id).to_owned();
        if let DeclKind::Interface(interface) = &declaration.kind {
            let companions: &[(Companion, &str)] = match interface.flavour {
                InterfaceFlavour::Plain => &[
                    (Companion::Servant, "Servant"),
                    (Companion::Skeleton, "Skeleton"),
                ],
                InterfaceFlavour::Abstract => &[
                    (Companion::Object, "Object"),
                    (Companion::Servant, "Servant"),
                    (Companion::Skeleton, "Skeleton"),
                ],
                InterfaceFlavour::Local => &[],
            };
            self.name_each(spec, declaration, companions, warnings);
            for &child in &interface.body {
                self.name_errors(spec, &name, &spec[child], warnings);
            }
        }
        if let DeclKind::ValueType(value) = &declaration.kind {
            self.name_each(spec, declaration, value_companions(value), warnings);
            for &child in &value.body {
                self.name_errors(spec, &name, &spec[child], warnings);
            }
        }
        if matches!(declaration.kind, DeclKind::ValueBox(_)) {
            self.name_each(spec, declaration, STATE_AND_FACTORY, warnings);
        }
        if matches!(declaration.kind, DeclKind::Typedef(_)) {
            let given = self.claim(spec, declaration, format!("{name}Alias"), warnings);
            self.companions.insert((id, Companion::Alias), given);
        }
        let has_module = spec.children(id).iter().any(|&child| is_item(&spec[child]));
        if has_module && !matches!(declaration.kind, DeclKind::Module(_)) {
            let given = self.claim(spec, declaration, module(&name), warnings);
            self.modules.insert(declaration.scoped_name.clone(), given);
        }
    }

    /// Names the companions of an interface for servants that answer later.
    fn name_later(
        &mut self,
        spec: &Specification,
        options: &Options,
        declaration: &Declaration,
        warnings: &mut Vec<Diagnostic>,
    ) {
        let is_called = matches!(&declaration.kind,
            DeclKind::Interface(interface) if interface.flavour != InterfaceFlavour::Local);
        if !is_called || !options.answers_later() {
            return;
        }
        let companions = [
            (Companion::AmhServant, "AmhServant"),
            (Companion::AmhSkeleton, "AmhSkeleton"),
            (Companion::AsyncServant, "AsyncServant"),
        ];
        let count = if options.async_servants { 3 } else { 2 };
        self.name_each(spec, declaration, &companions[..count], warnings);
    }

    fn name_each(
        &mut self,
        spec: &Specification,
        declaration: &Declaration,
        companions: &[(Companion, &str)],
        warnings: &mut Vec<Diagnostic>,
    ) {
        let name = self.item(declaration.id).to_owned();
        for (companion, suffix) in companions {
            let given = self.claim(spec, declaration, format!("{name}{suffix}"), warnings);
            self.companions.insert((declaration.id, *companion), given);
        }
    }

    fn name_errors(
        &mut self,
        spec: &Specification,
        interface: &str,
        child: &Declaration,
        warnings: &mut Vec<Diagnostic>,
    ) {
        let operation = upper_camel(&child.name);
        let wanted = match &child.kind {
            DeclKind::Operation(op) if !op.raises.is_empty() => {
                vec![(Companion::Error, format!("{interface}{operation}Error"))]
            }
            DeclKind::Attribute(attribute) => {
                let get = (Companion::Error, format!("{interface}Get{operation}Error"));
                let set = (
                    Companion::SetError,
                    format!("{interface}Set{operation}Error"),
                );
                let get = (!attribute.get_raises.is_empty()).then_some(get);
                let set = (!attribute.set_raises.is_empty()).then_some(set);
                get.into_iter().chain(set).collect()
            }
            _ => Vec::new(),
        };
        let scope = outer_scope(&outer_scope(&child.scoped_name)).to_vec();
        for (companion, preferred) in wanted {
            let claimant = claimant(child);
            let claims = self.claims.entry(scope.clone()).or_default();
            let given = claims.claim(preferred, claimant, spec, warnings);
            self.companions.insert((child.id, companion), given);
        }
    }

    fn claim(
        &mut self,
        spec: &Specification,
        declaration: &Declaration,
        preferred: String,
        warnings: &mut Vec<Diagnostic>,
    ) -> String {
        let scope = outer_scope(&declaration.scoped_name).to_vec();
        let claims = self.claims.entry(scope).or_default();
        claims.claim(preferred, claimant(declaration), spec, warnings)
    }
}

const STATE_AND_FACTORY: &[(Companion, &str)] =
    &[(Companion::State, "State"), (Companion::Factory, "Factory")];

/// Returns the possible companions of a valuetype.
fn value_companions(value: &ValueType) -> &'static [(Companion, &'static str)] {
    const ALL: &[(Companion, &str)] = &[
        (Companion::Operations, "Operations"),
        (Companion::State, "State"),
        (Companion::Factory, "Factory"),
        (Companion::Initializers, "Initializers"),
    ];
    let count = match value.flavour {
        ValueFlavour::Abstract => 1,
        _ if value.factories.is_empty() => 3,
        _ => 4,
    };
    ALL.get(..count).unwrap_or_default()
}

/// Returns a scoped name without its last name.
pub(crate) fn outer_scope(scoped_name: &IdlScope) -> Vec<String> {
    scoped_name
        .split_last()
        .map_or_else(Vec::new, |(_, outer)| outer.to_vec())
}

/// Returns `true` for a declaration that becomes an item of a module rather than a part of one.
pub(crate) fn is_item(declaration: &Declaration) -> bool {
    !matches!(
        declaration.kind,
        DeclKind::Operation(_) | DeclKind::Attribute(_) | DeclKind::Annotation(_)
    )
}

fn items(spec: &Specification) -> impl Iterator<Item = &Declaration> {
    let in_annotation = |d: &Declaration| {
        let parent = d.parent.map(|id| &spec[id].kind);
        matches!(parent, Some(DeclKind::Annotation(_)))
    };
    let is_item = move |d: &&Declaration| is_item(d) && !in_annotation(d);
    spec.declarations.iter().filter(is_item)
}

fn claimant(declaration: &Declaration) -> Claimant {
    Claimant::new(&declaration.name, &declaration.location)
}

fn preferred(declaration: &Declaration) -> String {
    match declaration.kind {
        DeclKind::Module(_) => module(&declaration.name),
        DeclKind::Const(_) => screaming_snake(&declaration.name),
        _ => upper_camel(&declaration.name),
    }
}
