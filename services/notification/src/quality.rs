//! Quality of service of one object, as `QoSAdmin` manages it.

use parking_lot::RwLock;

use crate::cos_notification::{NamedPropertyRange, Property, UnsupportedQoS};
use crate::qos::{Abilities, Level, Settings, Terms};

/// Settings of a channel, an administrator or a proxy.
#[derive(Debug)]
pub(crate) struct Quality {
    level: Level,
    abilities: Abilities,
    settings: RwLock<Settings>,
}

impl Quality {
    pub(crate) fn new(level: Level, abilities: Abilities, settings: Settings) -> Self {
        Self {
            level,
            abilities,
            settings: RwLock::new(settings),
        }
    }

    /// Returns the quality that a child begins with.
    pub(crate) fn inherited(&self, level: Level) -> Self {
        let settings = self.settings.read().inherited(level);
        Self::new(level, self.abilities, settings)
    }

    /// Returns the meaning of the settings.
    pub(crate) fn terms(&self) -> Terms {
        Terms::of(&self.settings.read())
    }

    /// Returns all properties that are set.
    pub(crate) fn properties(&self) -> Vec<Property> {
        self.settings.read().to_properties()
    }

    /// Sets properties, all or none.
    ///
    /// # Errors
    /// Those that are wrong.
    pub(crate) fn set(&self, properties: &[Property]) -> Result<(), UnsupportedQoS> {
        let mut settings = self.settings.write();
        let changed = settings.changed(properties, self.level, self.abilities);
        *settings = changed.map_err(|qos_err| UnsupportedQoS { qos_err })?;
        Ok(())
    }

    /// Returns the properties that could be set in addition.
    ///
    /// # Errors
    /// Those that are wrong.
    pub(crate) fn validate(
        &self,
        properties: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, UnsupportedQoS> {
        let changed = self
            .settings
            .read()
            .changed(properties, self.level, self.abilities);
        changed.map_err(|qos_err| UnsupportedQoS { qos_err })?;
        Ok(Settings::available(properties, self.level, self.abilities))
    }

    /// Returns the properties that an event could have in addition.
    ///
    /// # Errors
    /// Those that are wrong.
    pub(crate) fn validate_event(
        &self,
        properties: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, UnsupportedQoS> {
        let changed = Settings::default().changed(properties, Level::Event, self.abilities);
        changed.map_err(|qos_err| UnsupportedQoS { qos_err })?;
        Ok(Settings::available(
            properties,
            Level::Event,
            self.abilities,
        ))
    }
}
