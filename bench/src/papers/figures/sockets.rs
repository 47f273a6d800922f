//! Figures of Schmidt et al. 2001: gains of protocols, and shares of the operating system (figures 16 and 18).

use super::{micros, nanos};
use crate::papers::evidence::Evidence;
use serde_json::{Value, json};
use std::fmt;

/// Gain of a protocol beside another over all types of data, in percent, by figure 16.
pub(crate) struct Gain {
    pub(crate) least: f64,
    pub(crate) mean: f64,
    most: f64,
}

impl Gain {
    pub(crate) fn of(e: &Evidence<'_>, protocol: &str, over: &str) -> Result<Self, String> {
        let pair = [("protocol", json!(protocol)), ("over", json!(over))];
        let of = |figure| e.figure("compared", &pair, figure);
        Ok(Self {
            least: of("least")?,
            mean: of("mean")?,
            most: of("most")?,
        })
    }
}

impl Gain {
    /// Returns omniORB's gain of Unix sockets over TCP.
    pub(crate) fn of_omniorb(e: &Evidence<'_>) -> Result<Self, String> {
        let unix = e.rows("figure_16", &[("contender", json!("omniORB unix"))]);
        let gain = |row: &&Value| {
            let same = [
                ("contender", json!("omniORB")),
                ("operation", row["operation"].clone()),
            ];
            let tcp = e.aside().figure("figure_16", &same, "median").ok()?;
            Some((tcp / row["median"].as_f64()? - 1.0) * 100.0)
        };
        let gains: Vec<f64> = unix.iter().filter_map(gain).collect();
        let mean = average(&gains).ok_or("omniORB was not measured")?;
        Ok(Self {
            least: gains.iter().copied().fold(mean, f64::min),
            mean,
            most: gains.iter().copied().fold(mean, f64::max),
        })
    }
}

impl fmt::Display for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { least, mean, most } = self;
        write!(f, "{least:+.1} to {most:+.1} %, {mean:+.1} % on average")
    }
}

/// Void call by a messaging protocol over a kind of sockets: figure 18's bars.
pub(crate) struct OverSockets {
    /// Messaging protocol and link, in the papers' words.
    name: &'static str,
    /// Nanoseconds of a call.
    call: f64,
    /// Nanoseconds of the same messages over raw sockets.
    pub(crate) system: f64,
}

impl OverSockets {
    /// Returns the four protocols of Schmidt et al. 2001, those over TCP first.
    pub(crate) fn of_all(e: &Evidence<'_>) -> Result<[Self; 4], String> {
        let (tcp, unix) = (void(e, "raw tcp")?, void(e, "raw unix")?);
        let of = |name, contender, system| {
            let call = void(e, contender)?;
            Ok::<_, String>(Self { name, call, system })
        };
        Ok([
            of("GIOP over TCP", "iiop", tcp)?,
            of("GIOPlite over TCP", "giop_lite+iiop", tcp)?,
            of("GIOP over Unix sockets", "uiop", unix)?,
            of("GIOPlite over Unix sockets", "giop_lite+uiop", unix)?,
        ])
    }

    /// Returns omniORB's over TCP and over Unix sockets.
    pub(crate) fn of_omniorb(e: &Evidence<'_>) -> Result<[Self; 2], String> {
        let of = |name, contender, raw| {
            let (call, system) = (void(e, contender)?, void(e, raw)?);
            Ok::<_, String>(Self { name, call, system })
        };
        Ok([
            of("TCP", "omniORB", "raw tcp")?,
            of("Unix sockets", "omniORB unix", "raw unix")?,
        ])
    }

    /// Returns the nanoseconds that are the ORB's.
    pub(crate) fn orb(&self) -> f64 {
        self.call - self.system
    }

    /// Returns the percentage of a call that is the operating system's.
    pub(crate) fn share(&self) -> f64 {
        self.system / self.call * 100.0
    }
}

impl fmt::Display for OverSockets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (orb, call) = (nanos(self.orb()), micros(self.call));
        write!(
            f,
            "{}: {:.0} % of {call}, ORB {orb}",
            self.name,
            self.share()
        )
    }
}

/// Returns the median time of a void call.
fn void(e: &Evidence<'_>, contender: &str) -> Result<f64, String> {
    let wanted = [
        ("contender", json!(contender)),
        ("operation", json!("void")),
    ];
    e.figure("figure_16", &wanted, "median")
}

/// Returns the mean of figures, if there are any.
#[allow(clippy::cast_precision_loss)]
fn average(figures: &[f64]) -> Option<f64> {
    (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_takes_longer_than_raw_sockets_is_the_orb_s() {
        let row = |contender: &str, median: f64| json!({"contender": contender, "operation": "void", "median": median});
        let mut rows = vec![row("raw tcp", 9000.0), row("raw unix", 4000.0)];
        rows.extend([row("iiop", 10_000.0), row("giop_lite+iiop", 9500.0)]);
        rows.push(row("uiop", 5000.0));
        let of = |rows: &[Value]| {
            let report = json!({"figure_16": rows});
            OverSockets::of_all(&Evidence::of(&report)).map(|all| all.map(|one| one.to_string()))
        };
        assert!(of(&rows).unwrap_err().contains("giop_lite+uiop"));
        rows.push(row("giop_lite+uiop", 5000.0));
        let [iiop, .., last] = of(&rows).unwrap();
        assert_eq!(iiop, "GIOP over TCP: 90 % of 10.0 µs, ORB 1000 ns");
        assert_eq!(
            last,
            "GIOPlite over Unix sockets: 80 % of 5.0 µs, ORB 1000 ns"
        );
    }
}
