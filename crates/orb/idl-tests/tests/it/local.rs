//! Local interfaces, IDL types that contain their references, and native exceptions, all within one
//! process.
#![allow(clippy::unwrap_used)]

/// Rust that the IDL compiler generates from `idl/local.idl`.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/local.rs"));
}

use std::fmt;
use std::sync::{Arc, Mutex};

use generated::local_things::{AttemptRepeatError, Found, Group, Groups, Listener, Registry};
use punctual::SystemException;

/// Rust type that the test supplies for a native type of the IDL.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure(u8);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed {} times", self.0)
    }
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Listener for Heard {
    fn hear(&self, what: &str) -> Result<(), SystemException> {
        self.0.lock().unwrap().push(what.to_owned());
        Ok(())
    }
}

#[derive(Default)]
struct Book(Mutex<Groups>);

impl Registry for Book {
    fn all(&self) -> Result<Groups, SystemException> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn enter(&self, added: &Group) -> Result<(), SystemException> {
        self.0.lock().unwrap().push(added.clone());
        Ok(())
    }

    fn find(
        &self,
        name: &str,
        where_: &mut Vec<Option<Arc<dyn Listener>>>,
    ) -> Result<Found, SystemException> {
        let groups = self.0.lock().unwrap();
        let group = groups.iter().find(|group| group.name == name);
        let members = group.map(|group| group.members.clone()).unwrap_or_default();
        where_.extend(members.iter().cloned());
        Ok(match members.into_iter().next() {
            Some(first) => Found::One(first),
            None => Found::Unlabeled(false),
        })
    }
}

#[test]
fn structs_sequences_and_unions_of_local_objects_pass_through_local_interfaces() {
    let heard = Arc::new(Heard::default());
    let book = Book::default();
    book.enter(&Group {
        name: "night".into(),
        members: vec![Some(heard.clone()), None],
    })
    .unwrap();
    let mut everyone = Vec::new();
    let found = book.find("night", &mut everyone).unwrap();
    assert!(found.discriminator());
    let Found::One(Some(one)) = found else {
        panic!("{found:?}");
    };
    one.hear("a step").unwrap();
    assert_eq!(*heard.0.lock().unwrap(), ["a step"]);
    assert_eq!(everyone.len(), 2);
    let nobody = book.find("day", &mut everyone).unwrap();
    assert!(!nobody.discriminator());
    assert_eq!(format!("{:?}", book.all().unwrap()), "[Group { .. }]");
}

#[test]
fn a_native_type_that_is_raised_is_one_of_the_errors() {
    let error = AttemptRepeatError::from(Failure(3));
    assert_eq!(error.to_string(), "failed 3 times");
    assert_eq!(error, AttemptRepeatError::Failure(Failure(3)));
}
