//! What a file states at an administrator or a proxy, brought to the service. What is there already stays as it is.

use super::Side;
use super::check::{constraints, properties, refused, types};
use super::file::Stated;
use super::source::Source;
use crate::call::Problem;
use crate::notify::channel::failed;
use punctual::{Interface, NotNil, ObjectRef};
use punctual_constraint::Grammar;
use punctual_notification::cos_notification::{EventType, Property, QoSAdmin, QoSAdminSetQosError};
use punctual_notification::cos_notify_comm::{NotifyPublish, NotifySubscribe};
use punctual_notification::cos_notify_filter::{FilterAdmin, FilterFactory};
use punctual_notification::punctual_notify::{FilterState, Statement};

/// Administrator or proxy that is changed.
pub(super) struct Target<'t> {
    pub(super) source: &'t Source,
    pub(super) filters: &'t FilterFactory,
    /// Key of its table.
    pub(super) key: String,
    pub(super) side: Side,
    pub(super) object: ObjectRef,
}

impl Target<'_> {
    /// Brings the object to what the file states; `now` is what it has.
    ///
    /// # Errors
    /// The service refuses a part of it.
    pub(super) fn state(&self, wanted: &Stated<'_>, now: &Statement) -> Result<(), Problem> {
        let key = format!("{}.quality", self.key);
        let quality = properties(self.source, &key, wanted.quality)?;
        let changed = differing(quality, &now.quality);
        if !changed.is_empty() {
            let set = QoSAdmin::from_object(self.object.clone()).set_qos(&changed);
            set.map_err(|error| match error {
                QoSAdminSetQosError::UnsupportedQoS(unsupported) => {
                    refused(self.source, &key, wanted.quality, &unsupported.qos_err)
                }
                other => failed(other),
            })?;
        }
        self.state_types(wanted.types.map(types), now)?;
        self.state_filters(wanted, now)
    }

    fn state_types(&self, wanted: Option<Vec<EventType>>, now: &Statement) -> Result<(), Problem> {
        let (added, removed) = changes(wanted, now.has_types.then_some(now.types.as_slice()));
        if added.is_empty() && removed.is_empty() {
            return Ok(());
        }
        let object = self.object.clone();
        match self.side {
            Side::Consumers => NotifySubscribe::from_object(object)
                .subscription_change(&added, &removed)
                .map_err(failed),
            Side::Suppliers => NotifyPublish::from_object(object)
                .offer_change(&added, &removed)
                .map_err(failed),
        }
    }

    /// Attaches the filters of the file in place of those that are there, unless they are the same.
    fn state_filters(&self, wanted: &Stated<'_>, now: &Statement) -> Result<(), Problem> {
        let key = format!("{}.filters", self.key);
        let filters = wanted.filters.iter().map(|one| {
            // `ETCL` is another name of the same.
            let grammar = Grammar::named(one.grammar.get_ref()).map_or("", Grammar::name);
            Ok(FilterState {
                grammar: grammar.to_owned(),
                constraints: constraints(self.source, &key, one)?,
            })
        });
        let filters = filters.collect::<Result<Vec<_>, Problem>>()?;
        if filters == now.filters {
            return Ok(());
        }
        let object = FilterAdmin::from_object(self.object.clone());
        object.remove_all_filters().map_err(failed)?;
        for filter in filters {
            let made = self
                .filters
                .create_filter(&filter.grammar)
                .map_err(failed)?;
            let made = made.not_nil().map_err(failed)?;
            made.add_constraints(&filter.constraints).map_err(failed)?;
            object.add_filter(Some(&made)).map_err(failed)?;
        }
        Ok(())
    }
}

/// Returns the properties that differ from those that are set.
pub(super) fn differing(wanted: Vec<Property>, now: &[Property]) -> Vec<Property> {
    let differs = |one: &Property| !now.contains(one);
    wanted.into_iter().filter(differs).collect()
}

/// Returns the types to add and to remove; `None` are all types.
fn changes(
    wanted: Option<Vec<EventType>>,
    now: Option<&[EventType]>,
) -> (Vec<EventType>, Vec<EventType>) {
    let all = || EventType {
        domain_name: "*".to_owned(),
        type_name: "%ALL".to_owned(),
    };
    match (wanted, now) {
        (None, None) => (Vec::new(), Vec::new()),
        (None, Some(_)) => (vec![all()], Vec::new()),
        (Some(wanted), None) if wanted.is_empty() => (Vec::new(), vec![all()]),
        (Some(wanted), now) => {
            let now = now.unwrap_or_default();
            let removed = now.iter().filter(|one| !wanted.contains(one)).cloned();
            let removed = removed.collect();
            let added = wanted.into_iter().filter(|one| !now.contains(one));
            (added.collect(), removed)
        }
    }
}
