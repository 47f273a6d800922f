//! Names of methods: one for an operation, one or two for an attribute.
//!
//! A reference offers the calls of all bases in addition to an interface's own, a servant's trait
//! only the interface's own. Own calls get names that differ from the inherited ones in both, so
//! that caller and servant use the same name. Calls of the same name in two unrelated bases are
//! renamed in the reference of the interface that joins them; the bases' traits keep the name.

use std::collections::BTreeMap;

use punctual_idl::diagnostic::Diagnostic;
use punctual_idl::model::{DeclId, DeclKind, Declaration, Specification};

use super::{Claimant, Claims, chosen, snake};

/// Method that a declaration is mapped to: an attribute that is not read-only has two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Half {
    /// Operation, or reading of the attribute.
    Main,
    /// Writing of the attribute.
    Setter,
}

/// Names of the methods, as in the interface that declares the operation or attribute.
#[derive(Debug, Default)]
pub(super) struct Methods {
    names: BTreeMap<(DeclId, Half), String>,
}

impl Methods {
    pub(super) fn new(
        spec: &Specification,
        warnings: &mut Vec<Diagnostic>,
        errors: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut methods = Self::default();
        let mut is_named = vec![false; spec.declarations.len()];
        for declaration in &spec.declarations {
            if !matches!(
                declaration.kind,
                DeclKind::Interface(_) | DeclKind::ValueType(_)
            ) {
                continue;
            }
            // A base that was declared forward may be defined behind interfaces that derive from
            // it.
            for id in spec
                .ancestors(declaration.id)
                .into_iter()
                .chain([declaration.id])
            {
                if !std::mem::replace(&mut is_named[id.index()], true) {
                    methods.name_own(spec, id, warnings, errors);
                }
            }
        }
        methods
    }

    pub(super) fn of(&self, id: DeclId, half: Half) -> &str {
        self.names.get(&(id, half)).map_or("", String::as_str)
    }

    /// Names an interface's own calls so that they differ from those that it inherits, which keep
    /// their names.
    fn name_own(
        &mut self,
        spec: &Specification,
        interface: DeclId,
        warnings: &mut Vec<Diagnostic>,
        errors: &mut Vec<Diagnostic>,
    ) {
        let mut claims = Claims::default();
        for base in spec.ancestors(interface) {
            for (declaration, half) in calls(spec, base) {
                let name = self.of(declaration.id, half).to_owned();
                claims.claim(name, half.claimant(declaration), spec, warnings);
            }
        }
        for (declaration, half) in calls(spec, interface) {
            let name = chosen(&declaration.annotations, spec, errors)
                .unwrap_or_else(|| snake(&declaration.name));
            let preferred = match half {
                Half::Main => name,
                Half::Setter => format!("set_{name}"),
            };
            let given = claims.claim(preferred, half.claimant(declaration), spec, warnings);
            self.names.insert((declaration.id, half), given);
        }
    }
}

impl Half {
    /// Returns what claims the name of this half, for messages about clashes: an operation, an
    /// attribute, or the setter of an attribute.
    pub(crate) fn claimant(self, declaration: &Declaration) -> Claimant {
        let what = match (&declaration.kind, self) {
            (DeclKind::Operation(_), _) => "operation ",
            (_, Half::Main) => "attribute ",
            (_, Half::Setter) => "the setter of attribute ",
        };
        Claimant::called(what, &declaration.name, &declaration.location)
    }
}

/// Returns the calls that an interface itself declares, in source order.
fn calls(spec: &Specification, interface: DeclId) -> impl Iterator<Item = (&Declaration, Half)> {
    spec.children(interface).iter().flat_map(|&child| {
        let declaration = &spec[child];
        let (is_call, is_written) = match &declaration.kind {
            DeclKind::Operation(_) => (true, false),
            DeclKind::Attribute(attribute) => (true, !attribute.readonly),
            _ => (false, false),
        };
        let main = is_call.then_some((declaration, Half::Main));
        let setter = is_written.then_some((declaration, Half::Setter));
        main.into_iter().chain(setter)
    })
}
