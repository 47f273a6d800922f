//! Tests of moves to other processors that mend one which misses deadlines.

use super::{model, planned};
use punctual_scheduling::plan::Move;
use punctual_scheduling::strategy::{Edf, Rms, Strategy};

fn moves(text: &str, strategy: &dyn Strategy) -> Vec<Move> {
    let model = model(text);
    let plan = punctual_scheduling::plan::plan(&model, strategy).unwrap();
    plan.moves(&model, strategy)
}

fn to(operation: &str, to: usize) -> Move {
    Move {
        processor: 0,
        operation: operation.to_owned(),
        to,
    }
}

/// Two of three operations fit on a processor; a fourth leaves half of the other one.
const CROWDED: &str = "
    [host.station]\nprocessors = 2
    [operation.a]\nwcet = '4ms'\nperiod = '10ms'\nprocessor = 0
    [operation.b]\nwcet = '5ms'\nperiod = '10ms'\nprocessor = 0
    [operation.c]\nwcet = '6ms'\nperiod = '20ms'\nprocessor = 0
    [operation.d]\nwcet = '6ms'\nperiod = '10ms'\nprocessor = 1
";

#[test]
fn the_moves_after_which_both_processors_fit_are_found() {
    assert_eq!(moves(CROWDED, &Rms), [to("a", 1), to("c", 1)]);
    assert_eq!(moves(CROWDED, &Edf), [to("a", 1), to("c", 1)]);
    for (name, fits) in [("a", true), ("b", false), ("c", true)] {
        let table = format!("[operation.{name}]");
        let (before, after) = CROWDED.split_once(&table).unwrap();
        let moved = after.replacen("processor = 0", "processor = 1", 1);
        let plan = planned(&model(&format!("{before}{table}{moved}")));
        assert_eq!(plan.fits(), fits, "{name}");
    }
}

#[test]
fn a_plan_that_fits_needs_no_move_and_one_processor_has_none() {
    let fits = CROWDED.replace("'5ms'", "'1ms'");
    assert_eq!(moves(&fits, &Rms), []);
    let alone = "[operation.a]\nwcet = '6ms'\nperiod = '10ms'\n[operation.b]\nwcet = '6ms'\nperiod = '10ms'";
    assert_eq!(moves(alone, &Rms), []);
}

#[test]
fn operations_of_one_mutex_are_not_parted() {
    let shared = "mutexes = ['m']".to_owned() + CROWDED;
    let lock = "processor = 0\nlocks = [{ mutex = 'm', time = '1ms' }]";
    let shared = shared.replace(
        "'4ms'\nperiod = '10ms'\nprocessor = 0",
        &format!("'4ms'\nperiod = '10ms'\n{lock}"),
    );
    let shared = shared.replace(
        "'5ms'\nperiod = '10ms'\nprocessor = 0",
        &format!("'5ms'\nperiod = '10ms'\n{lock}"),
    );
    assert_eq!(moves(&shared, &Rms), [to("c", 1)]);
}

#[test]
fn an_overloaded_host_keeps_operations_where_they_are_pinned_and_spreads_the_others() {
    let text = "
        [host.station]\nprocessors = 2
        [operation.a]\nwcet = '8ms'\nperiod = '10ms'\nprocessor = 1
        [operation.b]\nwcet = '8ms'\nperiod = '10ms'\nprocessor = 1
        [operation.c]\nwcet = '7ms'\nperiod = '10ms'
        [operation.d]\nwcet = '7ms'\nperiod = '10ms'
    ";
    let plan = planned(&model(text));
    let places: Vec<_> = plan.streams.iter().map(|one| one.processor).collect();
    assert_eq!(places, [Some(1), Some(1), Some(0), Some(0)]);
}
