//! Structured events as constraints see them.

use punctual_constraint::{Event, FieldValue, List};

use crate::cos_notification::{Property, StructuredEvent};
use crate::qos::since_1582;

/// Constraints see the event as a channel's filters do; `$curtime` is the time of the evaluation.
impl Event for StructuredEvent {
    fn domain_name(&self) -> &str {
        &self.header.fixed_header.event_type.domain_name
    }

    fn type_name(&self) -> &str {
        &self.header.fixed_header.event_type.type_name
    }

    fn event_name(&self) -> &str {
        &self.header.fixed_header.event_name
    }

    fn property_count(&self, list: List) -> usize {
        properties(self, list).len()
    }

    fn property_at(&self, list: List, index: usize) -> Option<(&str, FieldValue<'_>)> {
        let property = properties(self, list).get(index)?;
        Some((&property.name, (&property.value).into()))
    }

    fn property(&self, list: List, name: &str) -> Option<FieldValue<'_>> {
        let mut properties = properties(self, list).iter();
        let found = properties.find(|property| property.name == name)?;
        Some((&found.value).into())
    }

    fn remainder_of_body(&self) -> Option<FieldValue<'_>> {
        Some((&self.remainder_of_body).into())
    }

    fn current_time(&self) -> Option<u64> {
        Some(since_1582())
    }
}

/// Returns a list of the event's properties.
fn properties(event: &StructuredEvent, list: List) -> &[Property] {
    match list {
        List::VariableHeader => &event.header.variable_header,
        List::FilterableData => &event.filterable_data,
    }
}
