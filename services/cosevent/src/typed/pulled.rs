//! Interface `Pull<I>` of an interface I whose calls are events: consumers pull by it, and the channel pulls by it from
//! suppliers (Event Service 1.2, typed pull model).
//!
//! ```idl
//! interface Alarms {
//!     void raised(in string sensor, in double value);
//! };
//! interface PullAlarms {
//!     void pull_raised(out string sensor, out double value);     // waits for an event of `raised`
//!     boolean try_raised(out string sensor, out double value);   // false if there is none
//! };
//! ```
//! The standard leaves open how `Pull<I>` is named. Here its repository id is that of I with `Pull` before the last name,
//! as in JacORB's `PullCoffee` of `Coffee`: only I has to be described to the service. If its IDL has `Pull<I>`, too, that must
//! have these operations.

use std::sync::Arc;

use punctual::any::{TypeKind, Value};
use punctual::description::{InterfaceDescription, OperationDescription, ParameterMode};
use punctual::{Any, TypeCode};

use super::Interface;
use crate::event::EventData;
use crate::kept::Operation;

/// Begin of the names of interfaces.
const INTERFACE: &str = "Pull";

/// Begin of the names of operations that wait for an event.
pub(crate) const PULL: &str = "pull_";

/// Begin of the names of operations that return at once.
pub(crate) const TRY: &str = "try_";

/// Maximum number of operations of I: a supplier may be called by all at once.
const MOST_OPERATIONS: usize = 1_000;

/// Maximum number of bytes of the values that are returned where there is no event: peers may be able to define interfaces
/// in the Interface Repository.
const MOST_BYTES: usize = 16 << 20;

/// Interface `Pull<I>`.
#[derive(Debug)]
pub(crate) struct PullInterface {
    id: String,
    interface: Arc<Interface>,
}

/// Operation of `Pull<I>`, by the place of the operation of I.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PullOperation {
    Pull(usize),
    Try(usize),
}

impl PullInterface {
    /// Makes the interface `Pull<I>` of I; no event is larger than `most_bytes`.
    ///
    /// # Errors
    /// The reason why its events cannot be pulled.
    pub(crate) fn of(interface: Arc<Interface>, most_bytes: usize) -> Result<Self, String> {
        let id = of_pulled(interface.id()).ok_or_else(|| {
            "its repository id has not the form `IDL:NAME:VERSION`, so that `Pull<I>` has none"
                .to_owned()
        })?;
        let operations = interface.operations().len();
        if operations > MOST_OPERATIONS {
            return Err(format!(
                "it has {operations} operations, and those that are pulled by are {MOST_OPERATIONS} at most"
            ));
        }
        interface.make_nothing(|operations| all_nothing(operations, most_bytes))?;
        Ok(Self { id, interface })
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Returns the interface I.
    pub(crate) fn interface(&self) -> &Arc<Interface> {
        &self.interface
    }

    /// Returns whether it is the interface with a repository id, or derives from it.
    pub(crate) fn is_a(&self, id: &str) -> bool {
        pulled_of(id).is_some_and(|id| self.interface.is_a(&id))
    }

    /// Returns the operation with a name, as requests have it.
    pub(crate) fn named(&self, name: &str) -> Option<PullOperation> {
        let place = |name| self.interface.place_named(name);
        match name.strip_prefix(PULL) {
            Some(name) => place(name).map(PullOperation::Pull),
            None => place(name.strip_prefix(TRY)?).map(PullOperation::Try),
        }
    }

    /// Returns the parameters that `try_…` of an operation returns if there is no event.
    pub(crate) fn nothing(&self, operation: usize) -> Any {
        self.interface
            .nothing_of(operation)
            .cloned()
            .unwrap_or_default()
    }

    /// Checks that a description of `Pull<I>` has the operations that it must have.
    ///
    /// # Errors
    /// The first difference.
    pub(crate) fn check(&self, description: &InterfaceDescription) -> Result<(), String> {
        let mut operations = self.interface.operations().iter();
        operations.try_for_each(|operation| {
            let wanted = [(PULL, TypeKind::Void), (TRY, TypeKind::Boolean)];
            wanted.iter().try_for_each(|(begin, result)| {
                let name = format!("{begin}{}", operation.name);
                let described = description.operations.iter().find(|one| one.name == name);
                match described {
                    Some(described) if is_like(described, *result, operation) => Ok(()),
                    Some(_) => Err(format!(
                        "its operation `{name}` returns other types than `{}` of `{}` takes",
                        operation.name,
                        self.interface.id()
                    )),
                    None => Err(format!("it has no operation `{name}`")),
                }
            })
        })
    }
}

/// Returns the repository id of I of that of `Pull<I>`.
pub(crate) fn pulled_of(id: &str) -> Option<String> {
    let (scope, name) = split(id)?;
    let name = name.strip_prefix(INTERFACE)?;
    let is_name = !name.is_empty() && !name.starts_with(':');
    is_name.then(|| format!("{scope}{name}"))
}

/// Returns the repository id of `Pull<I>` of that of I.
fn of_pulled(id: &str) -> Option<String> {
    let (scope, name) = split(id)?;
    Some(format!("{scope}{INTERFACE}{name}"))
}

/// Splits a repository id of IDL before its last name, behind which is the version.
fn split(id: &str) -> Option<(&str, &str)> {
    let names = id.strip_prefix("IDL:")?;
    let at = names.rfind('/').map_or(0, |slash| slash + 1) + "IDL:".len();
    id.split_at_checked(at)
}

/// Makes a value of the parameters of each operation.
///
/// # Errors
/// As of [`nothing`]; they take too many bytes.
fn all_nothing(operations: &[Operation], most_bytes: usize) -> Result<Vec<Any>, String> {
    let (mut all, mut bytes) = (Vec::new(), 0);
    for operation in operations {
        let event = nothing(operation, most_bytes)?;
        bytes += event.bytes();
        if bytes > MOST_BYTES {
            return Err(format!(
                "events of its operations up to `{}` have {bytes} bytes or more, of {MOST_BYTES} at most",
                operation.name
            ));
        }
        all.push(event.any().clone());
    }
    Ok(all)
}

/// Makes a value of the parameters of an operation.
///
/// # Errors
/// No event of the operation fits into `most_bytes`; its types have too many parts for a value.
fn nothing(operation: &Operation, most_bytes: usize) -> Result<EventData, String> {
    let parameters = &operation.parameters;
    let value = Value::default_of(parameters);
    let value = value.and_then(|value| Any::of_value(parameters, &value));
    let value = value.map_err(|error| {
        format!(
            "the parameters of its operation `{}`: {error}",
            operation.name
        )
    })?;
    let event = EventData::new(value);
    match event.bytes() {
        bytes if bytes <= most_bytes => Ok(event),
        bytes => Err(format!(
            "an event of its operation `{}` has {bytes} bytes or more, and the service takes {most_bytes}",
            operation.name
        )),
    }
}

/// Returns whether an operation of `Pull<I>` returns the parameters of one of I behind a result of this kind.
fn is_like(described: &OperationDescription, result: TypeKind, operation: &Operation) -> bool {
    let parameters = &operation.parameters;
    let has_type = |(place, type_code): (usize, &TypeCode)| {
        let wanted = parameters.member_type(place);
        wanted.is_ok_and(|wanted| wanted.equivalent(type_code))
    };
    let mut returned = described.parameters.iter();
    described.result.original_type().kind() == result
        && parameters.member_count() == Ok(described.parameters.len())
        && returned.all(|one| one.mode == ParameterMode::Out)
        && described
            .parameters
            .iter()
            .map(|one| &one.type_code)
            .enumerate()
            .all(has_type)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::EventInterface;
    use punctual::Typed;
    use punctual::description::ParameterDescription;

    fn interface(member: TypeCode) -> Arc<Interface> {
        let id = "IDL:Plant/pull_raised:1.0".to_owned();
        Arc::new(Interface::new(EventInterface {
            id: "IDL:a/Plant:1.0".to_owned(),
            bases: vec!["IDL:Base:1.0".to_owned()],
            operations: vec![Operation {
                parameters: TypeCode::structure(&id, "pull_raised", &[("level", member)]),
                id,
                name: "pull_raised".to_owned(),
                is_oneway: false,
            }],
        }))
    }

    #[test]
    fn an_interface_to_pull_by_has_a_name_of_its_own_beside_that_of_the_events() {
        for (id, pulled) in [
            ("IDL:a/b/Plant:1.0", "IDL:a/b/PullPlant:1.0"),
            ("IDL:Plant:1.0", "IDL:PullPlant:1.0"),
            (
                "IDL:omg.org/Pull/PullPlant:2.1",
                "IDL:omg.org/Pull/PullPullPlant:2.1",
            ),
        ] {
            assert_eq!(of_pulled(id).as_deref(), Some(pulled));
            assert_eq!(pulled_of(pulled).as_deref(), Some(id));
        }
        for other in [
            "IDL:Pull/Plant:1.0",
            "IDL:Pull:1.0",
            "RMI:PullPlant:1.0",
            "IDL:",
            "",
        ] {
            assert_eq!(pulled_of(other), None, "{other}");
        }
    }

    #[test]
    fn each_operation_is_pulled_by_two() {
        let pulled = PullInterface::of(interface(i32::type_code()), 1_000).unwrap();
        assert_eq!(pulled.id(), "IDL:a/PullPlant:1.0");
        assert!(pulled.is_a("IDL:a/PullPlant:1.0") && pulled.is_a("IDL:PullBase:1.0"));
        assert!(!pulled.is_a("IDL:a/Plant:1.0") && !pulled.is_a("IDL:Base:1.0"));
        let named = [
            "pull_pull_raised",
            "try_pull_raised",
            "pull_raised",
            "raised",
        ]
        .map(|name| pulled.named(name));
        let two = [PullOperation::Pull(0), PullOperation::Try(0)];
        assert_eq!(named, [Some(two[0]), Some(two[1]), None, None]);
    }

    #[test]
    fn an_operation_whose_events_are_all_too_large_is_refused_by_name() {
        let large = TypeCode::array(&i32::type_code(), 1_000);
        for (type_code, part) in [
            (large.clone(), "or more, and the service takes 1000"),
            (
                TypeCode::array(&large, u32::MAX),
                "the parameters of its operation",
            ),
        ] {
            let refused = PullInterface::of(interface(type_code), 1_000).unwrap_err();
            assert!(refused.contains("`pull_raised`"), "{refused}");
            assert!(refused.contains(part), "{refused}");
        }
    }

    #[test]
    fn interfaces_with_too_many_operations_or_too_much_to_return_are_refused() {
        let with = |count: u32, parameter: &TypeCode| {
            let operation = |number| {
                let (id, name) = (format!("IDL:a/op{number}:1.0"), format!("op{number}"));
                Operation {
                    parameters: TypeCode::structure(&id, &name, &[("all", parameter.clone())]),
                    id,
                    name,
                    is_oneway: false,
                }
            };
            let interface = Interface::new(EventInterface {
                id: "IDL:Plant:1.0".to_owned(),
                bases: Vec::new(),
                operations: (0..count).map(operation).collect(),
            });
            PullInterface::of(Arc::new(interface), 1 << 20)
        };
        assert!(with(1_000, &TypeCode::LONG).is_ok());
        let many = with(1_001, &TypeCode::LONG).unwrap_err();
        assert!(many.contains("it has 1001 operations"), "{many}");
        let large = TypeCode::array(&TypeCode::OCTET, 1_000_000);
        assert!(with(16, &large).is_ok());
        let much = with(17, &large).unwrap_err();
        assert!(much.contains("up to `op16` have 17"), "{much}");
    }

    #[test]
    fn an_interface_to_pull_by_is_described_with_what_its_operations_return() {
        let pulled = PullInterface::of(interface(i32::type_code()), 1_000).unwrap();
        let operation = |name: &str, result, type_code, mode| OperationDescription {
            name: name.to_owned(),
            result,
            parameters: vec![ParameterDescription {
                name: "other".to_owned(),
                type_code,
                mode,
            }],
            ..OperationDescription::default()
        };
        let right = [
            operation(
                "pull_pull_raised",
                TypeCode::VOID,
                TypeCode::LONG,
                ParameterMode::Out,
            ),
            operation(
                "try_pull_raised",
                TypeCode::BOOLEAN,
                TypeCode::LONG,
                ParameterMode::Out,
            ),
        ];
        let described = |operations: &[OperationDescription]| InterfaceDescription {
            operations: operations.to_vec(),
            ..InterfaceDescription::default()
        };
        assert_eq!(pulled.check(&described(&right)), Ok(()));
        let lacks = pulled.check(&described(&right[..1])).unwrap_err();
        assert!(lacks.contains("no operation `try_pull_raised`"), "{lacks}");
        for wrong in [
            operation(
                "try_pull_raised",
                TypeCode::VOID,
                TypeCode::LONG,
                ParameterMode::Out,
            ),
            operation(
                "try_pull_raised",
                TypeCode::BOOLEAN,
                TypeCode::SHORT,
                ParameterMode::Out,
            ),
            operation(
                "try_pull_raised",
                TypeCode::BOOLEAN,
                TypeCode::LONG,
                ParameterMode::InOut,
            ),
        ] {
            let differs = pulled.check(&described(&[right[0].clone(), wrong]));
            assert!(
                differs
                    .unwrap_err()
                    .contains("`try_pull_raised` returns other types")
            );
        }
    }
}
