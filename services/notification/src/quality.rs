//! Quality of service of one object, as `QoSAdmin` manages it.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;

use crate::cos_notification::{NamedPropertyRange, Property, UnsupportedQoS};
use crate::qos::{Abilities, Level, Settings, Terms};

/// Settings of a channel, an administrator or a proxy.
#[derive(Debug)]
pub(crate) struct Quality {
    level: Level,
    abilities: Abilities,
    settings: RwLock<Settings>,
    /// States that ConnectionReliability stays as it is.
    is_connection_fixed: AtomicBool,
}

impl Quality {
    pub(crate) fn new(level: Level, abilities: Abilities, settings: Settings) -> Self {
        Self {
            level,
            abilities,
            settings: RwLock::new(settings),
            is_connection_fixed: AtomicBool::new(false),
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

    /// Returns whether events that state nothing are to survive a crash.
    pub(crate) fn has_persistent_events(&self) -> bool {
        self.settings.read().has_persistent_events()
    }

    /// Keeps ConnectionReliability as it is from now on.
    pub(crate) fn fix_connection(&self) {
        // Relaxed: a flag of its own, which orders no other access.
        self.is_connection_fixed.store(true, Ordering::Relaxed);
    }

    /// Returns all properties that are set.
    pub(crate) fn properties(&self) -> Vec<Property> {
        self.settings.read().to_properties()
    }

    pub(crate) fn settings(&self) -> Settings {
        self.settings.read().clone()
    }

    /// Returns the settings with properties changed, all or none.
    ///
    /// # Errors
    /// Those that are wrong.
    pub(crate) fn changed(&self, properties: &[Property]) -> Result<Settings, UnsupportedQoS> {
        let settings = self.settings.read();
        let changed = settings.changed(properties, self.level, self.abilities);
        let changed = changed.map_err(|qos_err| UnsupportedQoS { qos_err })?;
        let differs = changed.has_persistent_connections() != settings.has_persistent_connections();
        match differs && self.is_connection_fixed.load(Ordering::Relaxed) {
            true => Err(UnsupportedQoS {
                qos_err: vec![settings.fixed_connection()],
            }),
            false => Ok(changed),
        }
    }

    /// Sets the properties to those of settings that were checked.
    pub(crate) fn replace(&self, settings: Settings) {
        *self.settings.write() = settings;
    }

    /// Returns the properties that could be set in addition.
    ///
    /// # Errors
    /// Those that are wrong.
    pub(crate) fn validate(
        &self,
        properties: &[Property],
    ) -> Result<Vec<NamedPropertyRange>, UnsupportedQoS> {
        self.changed(properties)?;
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
