//! Sample configuration file, with all settings.

use super::draft::Draft;
use super::sections::SECTIONS;
use super::setting::Setting;
use super::slot::Form;
use crate::config::orb_config::OrbConfig;
use std::fmt::Write;

/// Maximum line length of the sample configuration file, in characters.
const WIDTH: usize = 118;

impl OrbConfig {
    /// Returns a configuration file with every key, its meaning and its default, or, commented out,
    /// with an example.
    ///
    /// ```
    /// # use punctual_orb::OrbConfig;
    /// assert!(OrbConfig::sample().contains("\ncall_ms = 0\n"));
    /// ```
    #[must_use]
    pub fn sample() -> String {
        sample()
    }
}

fn sample() -> String {
    let mut draft = Draft::of(&OrbConfig::default());
    let mut out = String::new();
    comment(
        &mut out,
        "Every key of an ORB's configuration file, with its default, or commented out with an example. All are \
         optional; an unknown one stops the start. A program takes the file with -ORBConfigFile orb.toml; the other \
         -ORB options override it.",
    );
    for section in SECTIONS {
        if !section.name.is_empty() {
            out.push('\n');
            comment(&mut out, section.doc);
            let is_active = section.open.is_none()
                && section
                    .settings
                    .iter()
                    .any(|setting| setting.example.is_none());
            let mark = if is_active { "" } else { "# " };
            let _ = writeln!(out, "{mark}[{}]", section.name);
        }
        for setting in section.settings {
            if section.name.is_empty() {
                out.push('\n');
            }
            let slot = (setting.field.slot)(&mut draft);
            let shown = slot.shown(setting.bounds.unit);
            comment(&mut out, &documented(setting, &slot.form()));
            match (setting.example, slot.form()) {
                (Some(example), Form::Table { .. }) => comment_out(&mut out, example),
                (Some(example), _) => {
                    comment_out(&mut out, &format!("{} = {example}", setting.key));
                }
                (None, _) => {
                    let line = format!("{} = {}", setting.key, shown.unwrap_or_default());
                    match section.open {
                        Some(_) => comment_out(&mut out, &line),
                        None => {
                            let _ = writeln!(out, "{line}");
                        }
                    }
                }
            }
        }
    }
    out
}

/// Returns the meaning of a setting, followed by its valid words if it has any.
fn documented(setting: &Setting, form: &Form) -> String {
    match form {
        Form::Word(words) => format!("{} Values: {}.", setting.doc, words.join(", ")),
        _ => setting.doc.to_owned(),
    }
}

/// Writes a text as comment lines of the sample configuration file.
fn comment(out: &mut String, text: &str) {
    let mut line = "#".to_owned();
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(out, "{line}");
            "#".clone_into(&mut line);
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(out, "{line}");
}

/// Writes lines as comments that a user activates by removing the `#`.
fn comment_out(out: &mut String, lines: &str) {
    for line in lines.lines() {
        let _ = writeln!(out, "# {line}");
    }
}
