//! Queries of a code generator on a specification.

use std::collections::HashSet;
use std::ops::Index;

use super::{DeclId, DeclKind, Declaration, Member, Primitive, Specification, Type};
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{FileId, Location, SourceFile};

impl Index<DeclId> for Specification {
    type Output = Declaration;

    fn index(&self, id: DeclId) -> &Declaration {
        &self.declarations[id.index()]
    }
}

impl Specification {
    /// Returns the source file with the given identifier.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.index()]
    }

    /// Returns the declaration with the given scoped name (`CosNaming::Name`, with or without
    /// leading `::`), exactly as spelt. For a module it is the first part.
    pub fn find(&self, scoped_name: &str) -> Option<&Declaration> {
        let wanted = scoped_name.trim_start_matches("::");
        let programs = |d: &&Declaration| !matches!(d.kind, DeclKind::Annotation(_));
        self.declarations.iter().filter(programs).find(|d| {
            let mut parts = wanted.split("::");
            d.scoped_name.iter().all(|name| parts.next() == Some(name)) && parts.next().is_none()
        })
    }

    /// Makes a diagnostic that points at a location in this specification's files.
    pub fn diagnostic(
        &self,
        severity: Severity,
        message: impl Into<String>,
        location: &Location,
        label: impl Into<String>,
    ) -> Diagnostic {
        let file = self.files[location.file.index()].clone();
        Diagnostic::new(severity, message, file, location.span.clone(), label)
    }

    /// Returns the type behind all typedefs. Elements of sequences and arrays stay as written.
    pub fn resolve<'a>(&'a self, ty: &'a Type) -> &'a Type {
        let mut ty = ty;
        while let Type::Named(id) = ty {
            match &self[*id].kind {
                DeclKind::Typedef(typedef) => ty = &typedef.ty,
                _ => break,
            }
        }
        ty
    }

    /// Returns the declaration that a type names behind its typedefs, if it names one.
    pub fn resolve_named(&self, ty: &Type) -> Option<&Declaration> {
        match self.resolve(ty) {
            Type::Named(id) => Some(&self[*id]),
            _ => None,
        }
    }

    /// Returns the declarations inside a declaration, in source order: a body, or nested types.
    pub fn children(&self, id: DeclId) -> &[DeclId] {
        match &self[id].kind {
            DeclKind::Module(module) => &module.body,
            DeclKind::Interface(interface) => &interface.body,
            DeclKind::ValueType(value) => &value.body,
            DeclKind::Struct(s) => &s.nested,
            DeclKind::Exception(e) => &e.nested,
            DeclKind::Union(u) => &u.nested,
            DeclKind::Annotation(a) => &a.nested,
            _ => &[],
        }
    }

    /// Returns the direct bases of an interface or value type; none for any other declaration.
    pub fn bases(&self, id: DeclId) -> &[DeclId] {
        match &self[id].kind {
            DeclKind::Interface(interface) => &interface.bases,
            DeclKind::ValueType(value) => &value.bases,
            _ => &[],
        }
    }

    /// Returns all bases of an interface or value type, direct and indirect, each once, without
    /// itself. Depth first, left to right, and each after its own bases.
    pub fn ancestors(&self, id: DeclId) -> Vec<DeclId> {
        let mut ordered = Vec::new();
        let mut seen = HashSet::from([id]);
        let mut pending: Vec<(DeclId, usize)> = vec![(id, 0)];
        while let Some((current, next)) = pending.pop() {
            if let Some(&base) = self.bases(current).get(next) {
                pending.push((current, next + 1));
                if seen.insert(base) {
                    pending.push((base, 0));
                }
            } else if current != id {
                ordered.push(current);
            }
        }
        ordered
    }

    /// Returns `true` if `id` is `ancestor` or derives from it.
    pub fn derives_from(&self, id: DeclId, ancestor: DeclId) -> bool {
        id == ancestor || self.ancestors(id).contains(&ancestor)
    }

    /// Returns operations and attributes of an interface with all inherited ones: ancestors' first,
    /// in the order of [`Specification::ancestors`], its own last.
    pub fn all_operations(&self, id: DeclId) -> Vec<DeclId> {
        let mut owners = self.ancestors(id);
        owners.push(id);
        owners
            .into_iter()
            .flat_map(|owner| self.children(owner).iter().copied())
            .filter(|&child| {
                matches!(
                    self[child].kind,
                    DeclKind::Operation(_) | DeclKind::Attribute(_)
                )
            })
            .collect()
    }

    /// Returns `true` if `wanted` holds for the type or for any type that its values contain:
    /// through typedefs, elements, members and cases, each declaration visited once. Object
    /// references are leaves; value types are entered.
    pub fn contains(&self, ty: &Type, wanted: impl FnMut(&Type) -> bool) -> bool {
        self.reaches(vec![ty], wanted)
    }

    /// Returns the members of a struct, an exception, a union's cases or a value type's state.
    pub fn members(&self, id: DeclId) -> Vec<&Member> {
        match &self[id].kind {
            DeclKind::Struct(s) => s.members.iter().collect(),
            DeclKind::Exception(e) => e.members.iter().collect(),
            DeclKind::Union(u) => u.cases.iter().map(|case| &case.member).collect(),
            DeclKind::ValueType(v) => v.state.iter().map(|state| &state.member).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the types that a value of this declaration directly holds.
    pub fn parts(&self, id: DeclId) -> Vec<&Type> {
        match &self[id].kind {
            DeclKind::Typedef(typedef) => vec![&typedef.ty],
            DeclKind::ValueBox(boxed) => vec![&boxed.ty],
            _ => self
                .members(id)
                .into_iter()
                .map(|member| &member.ty)
                .collect(),
        }
    }

    fn reaches<'a>(
        &'a self,
        mut pending: Vec<&'a Type>,
        mut wanted: impl FnMut(&Type) -> bool,
    ) -> bool {
        let mut seen = vec![false; self.declarations.len()];
        while let Some(ty) = pending.pop() {
            if wanted(ty) {
                return true;
            }
            match ty {
                Type::Sequence { element, .. } | Type::Array { element, .. } => {
                    pending.push(element);
                }
                Type::Map { key, value, .. } => pending.extend([&**key, &**value]),
                Type::Named(id) if !seen[id.index()] => {
                    seen[id.index()] = true;
                    pending.extend(self.parts(*id));
                    if matches!(self[*id].kind, DeclKind::ValueType(_)) {
                        let bases = self.ancestors(*id);
                        pending.extend(bases.into_iter().flat_map(|base| self.parts(base)));
                    }
                }
                _ => {}
            }
        }
        false
    }
}

impl From<Primitive> for Type {
    fn from(primitive: Primitive) -> Type {
        Type::Primitive(primitive)
    }
}
