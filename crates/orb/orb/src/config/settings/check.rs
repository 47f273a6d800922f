//! Check of a configuration before the ORB starts, whatever the source of its values.

use super::draft::Draft;
use super::sections::all;
use crate::config::error::{ConfigError, bad_value};
use crate::config::orb_config::OrbConfig;

/// Checks that all numbers are within the bounds of their settings.
pub(in crate::config) fn check(config: &OrbConfig) -> Result<(), ConfigError> {
    let mut draft = Draft::of(config);
    for (section, setting) in all() {
        // Looking at a setting of a table with an effect of its own would bring the table about.
        if section.open.is_some() {
            continue;
        }
        let bounds = setting.bounds;
        let number = (setting.field.slot)(&mut draft).number(bounds.unit);
        if let Some(number) = number.filter(|number| !bounds.contain(*number)) {
            // Files and options are checked when they are read, so that a program set this field.
            let field = setting.field.path;
            return Err(bad_value(field, number, bounds.to_string()));
        }
    }
    Ok(())
}
