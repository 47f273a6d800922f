//! SVG elements as text.

use std::fmt::Write;

/// Characters of a name that are shown.
const SHOWN: usize = 26;

/// Elements written so far.
#[derive(Default)]
pub(super) struct Markup(String);

impl Markup {
    /// Adds text that is markup itself.
    pub(super) fn raw(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    /// Opens a group with the title that is shown when the pointer is on it.
    pub(super) fn open(&mut self, class: &str, title: &str) {
        let title = escaped(title);
        self.add(format_args!("<g class=\"{class}\"><title>{title}</title>"));
    }

    /// Closes a group.
    pub(super) fn close(&mut self) {
        self.raw("</g>");
    }

    pub(super) fn rect(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        self.add(format_args!(
            "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.1}\"/>"
        ));
    }

    pub(super) fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        self.add(format_args!(
            "<line class=\"{class}\" x1=\"{x1:.2}\" y1=\"{y1:.1}\" x2=\"{x2:.2}\" y2=\"{y2:.1}\"/>"
        ));
    }

    /// Adds an arrow from one height to another, with its head at the second.
    pub(super) fn arrow(&mut self, class: &str, x: f64, (from, to): (f64, f64)) {
        let neck = if to < from { to + 5.0 } else { to - 5.0 };
        let (left, right) = (x - 3.0, x + 3.0);
        self.add(format_args!(
            "<path class=\"{class}\" d=\"M{x:.2} {from:.1}V{neck:.1}M{left:.2} {neck:.1}H{right:.2}L{x:.2} {to:.1}Z\"/>"
        ));
    }

    /// Adds a diagonal cross.
    pub(super) fn cross(&mut self, class: &str, (x, y): (f64, f64)) {
        let (left, right, top, bottom) = (x - 4.5, x + 4.5, y - 4.5, y + 4.5);
        self.add(format_args!(
            "<path class=\"{class}\" d=\"M{left:.2} {top:.1}L{right:.2} {bottom:.1}M{left:.2} {bottom:.1}L{right:.2} {top:.1}\"/>"
        ));
    }

    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        let text = escaped(text);
        self.add(format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"
        ));
    }

    /// Returns the text of all elements.
    pub(super) fn into_text(self) -> String {
        self.0
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        // A string takes all that is written.
        let _ = self.0.write_fmt(element);
        self.0.push('\n');
    }
}

/// Returns a text with the characters of markup escaped; control characters, which XML excludes, are
/// replaced.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            '\n' => escaped.push('\n'),
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Returns a name, its middle left out if it is long.
pub(super) fn shortened(name: &str) -> String {
    let count = name.chars().count();
    if count <= SHOWN {
        return name.to_owned();
    }
    let head = name.chars().take(SHOWN / 2);
    let tail = name.chars().skip(count + 1 - SHOWN / 2);
    head.chain(['\u{2026}']).chain(tail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        assert_eq!(
            escaped("a<b & \"c\"\u{1}"),
            "a&lt;b &amp; &quot;c&quot;\u{fffd}"
        );
    }

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(shortened("radar.read"), "radar.read");
        let short = shortened("platform.sensors.radar.antenna.read");
        assert_eq!(short, "platform.sens\u{2026}antenna.read");
    }
}
