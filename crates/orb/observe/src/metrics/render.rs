//! Metrics of calls in Prometheus' text format.

use super::measured;
use super::operations::Operation;
use crate::exposition::{Exposition, Kind};
use punctual_orb::measurement::Measured;
use punctual_orb::{LinkCount, LinkCountKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One end of the ORB's calls (client or server), with the operations counted there.
pub(super) type End = (&'static str, Vec<(Box<str>, Arc<Operation>)>);

/// Counts of what ORBs do below calls.
#[derive(Debug, Default)]
pub(super) struct Network {
    /// Counts of links, by their names.
    pub(super) links: BTreeMap<String, Vec<LinkCount>>,
    /// Numbers of connections, by the receive queue of a network device.
    pub(super) queues: BTreeMap<u32, usize>,
}

pub(super) fn render(ends: &[End], network: &Network, measured: Option<&Measured>) -> String {
    let mut out = Exposition::default();
    let each = || {
        let ends = ends.iter();
        ends.flat_map(|(end, all)| all.iter().map(move |(name, one)| (*end, &**name, &**one)))
    };
    let calls = "punctual_calls_total";
    out.family(calls, Kind::Counter, "Calls that have ended.");
    for (end, name, one) in each() {
        let labels = [("end", end), ("operation", name)];
        out.sample(calls, &labels, get(&one.calls));
    }
    let errors = "punctual_call_errors_total";
    let help = "Calls that have ended with an exception.";
    out.family(errors, Kind::Counter, help);
    for (end, name, one) in each() {
        for (kind, count) in [
            ("user", &one.user_exceptions),
            ("system", &one.system_exceptions),
        ] {
            let labels = [("end", end), ("operation", name), ("kind", kind)];
            out.sample(errors, &labels, get(count));
        }
    }
    let times = "punctual_call_duration_seconds";
    let help = "Durations of calls whose callers waited for the end.";
    out.family(times, Kind::Histogram, help);
    for (end, name, one) in each() {
        let labels = [("end", end), ("operation", name)];
        out.histogram(times, &labels, &one.times);
    }
    let totals = "punctual_link_events_total";
    let help = "What links have counted: datagrams, messages, and what was lost or dropped for which reason.";
    link_counts(&mut out, &network.links, (totals, Kind::Counter, help));
    let help = "What links hold now, of messages that are not complete or wait for their upcalls.";
    link_counts(
        &mut out,
        &network.links,
        ("punctual_link_level", Kind::Gauge, help),
    );
    let queues = "punctual_receive_queue_connections";
    if !network.queues.is_empty() {
        let help = "Connections of clients by the network device's queue (NAPI id) by which their last data came.";
        out.family(queues, Kind::Gauge, help);
    }
    for (queue, count) in &network.queues {
        out.sample(queues, &[("napi", &queue.to_string())], count);
    }
    if let Some(measured) = measured {
        measured::render(&mut out, measured);
    }
    out.into_text()
}

/// Writes a family of the links' counts of its kind, if there are such.
fn link_counts(
    out: &mut Exposition,
    links: &BTreeMap<String, Vec<LinkCount>>,
    (family, kind, help): (&str, Kind, &str),
) {
    let wanted = match kind {
        Kind::Counter => LinkCountKind::Total,
        _ => LinkCountKind::Level,
    };
    let each = links.iter().flat_map(|(link, counts)| {
        let wanted = counts.iter().filter(|count| count.kind == wanted);
        wanted.map(move |count| (link.as_str(), count))
    });
    let mut each = each.peekable();
    if each.peek().is_some() {
        out.family(family, kind, help);
    }
    for (link, count) in each {
        let labels = [("link", link), ("count", count.name)];
        out.sample(family, &labels, count.value);
    }
}

fn get(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::super::operations::Ended;
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_was_counted_is_written_as_prometheus_reads_it() {
        let one = Arc::new(Operation::default());
        one.count(Ended::Well, Some(Duration::from_micros(80)));
        one.count(Ended::UserException, None);
        let text = render(
            &[("client", vec![("a\"b\\c\nd".into(), one)])],
            &Network::default(),
            None,
        );
        let labels = r#"end="client",operation="a\"b\\c\nd""#;
        for line in [
            "# TYPE punctual_call_duration_seconds histogram".to_owned(),
            format!("punctual_calls_total{{{labels}}} 2"),
            format!("punctual_call_errors_total{{{labels},kind=\"user\"}} 1"),
            format!("punctual_call_errors_total{{{labels},kind=\"system\"}} 0"),
            format!("punctual_call_duration_seconds_bucket{{{labels},le=\"0.00005\"}} 0"),
            format!("punctual_call_duration_seconds_bucket{{{labels},le=\"0.0001\"}} 1"),
            format!("punctual_call_duration_seconds_bucket{{{labels},le=\"10\"}} 1"),
            format!("punctual_call_duration_seconds_bucket{{{labels},le=\"+Inf\"}} 1"),
            format!("punctual_call_duration_seconds_sum{{{labels}}} 0.00008"),
            format!("punctual_call_duration_seconds_count{{{labels}}} 1"),
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
        assert!(!text.contains("punctual_link"), "{text}");
        assert!(!text.contains("punctual_receive"), "{text}");
    }

    #[test]
    fn counts_of_links_are_totals_and_levels_and_connections_are_told_apart_by_queues() {
        let counts = vec![
            LinkCount::total("dropped", 3),
            LinkCount::level("under_way", 2),
        ];
        let only_totals = vec![LinkCount::total("dropped", 5)];
        let network = Network {
            links: BTreeMap::from([
                ("miop".to_owned(), counts),
                ("other".to_owned(), only_totals),
            ]),
            queues: BTreeMap::from([(8193, 3)]),
        };
        let text = render(&[], &network, None);
        for line in [
            "# TYPE punctual_link_events_total counter",
            "punctual_link_events_total{link=\"miop\",count=\"dropped\"} 3",
            "punctual_link_events_total{link=\"other\",count=\"dropped\"} 5",
            "# TYPE punctual_link_level gauge",
            "punctual_receive_queue_connections{napi=\"8193\"} 3",
            "punctual_link_level{link=\"miop\",count=\"under_way\"} 2",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
    }
}
