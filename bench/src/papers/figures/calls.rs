//! Figures of Gokhale and Schmidt 1998: calls by servants, their order and the data that they carry.

use super::p50;
use crate::papers::claim::Found;
use crate::papers::evidence::Evidence;
use serde_json::json;
use std::fmt;

/// Returns the median time of a two-way call to one of so many objects with so many operations.
pub(crate) fn demultiplexed(
    e: &Evidence<'_>,
    strategy: &str,
    algorithm: &str,
    objects: u64,
    operations: u64,
) -> Result<f64, String> {
    call_time(e, (strategy, algorithm), (objects, operations), true)
}

/// Returns the same of two-way calls or one-ways.
fn call_time(
    e: &Evidence<'_>,
    (strategy, algorithm): (&str, &str),
    (objects, operations): (u64, u64),
    two_way: bool,
) -> Result<f64, String> {
    let wanted = [
        ("over", json!("objects")),
        ("strategy", json!(strategy)),
        ("algorithm", json!(algorithm)),
        ("objects", json!(objects)),
        ("operations", json!(operations)),
        ("two_way", json!(two_way)),
    ];
    e.figure("rows", &wanted, "median")
}

/// Calls in request trains and in round robin, by the number of servants (figures 6 to 9).
pub(crate) struct Orders(Vec<(u64, f64, f64)>);

impl Orders {
    pub(crate) fn of(e: &Evidence<'_>, strategy: &str, two_way: bool) -> Result<Self, String> {
        let mut numbers = Vec::new();
        for row in e.rows("rows", &[("over", json!("objects"))]) {
            let number = row["objects"].as_u64().filter(|number| *number <= 500);
            numbers.extend(number.filter(|number| !numbers.contains(number)));
        }
        let of = |objects| {
            let time = |order| call_time(e, (strategy, order), (objects, 100), two_way);
            Ok((objects, time("request_train")?, time("round_robin")?))
        };
        let times = numbers
            .into_iter()
            .map(of)
            .collect::<Result<Vec<_>, String>>()?;
        match times.is_empty() {
            true => Err("no calls to servants".to_owned()),
            false => Ok(Self(times)),
        }
    }

    /// Judges whether both orders take as long, and as long with the most servants as with the fewest.
    pub(crate) fn judged(&self, e: &Evidence<'_>) -> Result<Found, String> {
        let alike = |(_, train, round): &(u64, f64, f64)| (0.9..1.1).contains(&(train / round));
        let are_alike = self.0.iter().all(alike);
        let (few, many) = (self.0[0], self.0[self.0.len() - 1]);
        let is_level = e.lies(many.1 / few.1, 0.0..1.15) && e.lies(many.2 / few.2, 0.0..1.15);
        let why = match are_alike {
            true => {
                "calls to more objects take longer; why is not known, as there are no counters of cache misses here"
            }
            false => {
                "the two differ by more than a tenth; why is not known, as there are no counters of cache misses here"
            }
        };
        Found::judged(self.to_string(), are_alike && is_level, why)
    }
}

impl fmt::Display for Orders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |time: fn(&(u64, f64, f64)) -> f64| series(self.0.iter().map(time));
        let numbers: Vec<String> = self
            .0
            .iter()
            .map(|(number, ..)| number.to_string())
            .collect();
        let (train, round) = (of(|one| one.1), of(|one| one.2));
        write!(
            f,
            "{train} µs in trains, {round} µs in round robin, with {} servants",
            numbers.join(", ")
        )
    }
}

/// Returns times in microseconds.
fn series(times: impl Iterator<Item = f64>) -> String {
    let times: Vec<String> = times.map(|time| format!("{:.1}", time / 1000.0)).collect();
    times.join(", ")
}

/// Calls by the number of elements that they carry (figures 11 to 26).
pub(crate) struct Sweep {
    sizes: Vec<u64>,
    /// Times of contenders: those by stubs and those by the DII first.
    times: Vec<(&'static str, Vec<f64>)>,
}

impl Sweep {
    pub(crate) fn of(e: &Evidence<'_>, operation: &str) -> Result<Self, String> {
        let mut sizes: Vec<u64> = (0..=5).map(|power| 4_u64.pow(power)).collect();
        sizes.retain(|size| p50(e, "punctual", &format!("{operation}:{size}")).is_ok());
        let of = |e: &Evidence<'_>, contender: &str| {
            let time = |size| p50(e, contender, &format!("{operation}:{size}"));
            sizes.iter().map(time).collect::<Result<Vec<_>, String>>()
        };
        let mut times = vec![
            ("stubs", of(e, "punctual")?),
            ("DII", of(e, "punctual-dii")?),
        ];
        let others = [("omniORB", "omniorb"), ("raw sockets", "raw-tcp")];
        times.extend(
            others
                .into_iter()
                .filter_map(|(name, who)| Some((name, of(&e.aside(), who).ok()?))),
        );
        match sizes.len() {
            0 | 1 => Err(format!("no sizes of {operation}")),
            _ => Ok(Self { sizes, times }),
        }
    }

    /// Judges whether calls grow with their size, and take longer by the DII.
    pub(crate) fn judged(&self) -> Result<Found, String> {
        let last = self.sizes.len() - 1;
        let (stubs, dii) = (&self.times[0].1, &self.times[1].1);
        let why = match stubs[last] > 1.1 * stubs[0] {
            true => "a request object keeps what it prepares, and values are copied as octets",
            false => "so little data costs nothing beside the system calls",
        };
        let holds = stubs[last] > 1.1 * stubs[0] && dii[last] > 1.1 * stubs[last];
        Found::judged(self.to_string(), holds, why)
    }
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, times) in &self.times {
            write!(f, "{name} {}; ", series(times.iter().copied()))?;
        }
        let sizes: Vec<String> = self.sizes.iter().map(ToString::to_string).collect();
        write!(f, "µs with {} elements", sizes.join(", "))
    }
}

/// Instructions of one side of a call with 1,024 BinStructs, and those of a void call.
pub(crate) struct ByData {
    void: f64,
    all: f64,
}

/// Returns the instructions of one side's call, by whether it carries data.
pub(crate) fn by_data(e: &Evidence<'_>, who: &str, side: &str) -> Result<ByData, String> {
    let of = |case: &str| {
        e.figure(
            "costs",
            &[("contender", json!(who)), ("case", json!(case))],
            side,
        )
    };
    Ok(ByData {
        void: of("cube_void")?,
        all: of("take_bin_structs:1024")?,
    })
}

impl ByData {
    /// Returns the fraction of the instructions that the data takes.
    pub(crate) fn share(&self) -> f64 {
        1.0 - self.void / self.all
    }
}

impl fmt::Display for ByData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} % of {:.0}", self.share() * 100.0, self.all)
    }
}

/// Calls of each of many servants.
pub(crate) struct Served {
    servants: u64,
    kind: &'static str,
    made: f64,
    failed: f64,
    missing: f64,
    rate: f64,
    /// Mebibytes that the server has more behind the calls.
    kept: f64,
}

impl Served {
    pub(crate) fn of(e: &Evidence<'_>, servants: u64, kind: &'static str) -> Result<Self, String> {
        let wanted = [("servants", json!(servants)), ("kind", json!(kind))];
        let of = |name| e.figure("rows", &wanted, name);
        Ok(Self {
            servants,
            kind,
            made: of("made")?,
            failed: of("failed")?,
            missing: of("missing")?,
            rate: of("rate")?,
            kept: (of("behind")? - of("before")?) / f64::from(1 << 20),
        })
    }

    /// Returns whether all calls arrived, and the server keeps less than an octet of each.
    pub(crate) fn is_whole(&self) -> bool {
        let lost = self.failed + self.missing;
        lost == 0.0 && self.kept * f64::from(1 << 20) < self.made.max(f64::from(1 << 20))
    }
}

impl fmt::Display for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} servants: {:.0} {} calls, of which {:.0} failed and {:.0} were lost, {:.0} a second, {:+.1} MiB",
            self.servants, self.made, self.kind, self.failed, self.missing, self.rate, self.kept
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::claim::Verdict;
    use serde_json::Value;

    #[test]
    fn a_server_that_keeps_memory_of_calls_or_loses_them_is_not_whole() {
        let row = |failed: u64, behind: u64| {
            json!({"servants": 1000, "kind": "two-way", "made": 80_000, "failed": failed, "missing": 0,
                "rate": 50_000.0, "before": 0, "behind": behind})
        };
        let served = |row: Value| {
            let report = json!({"rows": [row]});
            Served::of(&Evidence::of(&report), 1000, "two-way").unwrap()
        };
        assert!(served(row(0, 4096)).is_whole());
        assert!(!served(row(1, 0)).is_whole());
        assert!(!served(row(0, 2 << 20)).is_whole());
        let shown = served(row(1, 2 << 20)).to_string();
        assert!(
            shown.contains("80000 two-way calls, of which 1 failed") && shown.ends_with("+2.0 MiB"),
            "{shown}"
        );
    }

    #[test]
    fn orders_are_alike_and_level_or_the_claim_differs_for_the_reason() {
        let row = |objects: u64, order: &str, median: f64| {
            json!({"over": "objects", "strategy": "active", "algorithm": order,
            "objects": objects, "operations": 100, "two_way": true, "median": median, "spread": 0.01})
        };
        let judged = |many: [f64; 2]| {
            let report = json!({"rows": [
                row(1, "request_train", 10_000.0), row(1, "round_robin", 10_100.0),
                row(500, "request_train", many[0]), row(500, "round_robin", many[1]),
            ]});
            let e = Evidence::of(&report);
            Orders::of(&e, "active", true).unwrap().judged(&e).unwrap()
        };
        let level = judged([10_400.0, 10_200.0]);
        assert_eq!(level.verdict, Verdict::Holds);
        assert_eq!(
            level.ours,
            "10.0, 10.4 µs in trains, 10.1, 10.2 µs in round robin, with 1, 500 servants"
        );
        let why = |many| match judged(many).verdict {
            Verdict::Differently(why) => why,
            other => panic!("{other:?}"),
        };
        assert!(why([13_000.0, 13_000.0]).contains("more objects"));
        assert!(why([10_000.0, 13_000.0]).contains("more than a tenth"));
    }

    #[test]
    fn a_sweep_has_the_sizes_and_contenders_that_were_measured() {
        let row = |who: &str, size: u64, median: f64| json!({"contender": who, "case": format!("take_octets:{size}"), "median": median});
        let mut rows = Vec::new();
        for (who, times) in [
            ("punctual", [10_000.0, 12_000.0]),
            ("punctual-dii", [10_500.0, 20_000.0]),
            ("raw-tcp", [9000.0, 9100.0]),
        ] {
            rows.extend([row(who, 1, times[0]), row(who, 1024, times[1])]);
        }
        let report = json!({"rows": rows});
        let found = Sweep::of(&Evidence::of(&report), "take_octets")
            .unwrap()
            .judged()
            .unwrap();
        assert_eq!(
            found.ours,
            "stubs 10.0, 12.0; DII 10.5, 20.0; raw sockets 9.0, 9.1; µs with 1, 1024 elements"
        );
        assert_eq!(found.verdict, Verdict::Holds);
        assert!(Sweep::of(&Evidence::of(&report), "throw_octets").is_err());
    }
}
