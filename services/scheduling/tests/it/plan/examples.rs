//! Tests of the example models; the expected times are computed by hand.

use super::planned;
use punctual_scheduling::Time;
use punctual_scheduling::model::read;
use punctual_scheduling::plan::{Plan, Verdict};

fn example(name: &str) -> Plan {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/schedule");
    let text = std::fs::read_to_string(format!("{folder}/{name}.toml")).unwrap();
    planned(&read(name, &text).unwrap())
}

fn micros(micros: u64) -> Option<Time> {
    Some(Time::from_micros(micros))
}

/// Returns the responses of all streams, by the names of their operations.
fn responses(plan: &Plan) -> Vec<(&str, Option<Time>)> {
    let streams = plan.streams.iter();
    streams
        .map(|stream| (&*stream.operation, stream.response))
        .collect()
}

#[test]
fn the_set_that_fits_meets_its_deadlines_with_the_times_computed_by_hand() {
    let plan = example("fits");
    assert!(plan.fits());
    let expected = [
        // 1.2 own, 2 of the tracker at its level, 0.5 for which the display holds the mutex.
        ("radar.read", micros(3_700)),
        // 6 own and twice 3 of display.draw; 3 jobs each of radar (1.2) and tracker (2).
        ("display.refresh", micros(21_600)),
        ("log.write", micros(15_000)),
        ("health.check", micros(35_000)),
        // Released up to 3.7 after the radar's release; 2 own, 1.2 of the radar, 0.5 blocked.
        ("tracker.update", micros(7_400)),
    ];
    assert_eq!(responses(&plan), expected);
}

#[test]
fn the_set_that_does_not_fit_names_what_misses_and_what_would_mend_it() {
    let plan = example("overloaded");
    let misses = plan
        .streams
        .iter()
        .filter(|one| one.verdict == Verdict::Misses);
    let misses: Vec<_> = misses.map(|one| (&*one.operation, one.response)).collect();
    // 12 own, 8 jobs of 3, 4 of 6, 2 of 10.
    assert_eq!(misses, [("log.write", micros(80_000))]);
    let mends = plan.mends();
    let own = mends[0]
        .changes
        .iter()
        .find(|one| one.operation == "log.write")
        .unwrap();
    // At 70 there are 7 jobs of 3, 4 of 6, 2 of 10: 65, and before that no more than 64 with 6.
    assert_eq!(own.wcet, micros(6_000));
    assert_eq!(own.period, None);
}

#[test]
fn a_chain_over_two_hosts_counts_messages_and_replies() {
    let plan = example("two_hosts");
    assert!(plan.fits());
    let expected = [
        ("sensor.sample", micros(1_000)),
        ("sensor.calibrate", micros(5_000)),
        // 3 own, 2 of the antenna; two messages of 0.4 and 5.5 until sensor.state has ended.
        ("panel.refresh", micros(11_300)),
        // 1 until the sample has ended, a message of 0.4, 2 own.
        ("antenna.steer", micros(3_400)),
        // Ends before its caller.
        ("sensor.state", micros(11_300)),
    ];
    assert_eq!(responses(&plan), expected);
}

#[test]
fn the_terms_of_each_response_sum_up_to_it() {
    for name in ["fits", "overloaded", "two_hosts"] {
        let plan = example(name);
        for stream in 0..plan.streams.len() {
            let terms = plan.explain(stream).unwrap();
            let others = terms.blocking.iter().chain(&terms.interference);
            let others: Time = others.map(|term| term.time).sum();
            let sum = terms.jitter + terms.execution + others - terms.elapsed;
            assert_eq!(
                sum, terms.response,
                "{name}: {}",
                plan.streams[stream].operation
            );
        }
    }
}

#[test]
fn few_lanes_cost_response_time_and_too_few_break_a_deadline() {
    let plan = example("fits");
    let enough = plan.lanes(2);
    assert!(enough.iter().all(|cost| !cost.breaks));
    assert_eq!(enough[0].priorities, [32_767, 0]);
    let one = plan.lanes(1);
    assert!(one[0].breaks);
    let radar = one[0]
        .streams
        .iter()
        .find(|one| one.operation == "radar.read")
        .unwrap();
    assert_eq!(radar.before, micros(3_700));
    assert!(radar.after > radar.before);
}

#[test]
fn the_set_to_rehearse_a_miss_leaves_the_processor_idle_and_misses_one_deadline() {
    let plan = example("late");
    let misses = plan
        .streams
        .iter()
        .filter(|one| one.verdict == Verdict::Misses);
    let misses: Vec<_> = misses.map(|one| (&*one.operation, one.response)).collect();
    // 10 own, 10 and 15 of the others, 19.6 of the platform.
    assert_eq!(misses, [("log.write", micros(54_600))]);
    assert!(plan.processors[0].utilisation < 0.21);
}
