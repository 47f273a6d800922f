//! Makes reply handlers, and adds them to a specification.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::given::{PossibleReply, exception_names, exception_names_beside};
use super::handlers::{Handlers, Reply, is_standard};
use crate::model::{
    DeclId, DeclKind, Declaration, Direction, Interface, InterfaceFlavour, Member, Module,
    Operation, Parameter, Primitive, Specification, StateMember, Type, ValueFlavour, ValueType,
};
use crate::source::Location;

/// Builder of the implied reply handlers for a specification's interfaces.
pub(super) struct Builder<'s> {
    spec: &'s mut Specification,
    /// Declarations by their absolute names in lower case: names that differ only in case are one
    /// (§7.2.3).
    taken: HashMap<String, DeclId>,
    reply_handler: DeclId,
    exception_holder: DeclId,
    /// Interfaces that need no handler, as they are handlers or are excluded.
    without: HashSet<DeclId>,
    handlers: Handlers,
}

impl<'s> Builder<'s> {
    pub(super) fn new(spec: &'s mut Specification) -> Self {
        let named = |declaration: &Declaration| (key(&declaration.scoped_name), declaration.id);
        let mut taken: HashMap<String, DeclId> = HashMap::new();
        for declaration in &spec.declarations {
            let (name, id) = named(declaration);
            taken.entry(name).or_insert(id);
        }
        let mut this = Self {
            spec,
            taken,
            reply_handler: DeclId(0),
            exception_holder: DeclId(0),
            without: HashSet::new(),
            handlers: Handlers::default(),
        };
        this.complete_messaging();
        this
    }

    pub(super) fn finish(self) -> Handlers {
        self.handlers
    }

    /// Returns the handler of an interface, and makes it if needed.
    pub(super) fn handler_of(&mut self, interface: DeclId) -> Option<DeclId> {
        if let Some(handler) = self.handlers.of(interface) {
            return Some(handler);
        }
        let declaration = &self.spec[interface];
        let is_plain = matches!(&declaration.kind, DeclKind::Interface(one)
            if one.flavour != InterfaceFlavour::Local && !one.forward_only);
        if !is_plain
            || is_standard(&declaration.scoped_name)
            || self.without.contains(&interface)
            || self.spec.derives_from(interface, self.reply_handler)
        {
            self.without.insert(interface);
            return None;
        }
        let bases = self.spec.bases(interface).to_vec();
        let mut bases: Vec<DeclId> = bases
            .into_iter()
            .filter_map(|base| self.handler_of(base))
            .collect();
        if bases.is_empty() {
            bases.push(self.reply_handler);
        }
        Some(self.add_handler(interface, bases))
    }

    fn add_handler(&mut self, interface: DeclId, bases: Vec<DeclId>) -> DeclId {
        let given = self.given(interface);
        let mut name = format!("AMI_{}Handler", self.spec[interface].name);
        loop {
            let mut scoped_name = self.spec[interface].scoped_name.clone();
            scoped_name.pop();
            scoped_name.push(name.clone());
            match self.taken.get(&key(&scoped_name)).copied() {
                None => break,
                Some(existing) if self.use_declared_handler(interface, existing, &given) => {
                    return existing;
                }
                Some(_) => name = format!("AMI_{name}"),
            }
        }
        let handler = self.add_interface(interface, &name, bases);
        self.insert(interface, handler);
        self.add_replies(handler, given);
        handler
    }

    /// Uses a handler declared by the IDL itself, if it has all operations that are needed; returns
    /// whether it did.
    fn use_declared_handler(
        &mut self,
        interface: DeclId,
        existing: DeclId,
        given: &[PossibleReply],
    ) -> bool {
        if !self.spec.derives_from(existing, self.reply_handler) {
            return false;
        }
        let operations: HashMap<String, DeclId> = self
            .spec
            .all_operations(existing)
            .into_iter()
            .map(|id| (self.spec[id].name.clone(), id))
            .collect();
        let exceptions = exception_names(given, |name| operations.contains_key(name));
        let mut replies = BTreeMap::new();
        for (one, exception) in given.iter().zip(exceptions) {
            let found = |name: &String| operations.get(name).copied();
            let (Some(results), Some(exception)) = (found(&one.name), found(&exception)) else {
                return false;
            };
            replies.insert(one.of, Reply { results, exception });
        }
        self.insert(interface, existing);
        self.handlers.replies.extend(replies);
        true
    }

    fn insert(&mut self, interface: DeclId, handler: DeclId) {
        self.handlers.interfaces.insert(interface, handler);
        self.handlers.handlers.insert(handler);
    }

    fn add_interface(&mut self, of: DeclId, name: &str, bases: Vec<DeclId>) -> DeclId {
        let declaration = &self.spec[of];
        let parent = declaration.parent;
        let handler = Declaration {
            id: DeclId(0),
            name: name.to_owned(),
            scoped_name: replaced(&declaration.scoped_name, name),
            repository_id: sibling_id(declaration, name),
            parent,
            doc: vec![format!(
                "Takes the replies of asynchronous calls of `{}`.",
                declaration.name
            )],
            annotations: Vec::new(),
            location: declaration.location.clone(),
            in_main_file: declaration.in_main_file,
            kind: DeclKind::Interface(Interface {
                flavour: InterfaceFlavour::Plain,
                bases,
                body: Vec::new(),
                forward_only: false,
            }),
        };
        let id = self.add(handler);
        let siblings = match parent.map(|parent| &mut self.spec.declarations[parent.index()].kind) {
            Some(DeclKind::Module(module)) => &mut module.body,
            _ => &mut self.spec.definitions,
        };
        let place = siblings.iter().position(|&sibling| sibling == of);
        siblings.insert(place.map_or(siblings.len(), |place| place + 1), id);
        id
    }

    fn add_replies(&mut self, handler: DeclId, mut given: Vec<PossibleReply>) {
        let inherited: HashSet<String> = self
            .spec
            .all_operations(handler)
            .into_iter()
            .map(|id| self.spec[id].name.clone())
            .collect();
        // Left open by the standard: an operation may have the name of a base handler's operation
        // for exceptions.
        for one in &mut given {
            while inherited.contains(&one.name) {
                one.name.push_str("_ami");
            }
        }
        let exceptions = exception_names_beside(&given, &inherited);
        for (one, exception) in given.into_iter().zip(exceptions) {
            let holder = Parameter {
                name: "excep_holder".to_owned(),
                direction: Direction::In,
                ty: Type::Named(self.exception_holder),
                annotations: Vec::new(),
                location: one.location.clone(),
            };
            let results = self.add_operation(handler, &one.name, one.parameters, &one.location);
            let exception = self.add_operation(handler, &exception, vec![holder], &one.location);
            let reply = Reply { results, exception };
            self.handlers.replies.insert(one.of, reply);
        }
    }

    fn add_operation(
        &mut self,
        handler: DeclId,
        name: &str,
        parameters: Vec<Parameter>,
        location: &Location,
    ) -> DeclId {
        let owner = &self.spec[handler];
        let mut scoped_name = owner.scoped_name.clone();
        scoped_name.push(name.to_owned());
        let operation = Declaration {
            id: DeclId(0),
            name: name.to_owned(),
            scoped_name,
            repository_id: child_id(owner, name),
            parent: Some(handler),
            doc: Vec::new(),
            annotations: Vec::new(),
            location: location.clone(),
            in_main_file: owner.in_main_file,
            kind: DeclKind::Operation(Operation {
                oneway: false,
                returns: Type::Void,
                parameters,
                raises: Vec::new(),
                context: Vec::new(),
                rt: None,
            }),
        };
        let id = self.add(operation);
        if let DeclKind::Interface(interface) = &mut self.spec.declarations[handler.index()].kind {
            interface.body.push(id);
        }
        id
    }

    fn add(&mut self, mut declaration: Declaration) -> DeclId {
        let id = DeclId(u32::try_from(self.spec.declarations.len()).unwrap_or(u32::MAX));
        declaration.id = id;
        self.taken.insert(key(&declaration.scoped_name), id);
        self.spec.declarations.push(declaration);
        id
    }

    /// Returns the replies that an interface itself may give, without inherited ones.
    fn given(&self, interface: DeclId) -> Vec<PossibleReply> {
        let children: Vec<&Declaration> = self
            .spec
            .children(interface)
            .iter()
            .map(|&child| &self.spec[child])
            .collect();
        let is_operation = |one: &&&Declaration| matches!(one.kind, DeclKind::Operation(_));
        let operations = children.iter().filter(is_operation);
        let mut taken: HashSet<String> = operations.map(|one| one.name.clone()).collect();
        let mut given = Vec::new();
        for child in children {
            match &child.kind {
                DeclKind::Operation(operation) if !operation.oneway => {
                    given.push(PossibleReply::of_operation(child, operation));
                }
                DeclKind::Attribute(attribute) => {
                    given.extend(PossibleReply::of_attribute(child, attribute, &mut taken));
                }
                _ => {}
            }
        }
        given
    }

    /// Finds the module `Messaging` in the specification, or declares its missing parts.
    fn complete_messaging(&mut self) {
        let module = self.spec.find("Messaging").map(|found| found.id);
        let found = |spec: &Specification, name: &str| spec.find(name).map(|found| found.id);
        let handler = found(self.spec, "Messaging::ReplyHandler");
        let holder = found(self.spec, "Messaging::ExceptionHolder");
        if let (Some(handler), Some(holder)) = (handler, holder) {
            (self.reply_handler, self.exception_holder) = (handler, holder);
            self.handlers.messaging_is_declared = true;
            return;
        }
        let part = self.add_messaging_part(module);
        self.reply_handler = handler.unwrap_or_else(|| {
            let kind = DeclKind::Interface(Interface {
                flavour: InterfaceFlavour::Plain,
                bases: Vec::new(),
                body: Vec::new(),
                forward_only: false,
            });
            self.add_to_messaging(part, "ReplyHandler", kind)
        });
        self.exception_holder = holder.unwrap_or_else(|| {
            let kind = DeclKind::ValueType(exception_holder(&self.spec[part].location));
            self.add_to_messaging(part, "ExceptionHolder", kind)
        });
    }

    fn add_messaging_part(&mut self, module: Option<DeclId>) -> DeclId {
        let next = DeclId(u32::try_from(self.spec.declarations.len()).unwrap_or(u32::MAX));
        // There is at least one declaration: an interface that a handler is for.
        let location = self.spec.declarations[0].location.clone();
        let part = self.add(Declaration {
            id: next,
            name: "Messaging".to_owned(),
            scoped_name: vec!["Messaging".to_owned()],
            repository_id: "IDL:omg.org/Messaging:1.0".to_owned(),
            parent: None,
            doc: Vec::new(),
            annotations: Vec::new(),
            location,
            in_main_file: false,
            kind: DeclKind::Module(Module {
                first_part: module.unwrap_or(next),
                body: Vec::new(),
            }),
        });
        self.spec.definitions.insert(0, part);
        part
    }

    fn add_to_messaging(&mut self, part: DeclId, name: &str, kind: DeclKind) -> DeclId {
        let id = self.add(Declaration {
            id: part,
            name: name.to_owned(),
            scoped_name: vec!["Messaging".to_owned(), name.to_owned()],
            repository_id: format!("IDL:omg.org/Messaging/{name}:1.0"),
            parent: Some(part),
            doc: Vec::new(),
            annotations: Vec::new(),
            location: self.spec[part].location.clone(),
            in_main_file: false,
            kind,
        });
        if let DeclKind::Module(module) = &mut self.spec.declarations[part.index()].kind {
            module.body.push(id);
        }
        id
    }
}

fn exception_holder(location: &Location) -> ValueType {
    let octets = Type::Sequence {
        element: Box::new(Primitive::Octet.into()),
        bound: None,
    };
    let state = [
        ("is_system_exception", Primitive::Boolean.into()),
        ("byte_order", Primitive::Boolean.into()),
        ("marshaled_exception", octets),
    ];
    let state = state.into_iter().map(|(name, ty)| StateMember {
        public: false,
        member: Member {
            name: name.to_owned(),
            ty,
            doc: Vec::new(),
            annotations: Vec::new(),
            location: location.clone(),
        },
    });
    ValueType {
        flavour: ValueFlavour::Plain,
        truncatable: false,
        bases: Vec::new(),
        supports: Vec::new(),
        state: state.collect(),
        factories: Vec::new(),
        body: Vec::new(),
        forward_only: false,
    }
}

fn key(scoped_name: &[String]) -> String {
    scoped_name.join("::").to_ascii_lowercase()
}

fn replaced(scoped_name: &[String], name: &str) -> Vec<String> {
    let mut replaced = scoped_name.to_vec();
    replaced.pop();
    replaced.push(name.to_owned());
    replaced
}

/// Returns the repository id of a new declaration `name` in the scope that contains `declaration`.
fn sibling_id(declaration: &Declaration, name: &str) -> String {
    let own = format!("{}:", declaration.name);
    let id = &declaration.repository_id;
    let place = id.rfind(&own).filter(|place| {
        matches!(
            id.get(..*place).and_then(|before| before.chars().last()),
            Some('/' | ':')
        )
    });
    match place {
        Some(place) if id.starts_with("IDL:") => {
            let (before, after) = (id.get(..place), id.get(place + own.len()..));
            format!(
                "{}{name}:{}",
                before.unwrap_or_default(),
                after.unwrap_or("1.0")
            )
        }
        _ => format!(
            "IDL:{}:1.0",
            replaced(&declaration.scoped_name, name).join("/")
        ),
    }
}

/// Returns the repository id of a new declaration `name` inside the scope `owner`.
fn child_id(owner: &Declaration, name: &str) -> String {
    match owner.repository_id.rsplit_once(':') {
        Some((path, version)) => format!("{path}/{name}:{version}"),
        None => format!("IDL:{}/{name}:1.0", owner.scoped_name.join("/")),
    }
}
