//! Interface whose calls are events.

use std::collections::HashMap;
use std::sync::OnceLock;

use punctual::any::TypeKind;
use punctual::description::{InterfaceDescription, OperationDescription, ParameterMode};
use punctual::{Any, TypeCode};

use crate::kept::{EventInterface, Operation};

/// Interface of typed events, with its operations by name and by repository id.
#[derive(Debug)]
pub(crate) struct Interface {
    record: EventInterface,
    by_name: HashMap<String, usize>,
    by_id: HashMap<String, usize>,
    /// Values of the parameters of each operation, which are returned where there is no event to pull; or the reason why
    /// there are none.
    nothing: OnceLock<Result<Vec<Any>, String>>,
}

impl Interface {
    /// Makes the interface of a description, whose bases at any distance are `bases`.
    ///
    /// # Errors
    /// The reason why calls of the interface cannot be events.
    pub(crate) fn of(
        description: &InterfaceDescription,
        bases: Vec<String>,
    ) -> Result<Self, String> {
        if let TypeKind::LocalInterface | TypeKind::AbstractInterface = description.type_code.kind()
        {
            return Err("it is a local or an abstract interface, which no object has".to_owned());
        }
        if let Some(attribute) = description.attributes.first() {
            return Err(format!(
                "its attribute `{}` has a value to return, and an event returns nothing",
                attribute.name
            ));
        }
        let operations = description.operations.iter().map(operation);
        Ok(Self::new(EventInterface {
            id: description.id.clone(),
            bases,
            operations: operations.collect::<Result<_, _>>()?,
        }))
    }

    /// Makes the interface that was kept.
    pub(crate) fn new(record: EventInterface) -> Self {
        let places = || record.operations.iter().enumerate();
        Self {
            by_name: places().map(|(at, one)| (one.name.clone(), at)).collect(),
            by_id: places().map(|(at, one)| (one.id.clone(), at)).collect(),
            nothing: OnceLock::new(),
            record,
        }
    }

    pub(crate) fn record(&self) -> &EventInterface {
        &self.record
    }

    pub(crate) fn id(&self) -> &str {
        &self.record.id
    }

    /// Returns whether it is the interface with a repository id, or derives from it.
    pub(crate) fn is_a(&self, id: &str) -> bool {
        self.record.id == id || self.record.bases.iter().any(|base| base == id)
    }

    pub(crate) fn operations(&self) -> &[Operation] {
        &self.record.operations
    }

    /// Returns the operation with a name, as requests have it.
    pub(crate) fn named(&self, name: &str) -> Option<&Operation> {
        self.operations().get(self.place_named(name)?)
    }

    /// Returns the operation whose calls are events of a type.
    pub(crate) fn of_type(&self, type_code: &TypeCode) -> Option<&Operation> {
        self.operations().get(self.place_of(type_code)?)
    }

    /// Returns the place, among the operations, of the one whose calls are events of a type.
    pub(crate) fn place_of(&self, type_code: &TypeCode) -> Option<usize> {
        self.by_id.get(type_code.id().ok()?).copied()
    }

    /// Makes values of the parameters of each operation by `make`, the first time.
    ///
    /// # Errors
    /// That of `make`.
    pub(crate) fn make_nothing(
        &self,
        make: impl FnOnce(&[Operation]) -> Result<Vec<Any>, String>,
    ) -> Result<(), String> {
        let made = self.nothing.get_or_init(|| make(self.operations()));
        made.as_ref().map(drop).map_err(Clone::clone)
    }

    /// Returns the values of the parameters of an operation, if they have been made.
    pub(crate) fn nothing_of(&self, operation: usize) -> Option<&Any> {
        self.nothing.get()?.as_ref().ok()?.get(operation)
    }

    /// Returns the place of the operation with a name.
    pub(crate) fn place_named(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

/// Returns the id of the object that suppliers or consumers call, of the typed proxy with an id.
pub(crate) fn id_of_object(proxy: &[u8]) -> Vec<u8> {
    [proxy, b"/typed"].concat()
}

/// Makes the record of an operation.
///
/// # Errors
/// The reason why its calls cannot be events.
fn operation(operation: &OperationDescription) -> Result<Operation, String> {
    let name = &operation.name;
    if operation.result.kind() != TypeKind::Void {
        return Err(format!(
            "its operation `{name}` returns a value, and an event returns nothing"
        ));
    }
    let mut parameters = operation.parameters.iter();
    if let Some(other) = parameters.find(|one| one.mode != ParameterMode::In) {
        return Err(format!(
            "the parameter `{}` of its operation `{name}` is `out` or `inout`, and an event returns nothing",
            other.name
        ));
    }
    if !operation.contexts.is_empty() {
        return Err(format!(
            "its operation `{name}` has a `context` clause, which events do not carry"
        ));
    }
    let parameters = operation.parameters.iter();
    let members: Vec<(&str, TypeCode)> = parameters
        .map(|one| (one.name.as_str(), one.type_code.clone()))
        .collect();
    let parameters = TypeCode::structure(&operation.id, name, &members);
    parameters
        .check()
        .map_err(|error| format!("the parameters of its operation `{name}`: {error}"))?;
    Ok(Operation {
        id: operation.id.clone(),
        name: name.clone(),
        is_oneway: operation.oneway,
        parameters,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual::Typed;
    use punctual::description::{AttributeDescription, ParameterDescription};

    fn described(operations: Vec<OperationDescription>) -> InterfaceDescription {
        InterfaceDescription {
            id: "IDL:Plant:1.0".to_owned(),
            operations,
            ..InterfaceDescription::default()
        }
    }

    fn operation_with(mode: ParameterMode) -> OperationDescription {
        OperationDescription {
            name: "raised".to_owned(),
            id: "IDL:Plant/raised:1.0".to_owned(),
            result: TypeCode::VOID,
            parameters: vec![ParameterDescription {
                name: "level".to_owned(),
                type_code: i32::type_code(),
                mode,
            }],
            ..OperationDescription::default()
        }
    }

    #[test]
    fn the_parameters_of_an_operation_are_the_members_of_a_struct() {
        let description = described(vec![operation_with(ParameterMode::In)]);
        let interface = Interface::of(&description, vec!["IDL:Base:1.0".to_owned()]).unwrap();
        assert!(interface.is_a("IDL:Plant:1.0") && interface.is_a("IDL:Base:1.0"));
        let raised = interface.named("raised").unwrap();
        assert_eq!(raised.parameters.id(), Ok("IDL:Plant/raised:1.0"));
        assert_eq!(raised.parameters.member_name(0), Ok("level"));
        assert_eq!(interface.of_type(&raised.parameters), Some(raised));
        assert_eq!(interface.of_type(&i32::type_code()), None);
    }

    #[test]
    fn what_returns_something_is_refused_by_name() {
        let mut returns = operation_with(ParameterMode::In);
        returns.result = i32::type_code();
        let mut with_context = operation_with(ParameterMode::In);
        with_context.contexts.push("*".to_owned());
        for (operation, part) in [
            (returns, "`raised` returns a value"),
            (operation_with(ParameterMode::Out), "the parameter `level`"),
            (operation_with(ParameterMode::InOut), "`out` or `inout`"),
            (with_context, "`context` clause"),
        ] {
            let refused = Interface::of(&described(vec![operation]), Vec::new()).unwrap_err();
            assert!(refused.contains(part), "{refused}");
        }
        let mut with_attribute = described(Vec::new());
        with_attribute.attributes.push(AttributeDescription {
            name: "level".to_owned(),
            id: String::new(),
            type_code: i32::type_code(),
            readonly: true,
            get_exceptions: Vec::new(),
            put_exceptions: Vec::new(),
        });
        let refused = Interface::of(&with_attribute, Vec::new()).unwrap_err();
        assert!(refused.contains("attribute `level`"), "{refused}");
    }
}
