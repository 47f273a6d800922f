//! Figures in the JSON of a measurement.

use serde_json::Value;
use std::cell::Cell;

/// Report of one measurement.
pub(super) struct Evidence<'r> {
    report: &'r Value,
    restless: Cell<bool>,
}

impl<'r> Evidence<'r> {
    pub(super) fn of(report: &'r Value) -> Self {
        Self {
            report,
            restless: Cell::new(false),
        }
    }

    /// Returns whether rounds of any row that was looked at lay far apart.
    pub(super) fn is_restless(&self) -> bool {
        self.restless.get()
    }

    /// Returns the rows of a set that have these values.
    pub(super) fn rows(&self, frame: &str, wanted: &[(&str, Value)]) -> Vec<&'r Value> {
        let rows = self.report.get(frame).and_then(Value::as_array);
        let has = |row: &&Value| {
            wanted
                .iter()
                .all(|(name, value)| row.get(name).is_some_and(|there| there == value))
        };
        rows.into_iter().flatten().filter(has).collect()
    }

    /// Returns the figure of this name in the one row that has these values; names of parts are
    /// separated by dots.
    ///
    /// # Errors
    /// There is no such row or figure; says which.
    pub(super) fn figure(
        &self,
        frame: &str,
        wanted: &[(&str, Value)],
        name: &str,
    ) -> Result<f64, String> {
        let missing = || {
            let wanted: Vec<String> = wanted
                .iter()
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            format!("no figure `{name}` of {}", wanted.join(", "))
        };
        let row = self.rows(frame, wanted).into_iter().next();
        let row = row.ok_or_else(missing)?;
        if row.get("noisy").and_then(Value::as_bool) == Some(true)
            || row.get("known").and_then(Value::as_bool) == Some(false)
        {
            self.restless.set(true);
        }
        let mut value = row;
        for part in name.split('.') {
            value = value.get(part).ok_or_else(missing)?;
        }
        value.as_f64().ok_or_else(missing)
    }

    /// Returns a number among the settings of the run.
    ///
    /// # Errors
    /// There is no such setting.
    pub(super) fn setting(&self, name: &str) -> Result<u64, String> {
        let value = self.report.get(name).and_then(Value::as_u64);
        value.ok_or_else(|| format!("the report does not say `{name}`"))
    }

    /// Returns the largest and the least value of a number in the rows of a set.
    pub(super) fn ends(&self, frame: &str, name: &str) -> Result<(u64, u64), String> {
        let rows = self.rows(frame, &[]);
        let numbers = || rows.iter().filter_map(|row| row.get(name)?.as_u64());
        match (numbers().min(), numbers().max()) {
            (Some(least), Some(most)) => Ok((least, most)),
            _ => Err(format!("no row has `{name}`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_figure_is_found_by_its_row_and_the_names_of_its_parts() {
        let report = json!({"rows": [
            {"contender": "lanes", "low": 1, "high": {"mean": 7.0}},
            {"contender": "lanes", "low": 50, "high": {"mean": 8.0}, "noisy": true},
        ]});
        let evidence = Evidence::of(&report);
        let mean = |low: u64| evidence.figure("rows", &[("low", json!(low))], "high.mean");
        assert_eq!(evidence.ends("rows", "low"), Ok((1, 50)));
        assert_eq!(mean(1), Ok(7.0));
        assert!(!evidence.is_restless());
        assert_eq!(mean(50), Ok(8.0));
        assert!(evidence.is_restless());
        assert_eq!(mean(5).unwrap_err(), "no figure `high.mean` of low 5");
    }
}
