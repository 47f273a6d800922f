//! Operations and exceptions that may occur in a log.

use std::collections::HashMap;
use std::rc::Rc;

use punctual::TypeCode;
use punctual::description::{
    ExceptionDescription, InterfaceDescription, OperationDescription, ParameterDescription,
    ParameterMode, Repository,
};
use punctual_cdr::Environment;
use punctual_idl::model::{DeclKind, Specification};
use punctual_idl_describe as describe;

use crate::call::Problem;
use crate::value_types::ValueTypes;

/// An operation, and the interface that declares it.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) interface: String,
    pub(super) operation: OperationDescription,
}

/// Declarations of an IDL file or an Interface Repository.
#[derive(Debug, Default)]
pub(super) struct KnownDeclarations {
    /// Operations by their name in requests: several interfaces may have operations of one name.
    operations: HashMap<String, Vec<Rc<Candidate>>>,
    /// Exceptions by repository id.
    exceptions: HashMap<String, TypeCode>,
    value_types: ValueTypes,
}

impl KnownDeclarations {
    /// Returns the operations that every object has (CORBA 3.3 part 2, §9.4.2.1).
    pub(super) fn new() -> Self {
        let mut this = Self::default();
        for operation in of_every_object() {
            this.add("CORBA::Object", false, operation);
        }
        this
    }

    pub(super) fn add_idl(&mut self, specification: &Specification) {
        self.value_types.add(specification);
        for declared in &specification.declarations {
            if matches!(declared.kind, DeclKind::Exception(_))
                && let Some(exception) = describe::exception(specification, declared.id)
            {
                self.add_exception(&exception);
            }
        }
        let interfaces = describe::interfaces(specification);
        for interface in interfaces.filter_map(|one| describe::interface(specification, one.id)) {
            self.add_interface(&interface);
        }
    }

    /// Queries each interface of the repository.
    pub(super) fn add_repository(&mut self, repository: &Repository) -> Result<(), Problem> {
        let raised = |exception: punctual::SystemException| {
            Problem::System(exception.in_context("the Interface Repository"), None)
        };
        for id in repository.interface_ids().map_err(raised)? {
            if let Some(interface) = repository.interface(&id).map_err(raised)? {
                self.add_interface(&interface);
            }
        }
        Ok(())
    }

    /// Returns the environment in which values are decoded.
    pub(super) fn environment(&self) -> &dyn Environment {
        &self.value_types
    }

    /// Returns the operations of a name.
    pub(super) fn operations(&self, name: &str) -> &[Rc<Candidate>] {
        self.operations.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the exception with this repository id.
    pub(super) fn exception(&self, id: &str) -> Option<&TypeCode> {
        self.exceptions.get(id)
    }

    fn add_interface(&mut self, interface: &InterfaceDescription) {
        let name = crate::call::scoped(interface);
        let setters = interface.attributes.iter().filter_map(|one| one.setter());
        let getters = interface.attributes.iter().map(|one| one.getter());
        let operations = interface.operations.iter().cloned();
        for operation in operations.chain(getters).chain(setters) {
            for exception in &operation.exceptions {
                self.add_exception(exception);
            }
            let is_own = is_within(&operation.id, &interface.id);
            self.add(&name, is_own, operation);
        }
    }

    /// Adds an operation, once for all interfaces that inherit it: it is shown with the interface
    /// that declares it.
    fn add(&mut self, interface: &str, is_own: bool, operation: OperationDescription) {
        let candidate = |operation| {
            Rc::new(Candidate {
                interface: interface.to_owned(),
                operation,
            })
        };
        let all = self.operations.entry(operation.name.clone()).or_default();
        let mut same = all.iter_mut();
        match same.find(|one| !operation.id.is_empty() && one.operation.id == operation.id) {
            Some(same) if is_own => *same = candidate(operation),
            Some(_) => {}
            None => all.push(candidate(operation)),
        }
    }

    fn add_exception(&mut self, exception: &ExceptionDescription) {
        let known = self.exceptions.entry(exception.id.clone());
        known.or_insert_with(|| exception.type_code.clone());
    }
}

/// Returns `true` if a repository id belongs to the scope of another id.
fn is_within(id: &str, scope: &str) -> bool {
    let path = |id: &str| id.rsplit_once(':').map(|(path, _)| path.to_owned());
    let scope = path(scope);
    let of_id = path(id).and_then(|path| Some(path.rsplit_once('/')?.0.to_owned()));
    scope.is_some() && scope == of_id
}

fn of_every_object() -> Vec<OperationDescription> {
    let text = || TypeCode::string(0);
    let reference = |name: &str| {
        let id = format!("IDL:omg.org/CORBA/{name}:1.0");
        TypeCode::interface(&id, name)
    };
    let with = |name: &str, parameter: &[(&str, TypeCode)], result: TypeCode| {
        let parameters = parameter.iter().map(|(name, of)| ParameterDescription {
            name: (*name).to_owned(),
            type_code: of.clone(),
            mode: ParameterMode::In,
        });
        OperationDescription {
            name: name.to_owned(),
            parameters: parameters.collect(),
            result,
            ..OperationDescription::default()
        }
    };
    let managers = TypeCode::sequence(&reference("DomainManager"), 0);
    vec![
        with("_is_a", &[("logical_type_id", text())], TypeCode::BOOLEAN),
        with("_non_existent", &[], TypeCode::BOOLEAN),
        with("_not_existent", &[], TypeCode::BOOLEAN),
        with("_repository_id", &[], text()),
        with("_interface", &[], reference("InterfaceDef")),
        with("_component", &[], reference("Object")),
        with("_domain_managers", &[], managers),
        with(
            "_policy",
            &[("policy_type", TypeCode::ULONG)],
            reference("Policy"),
        ),
    ]
}
