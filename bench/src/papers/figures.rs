//! Figures that claims are judged by, found in reports of measurements.

use super::claim::Found;
use super::evidence::Evidence;
use crate::timeprobes::END_TO_END;
use serde_json::{Value, json};
use std::fmt;

/// Returns a time in words.
pub(super) fn micros(nanoseconds: f64) -> String {
    format!("{:.1} µs", nanoseconds / 1000.0)
}

/// Returns a short time in words.
pub(super) fn nanos(nanoseconds: f64) -> String {
    format!("{nanoseconds:.0} ns")
}

/// Gain of a protocol beside another over all types of data, in percent, by figure 16.
pub(super) struct Gain {
    pub(super) least: f64,
    pub(super) mean: f64,
    most: f64,
}

impl Gain {
    pub(super) fn of(e: &Evidence<'_>, protocol: &str, over: &str) -> Result<Self, String> {
        let pair = [("protocol", json!(protocol)), ("over", json!(over))];
        let of = |figure| e.figure("compared", &pair, figure);
        Ok(Self {
            least: of("least")?,
            mean: of("mean")?,
            most: of("most")?,
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
pub(super) struct OverSockets {
    /// Messaging protocol and link, in the papers' words.
    name: &'static str,
    /// Nanoseconds of a call.
    call: f64,
    /// Nanoseconds of the same messages over raw sockets.
    pub(super) system: f64,
}

impl OverSockets {
    /// Returns the four protocols of Schmidt et al. 2001, those over TCP first.
    pub(super) fn of_all(e: &Evidence<'_>) -> Result<[Self; 4], String> {
        let void = |contender: &str| {
            let wanted = [
                ("contender", json!(contender)),
                ("operation", json!("void")),
            ];
            e.figure("figure_16", &wanted, "median")
        };
        let (tcp, unix) = (void("raw tcp")?, void("raw unix")?);
        let of = |name, contender, system| {
            let call = void(contender)?;
            Ok::<_, String>(Self { name, call, system })
        };
        Ok([
            of("GIOP over TCP", "iiop", tcp)?,
            of("GIOPlite over TCP", "giop_lite+iiop", tcp)?,
            of("GIOP over Unix sockets", "uiop", unix)?,
            of("GIOPlite over Unix sockets", "giop_lite+uiop", unix)?,
        ])
    }

    /// Returns the nanoseconds that are the ORB's.
    pub(super) fn orb(&self) -> f64 {
        self.call - self.system
    }

    /// Returns the percentage of a call that is the operating system's.
    pub(super) fn share(&self) -> f64 {
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

/// Returns a size in words.
pub(super) fn octets(number: u64) -> String {
    match number {
        1024.. if number.is_multiple_of(1024) => format!("{} KiB", number / 1024),
        _ => format!("{number} octets"),
    }
}

/// Calls with octets that shared memory lends, and with octets that are copied, by size.
pub(super) struct Lending {
    /// Size from which the ORB lends by default.
    pub(super) usual: u64,
    /// Sizes, each with the median nanoseconds of calls that lend and of calls that copy.
    sizes: Vec<(u64, f64, f64)>,
}

impl Lending {
    pub(super) fn of(e: &Evidence<'_>) -> Result<Self, String> {
        let contender = ("contender", json!("shmiop blocking"));
        let copied = [contender.clone(), ("kind", json!("copied"))];
        let sizes = e
            .rows("lent", &copied)
            .into_iter()
            .filter_map(|row| row["units"].as_u64());
        let of = |size: u64| {
            let time = |kind: &str| {
                let wanted = [
                    contender.clone(),
                    ("kind", json!(kind)),
                    ("units", json!(size)),
                ];
                e.figure("lent", &wanted, "median")
            };
            Ok((size, time("slice")?, time("copied")?))
        };
        let mut sizes = sizes.map(of).collect::<Result<Vec<_>, String>>()?;
        sizes.sort_by_key(|(size, ..)| *size);
        let usual = e.setting("lend_threshold")?;
        match sizes.is_empty() {
            true => Err("no sizes were lent".to_owned()),
            false => Ok(Self { usual, sizes }),
        }
    }

    /// Returns the least size from which lending is faster for it and all larger ones.
    pub(super) fn pays_from(&self) -> Option<u64> {
        let paying = self.sizes.iter().rev();
        let paying = paying.take_while(|(_, lent, copied)| lent < copied);
        paying.last().map(|(size, ..)| *size)
    }

    /// Returns whether the ORB's own size is near the best one: from there on no size is slower by more than a tenth for being
    /// lent, and none of half of it or less is faster by more than a tenth.
    pub(super) fn is_near_best(&self) -> bool {
        self.sizes.iter().all(|(size, lent, copied)| match size {
            size if *size >= self.usual => lent / copied < 1.1,
            size if 2 * *size <= self.usual => copied / lent < 1.1,
            _ => true,
        })
    }
}

impl fmt::Display for Lending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lent beside copied, over shared memory:")?;
        for (place, (size, lent, copied)) in self.sizes.iter().enumerate() {
            let comma = if place == 0 { " " } else { ", " };
            let (lent, copied) = (lent / 1000.0, copied / 1000.0);
            write!(f, "{comma}{} {lent:.1} / {copied:.1} µs", octets(*size))?;
        }
        Ok(())
    }
}

/// Returns the median time of a call of this case.
pub(super) fn p50(e: &Evidence<'_>, contender: &str, case: &str) -> Result<f64, String> {
    let wanted = [("contender", json!(contender)), ("case", json!(case))];
    e.figure("rows", &wanted, "median")
}

/// Returns the time of calls by the DII, with requests that are used again, as a ratio to that of calls by stubs.
pub(super) fn by_dii(e: &Evidence<'_>, case: &str) -> Result<f64, String> {
    Ok(p50(e, "punctual-dii", case)? / p50(e, "punctual", case)?)
}

/// Returns the median time of a two-way call to one of so many objects with so many operations.
pub(super) fn demultiplexed(
    e: &Evidence<'_>,
    strategy: &str,
    algorithm: &str,
    objects: u64,
    operations: u64,
) -> Result<f64, String> {
    call_time(e, (strategy, algorithm), (objects, operations), true)
}

/// Returns the same of two-way calls or one-ways.
pub(super) fn call_time(
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

/// Returns the 99th percentile of the time to urgent consumers beside others that compute, as a ratio to that without.
pub(super) fn dispatched(e: &Evidence<'_>, way: &str) -> Result<f64, String> {
    let wanted = [("contender", json!(way)), ("load", json!("loaded"))];
    e.figure("rows", &wanted, "p99_beside_alone")
}

/// Returns a figure of clients with priorities, beside so many low ones.
pub(super) fn beside(
    e: &Evidence<'_>,
    contender: &str,
    low: u64,
    name: &str,
) -> Result<f64, String> {
    let wanted = [("contender", json!(contender)), ("low", json!(low))];
    e.figure("rows", &wanted, name)
}

/// Figure of clients with priorities beside the fewest low ones and beside the most.
pub(super) struct Growth {
    pub(super) few: u64,
    pub(super) many: u64,
    pub(super) alone: f64,
    pub(super) crowded: f64,
}

impl Growth {
    pub(super) fn of(e: &Evidence<'_>, contender: &str, name: &str) -> Result<Self, String> {
        let (few, many) = e.ends("rows", "low")?;
        Ok(Self {
            few,
            many,
            alone: beside(e, contender, few, name)?,
            crowded: beside(e, contender, many, name)?,
        })
    }

    /// Returns by how many times the figure is greater beside the most.
    pub(super) fn times(&self) -> f64 {
        self.crowded / self.alone
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (alone, crowded) = (micros(self.alone), micros(self.crowded));
        let Self { few, many, .. } = self;
        write!(
            f,
            "{alone} beside {few} low client, {crowded} beside {many}"
        )
    }
}

/// Compares an urgent client's latency beside the most low clients with that beside the fewest.
pub(super) fn urgent(e: &Evidence<'_>, contender: &str, most_growth: f64) -> Result<Found, String> {
    let growth = Growth::of(e, contender, "high.mean")?;
    let is_level = growth.times() < most_growth;
    Found::judged(growth.to_string(), is_level, "it grows with their number")
}

/// Returns the throughput of one-ways with a reliability, as a ratio to that of two-way calls.
pub(super) fn reliable(e: &Evidence<'_>, kind: &str, placement: &str) -> Result<f64, String> {
    let wanted = [
        ("figure", json!("reliable")),
        ("kind", json!(kind)),
        ("placement", json!(placement)),
    ];
    e.figure("rows", &wanted, "ratio")
}

/// Describes the stages of one side of a call over TCP, without those of the operating system: the least, the greatest,
/// and their sum.
pub(super) fn stages(e: &Evidence<'_>, side: &str) -> Result<String, String> {
    let run = [("side", json!(side)), ("run", json!("punctual same"))];
    let parts = e.rows("stages", &[&run[..], &[("part", json!(true))]].concat());
    let is_io = |row: &&Value| row["what"].as_str().is_none_or(|what| what.contains("I/O"));
    let times = parts.into_iter().filter(|row| !is_io(row));
    let times: Vec<f64> = times.filter_map(|row| row["time"].as_f64()).collect();
    let least = times.iter().copied().reduce(f64::min);
    let most = times.iter().copied().reduce(f64::max);
    let (Some(least), Some(most)) = (least, most) else {
        return Err(format!("no stages of {side}"));
    };
    let sum = e.figure(
        "stages",
        &[&run[..], &[("what", json!("all but I/O"))]].concat(),
        "time",
    )?;
    Ok(format!(
        "{least:.0} to {most:.0} ns a stage, {sum:.0} ns in all"
    ))
}

/// Calls of each of many servants.
pub(super) struct Served {
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
    pub(super) fn of(e: &Evidence<'_>, servants: u64, kind: &'static str) -> Result<Self, String> {
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
    pub(super) fn is_whole(&self) -> bool {
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

/// Returns the percentage of a call during which its messages are under way.
pub(super) fn system_share(e: &Evidence<'_>, run: &str) -> Result<f64, String> {
    let time = |what: &str| {
        let wanted = [
            ("side", json!(END_TO_END)),
            ("run", json!(run)),
            ("what", json!(what)),
        ];
        e.figure("stages", &wanted, "time")
    };
    let under_way = time("request under way")? + time("reply under way")?;
    Ok(under_way / time("all of these")? * 100.0)
}

/// Returns how often one side copies the octets of a case in user space.
pub(super) fn copies(e: &Evidence<'_>, who: &str, case: &str, side: &str) -> Result<f64, String> {
    let (_, octets) = case.split_once(':').ok_or("no size")?;
    let octets: f64 = octets.parse().map_err(|_| "no size")?;
    let wanted = [("contender", json!(who)), ("case", json!(case))];
    Ok(e.figure("costs", &wanted, side)? / octets)
}

/// Returns the size of a stripped server with a set of Cargo features, in KiB.
pub(super) fn program(e: &Evidence<'_>, set: &str) -> Result<f64, String> {
    let wanted = [
        ("name", json!(set)),
        ("level", json!("s")),
        ("target", Value::Null),
    ];
    Ok(e.figure("rows", &wanted, "figures.server_bytes")? / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(side: &str, what: &str, time: f64) -> Value {
        json!({"side": side, "what": what, "run": "punctual same", "part": true, "time": time})
    }

    #[test]
    fn stages_are_those_of_the_orb_and_the_rest_of_a_call_is_the_system_s() {
        let sum =
            json!({"side": "client", "what": "all but I/O", "run": "punctual same", "time": 12.0});
        let report = json!({"stages": [
            stage("client", " 1 initialise", 3.0),
            stage("client", " 6 I/O: send", 8000.0),
            stage("client", " 8 messaging receive", 9.0),
            sum,
            stage(END_TO_END, "request under way", 60.0),
            stage(END_TO_END, "reply under way", 30.0),
            stage(END_TO_END, "all of these", 100.0),
        ]});
        let e = Evidence::of(&report);
        let said = "3 to 9 ns a stage, 12 ns in all".to_owned();
        assert_eq!(stages(&e, "client"), Ok(said));
        assert!(stages(&e, "server").unwrap_err().contains("server"));
        assert_eq!(system_share(&e, "punctual same"), Ok(90.0));
        assert!(system_share(&e, "punctual-uiop same").is_err());
    }

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

    #[test]
    fn lending_pays_from_the_size_above_which_it_is_always_faster() {
        let row = |kind: &str, units: u64, median: f64| json!({"contender": "shmiop blocking", "kind": kind, "units": units, "median": median});
        let report = |lent: [f64; 4]| {
            let sizes = [1024, 2048, 4096, 8192];
            let of = |(units, lent)| [row("slice", units, lent), row("copied", units, 10_000.0)];
            let rows: Vec<Value> = sizes.into_iter().zip(lent).flat_map(of).collect();
            json!({"lent": rows, "lend_threshold": 16384})
        };
        let from = |lent| {
            Lending::of(&Evidence::of(&report(lent)))
                .unwrap()
                .pays_from()
        };
        assert_eq!(from([9000.0, 11_000.0, 9000.0, 8000.0]), Some(4096));
        assert_eq!(from([9000.0; 4]), Some(1024));
        assert_eq!(from([9000.0, 9000.0, 9000.0, 10_000.0]), None);
        let told = Lending::of(&Evidence::of(&report([9000.0; 4]))).unwrap();
        assert!(told.to_string().contains("4 KiB 9.0 / 10.0 µs"), "{told}");
        assert_eq!(
            (octets(1500), octets(65_536)),
            ("1500 octets".to_owned(), "64 KiB".to_owned())
        );
    }

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
    fn copies_are_octets_copied_by_octets_sent() {
        let report = json!({"costs": [{"contender": "punctual", "case": "take_octets:1000", "client": 1100.0, "server": 0.0}]});
        let e = Evidence::of(&report);
        assert_eq!(
            copies(&e, "punctual", "take_octets:1000", "client"),
            Ok(1.1)
        );
        assert_eq!(
            copies(&e, "punctual", "take_octets:1000", "server"),
            Ok(0.0)
        );
        assert!(copies(&e, "punctual", "take_octets", "server").is_err());
    }

    #[test]
    fn sizes_are_of_this_machine_s_programs() {
        let row = |target: Value, bytes: u64| json!({"name": "minimum", "level": "s", "target": target, "figures": {"server_bytes": bytes}});
        let report =
            json!({"rows": [row(json!("aarch64-unknown-linux-musl"), 1), row(Value::Null, 2048)]});
        assert_eq!(program(&Evidence::of(&report), "minimum"), Ok(2.0));
    }
}
