//! Operations whose calls are events of a channel: each has a type of the underlying channel, so that consumers get what
//! their interface has and nothing else takes room in their queues.

use std::collections::HashMap;

use parking_lot::RwLock;
use punctual::TypeCode;
use punctual_rtevent::{Filter, codes};

use super::Interface;

/// Type of all events that are calls of no operation.
pub(crate) const UNTYPED: i32 = codes::FIRST_OF_USERS;

/// Maximum number of operations of a channel: peers may be able to define interfaces in the Interface Repository.
const MOST: usize = 100_000;

/// Operations of the interfaces that the proxies of a channel have or had, by their repository ids.
#[derive(Debug, Default)]
pub(crate) struct Operations(RwLock<HashMap<String, (i32, TypeCode)>>);

impl Operations {
    /// Adds the operations of an interface, and returns the filter of consumers that have it.
    ///
    /// # Errors
    /// The reason why they cannot be added: another interface has declared one of them otherwise; there are too many.
    pub(crate) fn add(&self, interface: &Interface) -> Result<Filter, String> {
        let mut known = self.0.write();
        if known.len() + interface.operations().len() > MOST {
            return Err(format!(
                "the channel has {} operations already",
                known.len()
            ));
        }
        for operation in interface.operations() {
            let other = known.get(&operation.id);
            if other.is_some_and(|(_, parameters)| *parameters != operation.parameters) {
                return Err(format!(
                    "its operation `{}` has other parameters than in the interface that proxies of the channel have",
                    operation.name
                ));
            }
        }
        let filters = interface.operations().iter().map(|operation| {
            let next = UNTYPED.saturating_add(i32::try_from(known.len() + 1).unwrap_or(i32::MAX));
            let entry = known.entry(operation.id.clone());
            let (code, _) = entry.or_insert_with(|| (next, operation.parameters.clone()));
            Filter::event(*code, 0)
        });
        Ok(Filter::any_of(filters.collect::<Vec<_>>()))
    }

    /// Returns the type, in the underlying channel, of events with this TypeCode.
    pub(crate) fn code_of(&self, type_code: &TypeCode) -> i32 {
        let known = self.0.read();
        if known.is_empty() {
            return UNTYPED;
        }
        let operation = type_code.id().ok().and_then(|id| known.get(id));
        match operation {
            // What an untyped supplier pushes may only have the operation's name: types with one id are equivalent, and
            // need not be equal.
            Some((code, parameters)) if parameters == type_code => *code,
            _ => UNTYPED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept::{EventInterface, Operation};
    use punctual::Typed;

    fn operation(name: &str, member: TypeCode) -> Operation {
        let id = format!("IDL:Plant/{name}:1.0");
        Operation {
            parameters: TypeCode::structure(&id, name, &[("level", member)]),
            id,
            name: name.to_owned(),
            is_oneway: false,
        }
    }

    fn interface(operations: Vec<Operation>) -> Interface {
        Interface::new(EventInterface {
            id: "IDL:Plant:1.0".to_owned(),
            bases: Vec::new(),
            operations,
        })
    }

    #[test]
    fn each_operation_has_a_type_and_what_only_has_its_id_has_none() {
        let (one, two) = (
            operation("one", i32::type_code()),
            operation("two", i32::type_code()),
        );
        let operations = Operations::default();
        operations
            .add(&interface(vec![one.clone(), two.clone()]))
            .unwrap();
        operations.add(&interface(vec![two.clone()])).unwrap();
        let codes = [&one, &two].map(|one| operations.code_of(&one.parameters));
        assert_eq!(codes, [UNTYPED + 1, UNTYPED + 2]);
        let other = operation("one", f64::type_code());
        assert_eq!(operations.code_of(&other.parameters), UNTYPED);
        assert_eq!(operations.code_of(&i32::type_code()), UNTYPED);
    }

    #[test]
    fn an_operation_with_other_parameters_is_refused_and_nothing_is_added() {
        let operations = Operations::default();
        let one = operation("one", i32::type_code());
        operations.add(&interface(vec![one])).unwrap();
        let new = operation("new", i32::type_code());
        let other = operation("one", f64::type_code());
        let refused = operations.add(&interface(vec![new.clone(), other]));
        let refused = refused.err().unwrap();
        assert!(refused.contains("`one` has other parameters"), "{refused}");
        assert_eq!(operations.code_of(&new.parameters), UNTYPED);
    }
}
