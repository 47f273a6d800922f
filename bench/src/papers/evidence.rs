//! Figures in the JSON of a measurement.

use serde_json::Value;
use std::cell::Cell;
use std::ops::Range;

/// Report of one measurement.
pub(super) struct Evidence<'r> {
    report: &'r Value,
    doubt: Cell<Option<&'static str>>,
    /// Greatest spread of the rounds of any row that was looked at, as a fraction.
    spread: Cell<f64>,
}

/// Doubt about figures that vary from round to round.
const RESTLESS: &str = "rounds lay more than 10 % apart";
/// Doubt about figures of separate runs whose difference is as small as those of a run's rounds.
const COVERED: &str = "the spread of the rounds covers the difference";

impl<'r> Evidence<'r> {
    pub(super) fn of(report: &'r Value) -> Self {
        Self {
            report,
            doubt: Cell::new(None),
            spread: Cell::new(0.0),
        }
    }

    /// Returns the same report, for figures on which no verdict depends.
    pub(super) fn aside(&self) -> Self {
        Self::of(self.report)
    }

    /// Returns the reason to doubt a verdict on the rows that were looked at, if there is one.
    pub(super) fn doubt(&self) -> Option<&'static str> {
        self.doubt.get()
    }

    /// Returns whether a ratio of figures of separate runs is in a range. Where the spread of their rounds reaches across
    /// a limit of the range, the verdict is doubtful.
    pub(super) fn lies(&self, ratio: f64, range: Range<f64>) -> bool {
        let is_within = range.contains(&ratio);
        let ends = [1.0 - self.spread.get(), 1.0 + self.spread.get()];
        let mut ends = ends.into_iter().map(|end| range.contains(&(ratio * end)));
        if ends.any(|end| end != is_within) && self.doubt().is_none() {
            self.doubt.set(Some(COVERED));
        }
        is_within
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
            self.doubt.set(Some(RESTLESS));
        }
        let spread = row.get("spread").and_then(Value::as_f64);
        self.spread
            .set(self.spread.get().max(spread.unwrap_or_default()));
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
        assert_eq!(evidence.doubt(), None);
        assert_eq!(mean(50), Ok(8.0));
        assert_eq!(evidence.doubt(), Some(RESTLESS));
        assert_eq!(mean(5).unwrap_err(), "no figure `high.mean` of low 5");
    }

    #[test]
    fn a_verdict_is_doubtful_where_the_rounds_of_separate_runs_cover_the_difference() {
        let report = json!({"rows": [
            {"objects": 1, "median": 100.0, "spread": 0.02},
            {"objects": 500, "median": 112.0, "spread": 0.04},
        ]});
        let doubt = |range: Range<f64>| {
            let evidence = Evidence::of(&report);
            let of =
                |objects: u64| evidence.figure("rows", &[("objects", json!(objects))], "median");
            let ratio = of(500).unwrap() / of(1).unwrap();
            (evidence.lies(ratio, range), evidence.doubt())
        };
        assert_eq!(doubt(0.0..1.15), (true, Some(COVERED)));
        assert_eq!(doubt(0.0..1.1), (false, Some(COVERED)));
        assert_eq!(doubt(0.0..1.2), (true, None));
    }
}
