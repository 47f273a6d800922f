//! Events, as constraints see them.

use punctual_any::Any;

/// List of properties of a structured event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum List {
    /// Optional fields of the header: `$.header.variable_header`.
    VariableHeader,
    /// Fields that are meant for filters: `$.filterable_data`.
    FilterableData,
}

/// Value of a field of an event.
#[derive(Clone, Copy, Debug)]
pub enum FieldValue<'e> {
    /// Any.
    Any(&'e Any),
    /// Any where it stands in an encoded event, at an offset of [`Any::encoding`].
    Within(&'e Any, usize),
}

impl<'e> From<&'e Any> for FieldValue<'e> {
    fn from(any: &'e Any) -> Self {
        Self::Any(any)
    }
}

/// Event that constraints are evaluated over: a structured one (`CosNotification::StructuredEvent`), or a single Any.
///
/// The offer of a trader or the record of a log is an event, too: its properties are the list `FilterableData`.
pub trait Event {
    /// Returns the value that `$` stands for, if the event is not structured. The other methods but
    /// [`Event::current_time`] are not called then.
    fn root(&self) -> Option<&Any> {
        None
    }

    /// Returns the domain of the event's type: `$domain_name`.
    fn domain_name(&self) -> &str {
        ""
    }

    /// Returns the name of the event's type: `$type_name`.
    fn type_name(&self) -> &str {
        ""
    }

    /// Returns the name of the event: `$event_name`.
    fn event_name(&self) -> &str {
        ""
    }

    /// Returns the number of properties in a list.
    fn property_count(&self, list: List) -> usize;

    /// Returns name and value of a property by its place, counted from 0.
    fn property_at(&self, list: List, index: usize) -> Option<(&str, FieldValue<'_>)>;

    /// Returns the value of the first property with this name. Looks through the list; events with an index of their
    /// properties may be faster.
    fn property(&self, list: List, name: &str) -> Option<FieldValue<'_>> {
        let mut all = (0..self.property_count(list)).map_while(|at| self.property_at(list, at));
        all.find_map(|(its, value)| (its == name).then_some(value))
    }

    /// Returns what follows the filterable data: `$.remainder_of_body`.
    fn remainder_of_body(&self) -> Option<FieldValue<'_>> {
        None
    }

    /// Returns the time that `$curtime` stands for, in units of 100 ns since 15 October 1582 (`TimeBase::TimeT`). `None`
    /// makes constraints with `$curtime` false.
    fn current_time(&self) -> Option<u64> {
        None
    }
}
