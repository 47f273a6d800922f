//! Strings in JSON.

use std::fmt::{self, Write};

/// Text that shows as a JSON string.
pub(crate) struct JsonText<'t>(pub(crate) &'t str);

impl fmt::Display for JsonText<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => write!(out, "\\{letter}")?,
                control if control.is_control() => write!(out, "\\u{:04x}", u32::from(control))?,
                other => out.write_char(other)?,
            }
        }
        out.write_char('"')
    }
}
