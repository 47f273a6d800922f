//! Figures of octets that shared memory lends, and of those that are copied (Schmidt et al. 2001, figure 19).

use crate::papers::evidence::Evidence;
use serde_json::json;
use std::fmt;

/// Returns a size in words.
pub(crate) fn octets(number: u64) -> String {
    match number {
        1024.. if number.is_multiple_of(1024) => format!("{} KiB", number / 1024),
        _ => format!("{number} octets"),
    }
}

/// Calls with octets that shared memory lends, and with octets that are copied, by size.
pub(crate) struct Lending {
    /// Size from which the ORB lends by default.
    pub(crate) usual: u64,
    /// Sizes, each with the median nanoseconds of calls that lend and of calls that copy.
    sizes: Vec<(u64, f64, f64)>,
}

impl Lending {
    pub(crate) fn of(e: &Evidence<'_>) -> Result<Self, String> {
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
    pub(crate) fn pays_from(&self) -> Option<u64> {
        let paying = self.sizes.iter().rev();
        let paying = paying.take_while(|(_, lent, copied)| lent < copied);
        paying.last().map(|(size, ..)| *size)
    }

    /// Returns whether the ORB's own size is near the best one: from there on no size is slower by more than a tenth for being
    /// lent, and none of half of it or less is faster by more than a tenth.
    pub(crate) fn is_near_best(&self) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

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
}
