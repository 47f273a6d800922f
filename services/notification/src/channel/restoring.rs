//! Administrators that a store has kept.

use std::sync::Arc;

use super::core::{Channel, Properties};
use crate::admin::{ConsumerAdmin, SupplierAdmin};
use crate::cos_notify_channel_admin::InterFilterGroupOperator as Operator;
use crate::draft::Draft;
use crate::group::Place;
use crate::kept;
use crate::qos::{AdminSettings, Settings};
use crate::refusal::Refusal;

/// Administrator that was kept.
pub(crate) enum Admin {
    Consumers(Arc<ConsumerAdmin>),
    Suppliers(Arc<SupplierAdmin>),
}

impl Properties {
    /// Reads the properties of a channel that was kept.
    pub(crate) fn of_kept(kept: &kept::Channel) -> Self {
        Self {
            settings: Settings::of_kept(&kept.quality),
            // They were checked when they were set.
            administration: AdminSettings::default()
                .changed(&kept.administration)
                .unwrap_or_default(),
        }
    }
}

impl Channel {
    /// Notes that the store has the channel.
    pub(crate) fn note_kept(&self) {
        self.record.note(true);
    }

    /// Makes an administrator that was kept.
    ///
    /// # Errors
    /// Its reference cannot be made.
    pub(crate) fn restore(
        self: &Arc<Self>,
        number: u64,
        kept: &kept::Admin,
        draft: Draft,
    ) -> Result<Admin, Refusal> {
        let place = Place {
            id: kept.id,
            number,
            operator: if kept.is_or {
                Operator::OrOp
            } else {
                Operator::AndOp
            },
            has_consumers: kept.has_consumers,
        };
        match kept.has_consumers {
            true => {
                let made = ConsumerAdmin::new(self.clone(), place);
                made.base.stated.restore(draft);
                made.serve()?;
                self.members.add_consumers(made.clone());
                Ok(Admin::Consumers(made))
            }
            false => {
                let made = SupplierAdmin::new(self.clone(), place);
                made.base.stated.restore(draft);
                made.serve()?;
                self.members.add_suppliers(made.clone());
                Ok(Admin::Suppliers(made))
            }
        }
    }
}
