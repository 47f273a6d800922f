//! Our servant of `values::Exchange`, and the operations of our values and objects.

use super::words;
use crate::v;
use punctual::{Any, SystemException, ValueRef};

type Echoed<T> = Result<(Option<T>, Option<T>), SystemException>;

/// Echoes the arguments: the result is the original value of the inout parameter; the inout and the
/// out parameter get the value of the in parameter.
fn twist<T: Clone>(a: Option<&T>, b: &mut Option<T>) -> Echoed<T> {
    Ok((std::mem::replace(b, a.cloned()), a.cloned()))
}

/// Makes `count` values that form a ring, and returns the first.
pub(super) fn ring(count: i32) -> v::Node {
    let first = v::Node::new(v::NodeState::default());
    let mut last = first.clone();
    for number in 1..count {
        let state = v::NodeState {
            number,
            ..v::NodeState::default()
        };
        let next = v::Node::new_beside(&first, state);
        last.set_next(Some(next.clone()));
        last = next;
    }
    last.set_next(Some(first.clone()));
    first
}

/// Makes a value of a type for which the other side has no factory.
pub(super) fn hidden() -> v::Named {
    let five = v::Node::new(v::NodeState {
        number: 5,
        ..v::NodeState::default()
    });
    let hidden = v::Hidden::new(v::HiddenState {
        base: v::NamedState {
            base: v::NodeState {
                number: 8,
                ..v::NodeState::default()
            },
            name: "eight".to_owned(),
        },
        factor: 0.5,
        last: Some(ring(2)),
        rest: vec![None, Some(five)],
    });
    hidden.into()
}

/// Implementation of the operations of the valuetype `Thing`.
#[derive(Debug)]
pub(super) struct Things;

impl v::ThingOperations for Things {
    fn describe(&self, this: &v::Thing) -> Result<String, SystemException> {
        Ok(format!("our thing {}", this.what()))
    }
}

/// Servant of an object whose operation returns a description of it.
#[derive(Debug)]
pub(super) struct Spot;

impl v::DescribableServant for Spot {
    fn describe(&self) -> Result<String, SystemException> {
        Ok("our spot".to_owned())
    }
}

impl v::SpotServant for Spot {}

/// Servant of `values::Exchange`, which returns the values that it receives.
#[derive(Debug)]
pub(super) struct Exchange;

impl v::ExchangeServant for Exchange {
    fn e_node(&self, a: Option<&v::Node>, b: &mut Option<v::Node>) -> Echoed<v::Node> {
        twist(a, b)
    }

    fn e_named(&self, a: Option<&v::Named>, b: &mut Option<v::Named>) -> Echoed<v::Named> {
        twist(a, b)
    }

    fn e_text(&self, a: Option<&v::Text>, b: &mut Option<v::Text>) -> Echoed<v::Text> {
        twist(a, b)
    }

    fn e_longs(&self, a: Option<&v::Longs>, b: &mut Option<v::Longs>) -> Echoed<v::Longs> {
        twist(a, b)
    }

    fn e_base(&self, a: Option<&ValueRef>) -> Result<Option<ValueRef>, SystemException> {
        Ok(a.cloned())
    }

    fn e_describable(
        &self,
        a: Option<&v::Describable>,
        b: &mut Option<v::Describable>,
    ) -> Echoed<v::Describable> {
        twist(a, b)
    }

    fn e_any(&self, a: &Any, b: &mut Any) -> Result<(Any, Any), SystemException> {
        Ok((std::mem::replace(b, a.clone()), a.clone()))
    }

    fn say_node(&self, value: Option<&v::Node>) -> Result<String, SystemException> {
        Ok(words::graph(value))
    }

    fn say_describable(&self, value: Option<&v::Describable>) -> Result<String, SystemException> {
        value.map_or(Ok("nil".to_owned()), v::Describable::describe)
    }

    fn say_any(&self, value: &Any) -> Result<String, SystemException> {
        Ok(words::any(value))
    }

    fn same(&self, a: Option<&v::Node>, b: Option<&v::Node>) -> Result<bool, SystemException> {
        Ok(a == b)
    }

    fn ring(&self, count: i32) -> Result<Option<v::Node>, SystemException> {
        Ok(Some(ring(count)))
    }

    fn hidden(&self) -> Result<Option<v::Named>, SystemException> {
        Ok(Some(hidden()))
    }
}
