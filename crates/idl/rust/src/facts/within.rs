//! Contents of the values of each declaration, through typedefs, elements, members and cases.
//!
//! Computed for all of them in one pass, in linear time: declarations that hold one another are
//! found together (Tarjan's strongly connected components), after all that they hold.

use punctual_idl::model::{DeclId, DeclKind, InterfaceFlavour, Specification, Type};

/// Set of kinds of contents that a type's values may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents(u8);

impl Contents {
    const NOTHING: Self = Contents(0);
    /// Contents without total equality: floats, and values whose types are known only at run time.
    pub(super) const UNEQUAL: Self = Contents(1);
    /// Handles to values of valuetypes.
    pub(super) const VALUES: Self = Contents(2);
    /// Contents that stay in their process: local objects, native types.
    pub(super) const LOCAL: Self = Contents(4);
    /// Further values of the declared type: the type is recursive.
    pub(super) const ITSELF: Self = Contents(8);

    pub(super) fn have(self, what: Self) -> bool {
        self.0 & what.0 != 0
    }

    fn and(self, others: Self) -> Self {
        Contents(self.0 | others.0)
    }
}

/// Contents of all declarations.
#[derive(Debug)]
pub(super) struct Within(Vec<Contents>);

impl Within {
    pub(super) fn new(spec: &Specification) -> Self {
        let mut search = Search::new(spec);
        for declaration in &spec.declarations {
            search.visit(declaration.id);
        }
        Within(search.contents)
    }

    /// Returns the contents of a type's values.
    pub(super) fn of(&self, ty: &Type) -> Contents {
        let (mut contents, mut declared) = (Contents::NOTHING, Vec::new());
        look_into(ty, &mut contents, &mut declared);
        declared
            .into_iter()
            .map(|id| self.of_declaration(id))
            .fold(contents, Contents::and)
    }

    pub(super) fn of_declaration(&self, id: DeclId) -> Contents {
        self.0[id.index()]
    }
}

/// Collects the contents that a type expression itself has, and the declarations that it names.
fn look_into(ty: &Type, contents: &mut Contents, declared: &mut Vec<DeclId>) {
    let mut pending = vec![ty];
    while let Some(ty) = pending.pop() {
        match ty {
            Type::Primitive(primitive) if primitive.is_floating() => {
                *contents = contents.and(Contents::UNEQUAL);
            }
            Type::Any | Type::TypeCode => *contents = contents.and(Contents::UNEQUAL),
            Type::ValueBase => *contents = contents.and(Contents::VALUES),
            Type::Sequence { element, .. } | Type::Array { element, .. } => pending.push(element),
            Type::Map { key, value, .. } => pending.extend([&**key, &**value]),
            Type::Named(id) => declared.push(*id),
            _ => {}
        }
    }
}

/// Returns the contents of a declaration itself, without those of its parts.
fn own(kind: &DeclKind) -> Contents {
    match kind {
        DeclKind::ValueType(_) | DeclKind::ValueBox(_) => Contents::VALUES,
        DeclKind::Native => Contents::LOCAL,
        DeclKind::Interface(interface) => match interface.flavour {
            InterfaceFlavour::Abstract => Contents::VALUES,
            InterfaceFlavour::Local => Contents::LOCAL,
            InterfaceFlavour::Plain => Contents::NOTHING,
        },
        _ => Contents::NOTHING,
    }
}

struct Search<'s> {
    spec: &'s Specification,
    contents: Vec<Contents>,
    /// Number of each declaration in the order of the first visits, from 1; 0 before its visit.
    seen: Vec<usize>,
    /// Lowest such number of the unfinished declarations that each declaration reaches.
    earliest: Vec<usize>,
    count: usize,
    /// Unfinished declarations, in the order of their visits.
    open: Vec<DeclId>,
    is_open: Vec<bool>,
}

/// Visit of a declaration, with the parts not visited yet.
struct Visit {
    id: DeclId,
    held: Vec<DeclId>,
}

impl<'s> Search<'s> {
    fn new(spec: &'s Specification) -> Self {
        let count = spec.declarations.len();
        Search {
            spec,
            contents: vec![Contents::NOTHING; count],
            seen: vec![0; count],
            earliest: vec![0; count],
            count: 0,
            open: Vec::new(),
            is_open: vec![false; count],
        }
    }

    fn visit(&mut self, id: DeclId) {
        if self.seen[id.index()] != 0 {
            return;
        }
        let mut visits = vec![self.begin(id)];
        while let Some(visit) = visits.last_mut() {
            let id = visit.id;
            let Some(held) = visit.held.pop() else {
                visits.pop();
                self.end(id);
                if let Some(holder) = visits.last() {
                    self.add(holder.id, id);
                }
                continue;
            };
            if self.seen[held.index()] == 0 {
                visits.push(self.begin(held));
                continue;
            }
            if held == id {
                let contents = &mut self.contents[id.index()];
                *contents = contents.and(Contents::ITSELF);
            }
            self.add(id, held);
        }
    }

    fn begin(&mut self, id: DeclId) -> Visit {
        self.count += 1;
        self.seen[id.index()] = self.count;
        self.earliest[id.index()] = self.count;
        self.open.push(id);
        self.is_open[id.index()] = true;
        let spec = self.spec;
        let mut contents = own(&spec[id].kind);
        let mut held = Vec::new();
        let bases = match spec[id].kind {
            DeclKind::ValueType(_) => spec.ancestors(id),
            _ => Vec::new(),
        };
        for part in [id].into_iter().chain(bases).flat_map(|id| spec.parts(id)) {
            look_into(part, &mut contents, &mut held);
        }
        self.contents[id.index()] = contents;
        Visit { id, held }
    }

    /// Adds the contents of one declaration's values (`held`) to those of a declaration whose
    /// values contain them (`holder`).
    fn add(&mut self, holder: DeclId, held: DeclId) {
        let (holder, held) = (holder.index(), held.index());
        if self.is_open[held] {
            self.earliest[holder] = self.earliest[holder].min(self.earliest[held]);
        }
        let found = Contents(self.contents[held].0 & !Contents::ITSELF.0);
        self.contents[holder] = self.contents[holder].and(found);
    }

    /// Ends a visit. If no unfinished declaration visited earlier is reachable, those visited since
    /// hold one another.
    fn end(&mut self, id: DeclId) {
        if self.earliest[id.index()] != self.seen[id.index()] {
            return;
        }
        let from = self.open.iter().rposition(|open| *open == id);
        let together = self.open.split_off(from.unwrap_or(0));
        let mut contents = together
            .iter()
            .map(|id| self.contents[id.index()])
            .fold(Contents::NOTHING, Contents::and);
        if together.len() > 1 {
            contents = contents.and(Contents::ITSELF);
        }
        for id in together {
            self.contents[id.index()] = contents;
            self.is_open[id.index()] = false;
        }
    }
}
