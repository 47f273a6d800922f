//! Plan of the generation: the declarations that are generated, and those that cannot be.
//!
//! Everything that the main file declares, or needs of the files that it includes, must be
//! supported; each use of something unsupported gets a diagnostic. Other declarations of included
//! files are generated where possible and otherwise omitted silently.

use punctual_idl::diagnostic::{Diagnostic, Severity};
use punctual_idl::model::{
    Attribute, DeclId, DeclKind, Declaration, InterfaceFlavour, Operation, Type, ValueType,
};
use punctual_idl::source::Location;

use crate::Generator;
use crate::annotations::is_non_nil;

/// Limit on nested bounded sequences and wide strings, which take a closure for each level.
const DEEPEST_CODEC: u32 = 64;

/// Declarations that are generated.
#[derive(Debug)]
pub(crate) struct Plan {
    generate: Vec<bool>,
}

/// Use of a type: in values that may be marshaled, or within the process only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marshaled {
    /// Uses in something that may be marshaled.
    Yes,
    /// Uses within the process only.
    No,
}

impl Plan {
    pub(crate) fn new(generator: &Generator<'_>, errors: &mut Vec<Diagnostic>) -> Plan {
        let spec = generator.spec;
        let count = spec.declarations.len();
        let mut needed = vec![false; count];
        let mut pending: Vec<DeclId> = spec
            .declarations
            .iter()
            .filter(|d| d.in_main_file)
            .map(|d| d.id)
            .collect();
        while let Some(id) = pending.pop() {
            if !std::mem::replace(&mut needed[id.index()], true) {
                pending.extend(needs(generator, &spec[id]));
            }
        }
        let mut possible = vec![true; count];
        for declaration in &spec.declarations {
            let found = faults(generator, declaration);
            possible[declaration.id.index()] = found.is_empty();
            if needed[declaration.id.index()] {
                errors.extend(found);
            }
        }
        leave_out_dependents(generator, &mut possible);
        let generate = spec
            .declarations
            .iter()
            .map(|d| possible[d.id.index()] && !generator.is_extern(d))
            .collect();
        Plan { generate }
    }

    pub(crate) fn generates(&self, id: DeclId) -> bool {
        self.generate[id.index()]
    }
}

/// Excludes all declarations that depend on one that cannot be generated.
fn leave_out_dependents(generator: &Generator<'_>, possible: &mut [bool]) {
    let spec = generator.spec;
    let mut dependents: Vec<Vec<DeclId>> = vec![Vec::new(); possible.len()];
    for declaration in &spec.declarations {
        for needed in needs(generator, declaration) {
            dependents[needed.index()].push(declaration.id);
        }
    }
    let mut pending: Vec<usize> = (0..possible.len()).filter(|&i| !possible[i]).collect();
    while let Some(index) = pending.pop() {
        for dependent in &dependents[index] {
            if std::mem::replace(&mut possible[dependent.index()], false) {
                pending.push(dependent.index());
            }
        }
    }
}

/// Returns the declarations without which the given one cannot be generated.
fn needs(generator: &Generator<'_>, declaration: &Declaration) -> Vec<DeclId> {
    if generator.is_extern(declaration) {
        return Vec::new();
    }
    let spec = generator.spec;
    let mut needs = Vec::new();
    match &declaration.kind {
        DeclKind::Interface(interface) => {
            needs.extend(&interface.bases);
            needs.extend(&interface.body);
        }
        DeclKind::Operation(operation) => {
            needs.extend(&operation.raises);
            type_names(&operation.returns, &mut needs);
            for parameter in &operation.parameters {
                type_names(&parameter.ty, &mut needs);
            }
        }
        DeclKind::Attribute(attribute) => {
            needs.extend(attribute.get_raises.iter().chain(&attribute.set_raises));
            type_names(&attribute.ty, &mut needs);
        }
        DeclKind::Typedef(typedef) => type_names(&typedef.ty, &mut needs),
        DeclKind::ValueBox(boxed) => type_names(&boxed.ty, &mut needs),
        DeclKind::ValueType(value) => {
            needs.extend(value.bases.iter().chain(&value.supports));
            for factory in &value.factories {
                needs.extend(&factory.raises);
                for parameter in &factory.parameters {
                    type_names(&parameter.ty, &mut needs);
                }
            }
        }
        DeclKind::Const(constant) => type_names(&constant.ty, &mut needs),
        DeclKind::Union(union) => type_names(&union.discriminator, &mut needs),
        _ => {}
    }
    for member in spec.members(declaration.id) {
        type_names(&member.ty, &mut needs);
    }
    if let DeclKind::Bitset(bitset) = &declaration.kind {
        needs.extend(bitset.base);
    }
    if !matches!(
        declaration.kind,
        DeclKind::Module(_) | DeclKind::Interface(_) | DeclKind::Annotation(_)
    ) {
        needs.extend(spec.children(declaration.id));
    }
    needs
}

fn type_names(ty: &Type, names: &mut Vec<DeclId>) {
    match ty {
        Type::Named(id) => names.push(*id),
        Type::Sequence { element, .. } | Type::Array { element, .. } => type_names(element, names),
        Type::Map { key, value, .. } => {
            type_names(key, names);
            type_names(value, names);
        }
        _ => {}
    }
}

/// Returns the faults of a declaration itself, independent of the declarations it refers to.
fn faults(generator: &Generator<'_>, declaration: &Declaration) -> Vec<Diagnostic> {
    let spec = generator.spec;
    if generator.is_extern(declaration) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut faults = Faults {
        generator,
        found: &mut found,
    };
    match &declaration.kind {
        DeclKind::ValueBox(boxed) => {
            let place = LabelledLocation::of_type(&declaration.location, &declaration.name);
            faults.ty(&boxed.ty, &place, Marshaled::Yes);
        }
        DeclKind::ValueType(value) => faults.value(value),
        DeclKind::Operation(operation) => faults.operation(operation, declaration),
        DeclKind::Attribute(attribute) => faults.attribute(attribute, declaration),
        DeclKind::Typedef(typedef) => {
            let place = LabelledLocation::new(
                &declaration.location,
                "the type that",
                &declaration.name,
                " names",
            );
            faults.ty(&typedef.ty, &place, Marshaled::No);
        }
        kind => {
            // A struct or union may hold a type that stays in the process, and then stays there
            // too.
            let travels = match kind {
                DeclKind::Struct(_) | DeclKind::Union(_) => Marshaled::No,
                _ => Marshaled::Yes,
            };
            for member in spec.members(declaration.id) {
                let place = LabelledLocation::of_type(&member.location, &member.name);
                faults.ty(&member.ty, &place, travels);
            }
        }
    }
    found
}

/// Source location of a type, for diagnostics. The model records the locations of names, not of
/// their types: so the location is the name's, and the label says that its type is meant.
struct LabelledLocation<'a> {
    location: &'a Location,
    label: String,
}

impl<'a> LabelledLocation<'a> {
    fn new(location: &'a Location, before: &str, name: &str, behind: &str) -> Self {
        let label = format!("{before} `{name}`{behind}");
        Self { location, label }
    }

    fn of_type(location: &'a Location, name: &str) -> Self {
        Self::new(location, "the type of", name, "")
    }

    /// Returns the location for a type contained in this one; its label says so.
    fn inside(&self) -> Self {
        let label = match self.label.strip_prefix("in ") {
            Some(_) => self.label.clone(),
            None => format!("in {}", self.label),
        };
        Self {
            location: self.location,
            label,
        }
    }
}

struct Faults<'f, 'g> {
    generator: &'f Generator<'g>,
    found: &'f mut Vec<Diagnostic>,
}

impl Faults<'_, '_> {
    /// Checks that each member of a state has a default value: a value is read into a new one.
    fn value(&mut self, value: &ValueType) {
        let spec = self.generator.spec;
        for member in value.state.iter().map(|state| &state.member) {
            let place = LabelledLocation::of_type(&member.location, &member.name);
            self.ty(&member.ty, &place, Marshaled::Yes);
            let non_nil = is_non_nil(&member.annotations);
            if !self.generator.facts.has_default(spec, &member.ty, non_nil) {
                let message = "a value's state has no member that cannot be nil";
                let diagnostic =
                    spec.diagnostic(Severity::Error, message, place.location, &place.label);
                self.found
                    .push(diagnostic.with_help("leave `@non_nil` out"));
            }
        }
        for parameter in value.factories.iter().flat_map(|f| &f.parameters) {
            let place = LabelledLocation::of_type(&parameter.location, &parameter.name);
            self.ty(&parameter.ty, &place, Marshaled::No);
        }
        for factory in &value.factories {
            let place = LabelledLocation::new(&factory.location, "what", &factory.name, " raises");
            self.raises(&factory.raises, &place, Marshaled::No);
        }
    }

    /// Checks raised exceptions, which are always marshaled; a native type in their place is
    /// checked as anywhere else.
    fn raises(&mut self, raises: &[DeclId], place: &LabelledLocation<'_>, travels: Marshaled) {
        let spec = self.generator.spec;
        for raised in raises.iter().map(|&id| &spec[id]) {
            if matches!(raised.kind, DeclKind::Native) {
                self.named(raised, place, travels);
            }
        }
    }

    fn operation(&mut self, operation: &Operation, declaration: &Declaration) {
        let travels = self.travels(declaration);
        let name = &declaration.name;
        let returns = LabelledLocation::new(&declaration.location, "the return type of", name, "");
        self.ty(&operation.returns, &returns, travels);
        for parameter in &operation.parameters {
            let place = LabelledLocation::of_type(&parameter.location, &parameter.name);
            self.ty(&parameter.ty, &place, travels);
        }
        let raised = LabelledLocation::new(&declaration.location, "what", name, " raises");
        self.raises(&operation.raises, &raised, travels);
    }

    fn attribute(&mut self, attribute: &Attribute, declaration: &Declaration) {
        let travels = self.travels(declaration);
        let place = LabelledLocation::of_type(&declaration.location, &declaration.name);
        self.ty(&attribute.ty, &place, travels);
        let raised =
            LabelledLocation::new(&declaration.location, "what", &declaration.name, " raises");
        self.raises(&attribute.get_raises, &raised, travels);
        self.raises(&attribute.set_raises, &raised, travels);
    }

    fn travels(&self, member: &Declaration) -> Marshaled {
        let spec = self.generator.spec;
        match member.parent.map(|id| &spec[id].kind) {
            Some(DeclKind::Interface(i)) if i.flavour == InterfaceFlavour::Local => Marshaled::No,
            Some(DeclKind::ValueType(_)) => Marshaled::No,
            _ => Marshaled::Yes,
        }
    }

    fn ty(&mut self, ty: &Type, place: &LabelledLocation<'_>, travels: Marshaled) {
        let spec = self.generator.spec;
        let (location, label) = (place.location, place.label.as_str());
        let fact = self.generator.facts.of(ty);
        if !fact.is_plain && fact.depth > DEEPEST_CODEC {
            let message =
                format!("more than {DEEPEST_CODEC} sequences or arrays lie in one another");
            let error = spec.diagnostic(Severity::Error, message, location, label);
            self.found.push(error);
            return;
        }
        match ty {
            Type::Sequence { element, .. } | Type::Array { element, .. } => {
                self.ty(element, &place.inside(), travels);
            }
            Type::Map { key, value, .. } => {
                self.ty(key, &place.inside(), travels);
                self.ty(value, &place.inside(), travels);
            }
            Type::Named(id) => self.named(&spec[*id], place, travels),
            _ => {}
        }
    }

    fn named(&mut self, named: &Declaration, place: &LabelledLocation<'_>, travels: Marshaled) {
        let spec = self.generator.spec;
        match &named.kind {
            DeclKind::Interface(i)
                if i.flavour == InterfaceFlavour::Local && travels == Marshaled::Yes =>
            {
                self.report_process_local(named, place);
            }
            DeclKind::Native if travels == Marshaled::Yes => {
                self.report_process_local(named, place)
            }
            DeclKind::Struct(_) | DeclKind::Union(_) if travels == Marshaled::Yes => {
                let facts = &self.generator.facts;
                if facts.is_process_local(&Type::Named(named.id)) {
                    self.report_process_local(named, place);
                }
            }
            DeclKind::Native if self.generator.native(named).is_none() => {
                self.nameless_native(named, place);
            }
            // A typedef has been checked itself, except whether it may be marshaled.
            DeclKind::Typedef(typedef) if travels == Marshaled::Yes => {
                let mut names = Vec::new();
                type_names(&typedef.ty, &mut names);
                for id in names {
                    let is_process_local = match &spec[id].kind {
                        DeclKind::Interface(i) => i.flavour == InterfaceFlavour::Local,
                        kind => matches!(
                            kind,
                            DeclKind::Native
                                | DeclKind::Typedef(_)
                                | DeclKind::Struct(_)
                                | DeclKind::Union(_)
                        ),
                    };
                    if is_process_local {
                        self.named(&spec[id], &place.inside(), travels);
                    }
                }
            }
            _ => {}
        }
    }

    fn report_process_local(&mut self, named: &Declaration, place: &LabelledLocation<'_>) {
        let message = format!("{} cannot be marshaled", described(named));
        let diagnostic = self
            .generator
            .spec
            .diagnostic(Severity::Error, message, place.location, &place.label)
            .with_help("it has a meaning only within its process; use it in local interfaces");
        self.found.push(diagnostic);
    }

    fn nameless_native(&mut self, named: &Declaration, place: &LabelledLocation<'_>) {
        let name = named.absolute_name();
        let message = format!("{} has no Rust type yet", described(named));
        let diagnostic = self
            .generator
            .spec
            .diagnostic(Severity::Error, message, place.location, &place.label)
            .with_help(format!(
                "name one with `--native {}=path::to::Type`, or \
                 `.native(\"{name}\", \"path::to::Type\")` in a build script",
                name.trim_start_matches("::")
            ));
        self.found.push(diagnostic);
    }
}

fn described(declaration: &Declaration) -> String {
    let name = declaration.absolute_name();
    format!(
        "{} `{}`",
        declaration.kind.describe(),
        name.trim_start_matches("::")
    )
}
