//! Tests of `ami` with few calls. No time is asserted.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::{report_of, with_omniorb};
use serde_json::Value;

#[test]
fn both_tables_have_every_contender_beside_the_floor_and_what_the_paper_prints() {
    let (report, plot) = report_of(&[
        "ami",
        "--placement=same",
        "--rounds=1",
        "--calls=20",
        "--many=1100",
    ]);
    let names = |table: &str| -> Vec<String> {
        let rows = report[table].as_array().unwrap().iter();
        let name = |row: &Value| row["contender"].as_str().unwrap().to_owned();
        rows.map(name).collect()
    };
    assert_eq!(
        names("latency"),
        with_omniorb(
            &[
                "floor",
                "smi",
                "ami",
                "ami-reactor",
                "poller",
                "future",
                "future-reactor",
                "dii-deferred"
            ],
            &["omniorb", "omniorb-ami"]
        )
    );
    let all = [
        "floor",
        "smi",
        "smi-cores",
        "smi7",
        "smi220",
        "ami",
        "ami-reactor",
        "ami-buffered",
        "poller",
        "future",
        "future-reactor",
        "dii-deferred",
    ];
    assert_eq!(
        names("throughput"),
        with_omniorb(&all, &["omniorb", "omniorb-ami"])
    );
    for row in report["latency"].as_array().unwrap() {
        let figure = |name: &str| row[name].as_f64().unwrap();
        assert!(figure("min") > 0.0 && figure("min") <= figure("average"));
        assert!(figure("average") <= figure("max"));
    }
    for row in report["throughput"].as_array().unwrap() {
        assert!(row["rate"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["beside_floor"].as_f64().unwrap() > 0.0, "{row}");
    }
    assert_eq!(report["goals"].as_array().unwrap().len(), 8);
    assert_eq!(report["paper_throughput"][2]["rate"].as_f64(), Some(8524.0));
    assert!(plot.starts_with("<svg") && plot.contains("smi220"));
}
