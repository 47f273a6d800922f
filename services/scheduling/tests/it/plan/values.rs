//! Models that are made of values.

use punctual_scheduling::Time;
use punctual_scheduling::model::{Call, Model, ModelError, Operation, read};
use punctual_scheduling::plan::plan;
use punctual_scheduling::strategy::ALL;

fn operation(name: &str, wcet: u64, period: u64) -> Operation {
    let mut operation = Operation::new(name, Time::from_millis(wcet));
    operation.period = (period > 0).then(|| Time::from_millis(period));
    operation
}

fn calling(mut operation: Operation, called: &[usize]) -> Operation {
    operation.calls = called.iter().map(|&at| Call::new(at, 1, false)).collect();
    operation
}

#[test]
fn a_model_of_values_has_the_plan_of_the_file_that_says_the_same() {
    let file = "
        [operation.read]
        wcet = \"1ms\"
        period = \"10ms\"
        calls = [{ operation = \"track\", kind = \"one-way\" }]
        [operation.track]
        wcet = \"2ms\"
        [operation.log]
        wcet = \"4ms\"
        period = \"40ms\"";
    let from_file = read("model.toml", file).unwrap();
    let operations = vec![
        calling(operation("read", 1, 10), &[1]),
        operation("track", 2, 0),
        operation("log", 4, 40),
    ];
    let of_values = Model::of(operations).unwrap();
    for strategy in ALL {
        let plans = [&from_file, &of_values].map(|model| plan(model, strategy).unwrap());
        assert_eq!(plans[0].streams, plans[1].streams, "{}", strategy.name());
        assert_eq!(plans[0].processors, plans[1].processors);
    }
}

#[test]
fn faults_of_values_name_the_operations() {
    let faults = |operations| Model::of(operations).unwrap_err();
    assert_eq!(faults(Vec::new()), ModelError::Empty);
    let two = |one| vec![operation("a", 1, 10), one];
    assert_eq!(faults(two(operation("a", 1, 10))), ModelError::Name(1));
    assert_eq!(faults(two(operation("b\n", 1, 10))), ModelError::Name(1));
    let mut day = operation("b", 1, 10);
    day.times.worst = Time::LONGEST + Time::from_nanos(1);
    assert_eq!(faults(two(day)), ModelError::Time(1));
    let mut threads = operation("b", 1, 0);
    threads.threads = 1;
    assert_eq!(faults(two(threads)), ModelError::Time(1));
    let missing = calling(operation("b", 1, 10), &[2]);
    assert_eq!(faults(two(missing)), ModelError::Call(1));
}

#[test]
fn cycles_and_operations_that_nothing_releases_are_found_through_others() {
    let cycle = vec![
        operation("a", 1, 10),
        calling(operation("b", 1, 0), &[2]),
        calling(operation("c", 1, 0), &[1]),
    ];
    assert_eq!(Model::of(cycle).unwrap_err(), ModelError::Cycle(vec![1, 2]));
    let passive = vec![
        operation("a", 1, 10),
        calling(operation("b", 1, 0), &[2]),
        operation("c", 1, 0),
    ];
    assert_eq!(
        Model::of(passive).unwrap_err(),
        ModelError::NeverReleased(vec![1, 2])
    );
}
