//! Rows of figures: values by name, and templates that they fill.

use crate::statistics::Figures;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// Values by name, in the order in which they are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Row(Vec<(String, Value)>);

impl Row {
    /// Adds a named value to the row.
    pub(crate) fn with(mut self, name: &str, value: impl Serialize) -> Self {
        // A value without a form in JSON is shown as absent.
        let value = serde_json::to_value(value).unwrap_or_default();
        self.0.push((name.to_owned(), value));
        self
    }

    /// Adds statistical figures of a measurement to the row.
    pub(crate) fn with_figures(self, figures: &Figures) -> Self {
        self.with("samples", figures.samples)
            .with("median", figures.median)
            .with("spread", figures.spread)
            .with("p50", figures.p50)
            .with("p99", figures.p99)
            .with("p999", figures.p999)
            .with("max", figures.max)
    }

    /// Returns a value by its name, or `None`. A dot in the name separates the names of nested
    /// values.
    pub(crate) fn get(&self, path: &str) -> Option<&Value> {
        let mut parts = path.split('.');
        let first = parts.next()?;
        let (_, value) = self.0.iter().find(|(name, _)| name == first)?;
        parts
            .try_fold(value, |value, part| value.get(part))
            .filter(|value| !value.is_null())
    }

    /// Returns a value of the row as a number.
    pub(crate) fn number(&self, path: &str) -> Option<f64> {
        self.get(path)?.as_f64()
    }

    /// Returns whether a value of the row is `true`.
    pub(crate) fn flag(&self, path: &str) -> bool {
        self.get(path) == Some(&Value::Bool(true))
    }

    /// Returns a value as text: fractions with two decimals, and an empty text for an absent value.
    pub(crate) fn text(&self, path: &str) -> String {
        match self.get(path) {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) if number.is_f64() => {
                let number = number.as_f64().unwrap_or_default();
                match number.fract() == 0.0 {
                    true => number.to_string(),
                    false => format!("{number:.2}"),
                }
            }
            Some(Value::Array(values)) => {
                let words: Vec<String> = values.iter().map(words).collect();
                words.join(" ")
            }
            Some(other) => other.to_string(),
        }
    }

    /// Returns whether a value of the row equals the given text.
    pub(crate) fn is(&self, path: &str, text: &str) -> bool {
        self.get(path).and_then(Value::as_str) == Some(text)
    }

    /// Returns whether the row has all values of the other row.
    pub(crate) fn has(&self, other: &Self) -> bool {
        let mut values = other.0.iter();
        values.all(|(name, value)| self.get(name) == Some(value).filter(|it| !it.is_null()))
    }

    /// Returns whether the row's rounds differ too much for its figures to be known.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.flag("noisy") || self.get("known") == Some(&Value::Bool(false))
    }

    /// Serializes the values as entries of a map that the caller has begun.
    pub(super) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.0
            .iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))
    }
}

/// Returns an element of a list as text; a pair becomes `first=second`.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(pair) => pair.iter().map(words).collect::<Vec<_>>().join("="),
        other => other.to_string(),
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.write(&mut map)?;
        map.end()
    }
}

/// Accepts every row, as the default filter.
pub(crate) fn every_row(_: &Row) -> bool {
    true
}

/// Replaces each `{name}` of a template by the value of that name in the first row that has it.
pub(super) fn fill(template: &str, rows: &[&Row]) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        let (name, after) = behind.split_once('}').unwrap_or((behind, ""));
        let found = rows.iter().find(|row| row.get(name).is_some());
        filled.push_str(before);
        filled.push_str(&found.map_or_else(String::new, |row| row.text(name)));
        rest = after;
    }
    filled + rest
}

/// Splits rows into groups with the same values of these names, in the order of the first rows.
pub(super) fn groups<'r>(rows: impl Iterator<Item = &'r Row>, names: &[&str]) -> Vec<Vec<&'r Row>> {
    let alike = |one: &Row, other: &Row| names.iter().all(|name| one.get(name) == other.get(name));
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| alike(group[0], row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// Returns the distinct texts, in the order of their first occurrence.
pub(super) fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut known = Vec::new();
    for text in texts {
        if !known.contains(&text) {
            known.push(text);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn templates_are_filled_with_values_and_with_those_inside_of_values() {
        let row = Row::default()
            .with("contender", "punctual")
            .with("high", json!({"mean": 1.5}))
            .with("absent", None::<u32>);
        let settings = Row::default().with("rounds", 3).with("contender", "other");
        let filled = fill(
            "{contender}: {high.mean}, {rounds}{absent}!",
            &[&row, &settings],
        );
        assert_eq!(filled, "punctual: 1.50, 3!");
        assert_eq!(row.number("high.mean"), Some(1.5));
        assert_eq!(row.number("high.jitter"), None);
    }

    #[test]
    fn groups_keep_the_order_of_their_first_rows() {
        let row = |placement: &str, number: u32| {
            Row::default()
                .with("placement", placement)
                .with("number", number)
        };
        let rows = [row("same", 1), row("cross", 2), row("same", 3)];
        let groups = groups(rows.iter(), &["placement"]);
        let numbers: Vec<Vec<Option<f64>>> = groups
            .iter()
            .map(|group| group.iter().map(|row| row.number("number")).collect())
            .collect();
        assert_eq!(numbers, [vec![Some(1.0), Some(3.0)], vec![Some(2.0)]]);
    }

    #[test]
    fn values_are_written_in_their_order() {
        let row = Row::default().with("b", 1).with("a", "x");
        assert_eq!(serde_json::to_string(&row).unwrap(), r#"{"b":1,"a":"x"}"#);
    }
}
