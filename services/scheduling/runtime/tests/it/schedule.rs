//! Tests of schedules that are made of models.

use crate::setting::{PLANT, any_schedule, model, scheduled};
use punctual::rt::{RtLevel, RtOperation, SchedulingParameter};
use punctual_scheduling::model::LONGEST_FILE;
use punctual_scheduling_runtime::{
    Dispatching, Doubt, Schedule, ScheduleError, ScheduleOptions, Time,
};

fn ms(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

#[test]
fn activities_have_the_priorities_of_the_plan() {
    let schedule = scheduled(PLANT, &ScheduleOptions::default()).unwrap();
    let of = |name: &str| schedule.activity(name).unwrap();
    assert!(of("sensor.read").priority() > of("log").priority());
    assert!(of("log").priority() > of("display.refresh").priority());
    assert!(of("sensor.read").is_source());
    assert!(!of("store").is_source());
    assert_eq!(of("log").period(), ms(20));
    assert_eq!(of("log").dispatching(), Dispatching::Priority);
    assert_eq!(
        of("log").scheduling_parameter(),
        SchedulingParameter::FixedPriority(of("log").priority())
    );
}

#[test]
fn an_operation_of_several_callers_has_the_most_urgent_of_its_priorities() {
    let schedule = scheduled(PLANT, &ScheduleOptions::default()).unwrap();
    let store = schedule.activity("store").unwrap();
    let sensor = schedule.activity("sensor.read").unwrap();
    assert_eq!(store.priority(), sensor.priority());
    assert_eq!(store.period(), ms(10));
}

#[test]
fn an_operation_that_is_called_two_way_runs_in_its_callers_thread() {
    let schedule = scheduled(PLANT, &ScheduleOptions::default()).unwrap();
    let draw = schedule.activity("display.draw").unwrap();
    assert_eq!(draw.dispatching(), Dispatching::Caller);
    let caller = schedule.activity("display.refresh").unwrap();
    assert_eq!(draw.priority(), caller.priority());
}

#[test]
fn a_name_that_the_plan_does_not_have_is_an_error_that_suggests_one() {
    let schedule = scheduled(PLANT, &ScheduleOptions::default()).unwrap();
    let unknown = schedule.activity("sensor.raed").unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "the schedule of host `localhost` has no activity `sensor.raed`; did you mean `sensor.read`?"
    );
    assert_eq!(format!("{unknown:?}"), unknown.to_string());
    let unknown = schedule.activity("everything else").unwrap_err();
    assert!(
        unknown.to_string().ends_with("runs on another host"),
        "{unknown}"
    );
}

#[test]
fn a_plan_that_does_not_fit_is_refused_with_what_is_late() {
    let text = PLANT.replace("wcet = \"2ms\"", "wcet = \"17ms\"");
    let refused = scheduled(&text, &ScheduleOptions::default()).unwrap_err();
    match &refused {
        ScheduleError::NotProved { late } => assert!(late.contains(&"log".to_owned()), "{late:?}"),
        other => panic!("{other}"),
    }
    assert!(refused.to_string().contains("may miss"), "{refused}");
    let schedule = any_schedule(&text);
    assert!(!schedule.plan().fits());
}

#[test]
fn lanes_that_would_make_an_operation_late_are_refused() {
    let one = ScheduleOptions {
        lanes: Some(1),
        ..ScheduleOptions::default()
    };
    let text = "
        [operation.fast]\nwcet = '1ms'\nperiod = '10ms'
        [operation.slow]\nwcet = '4ms'\nperiod = '40ms'
    ";
    let schedule = scheduled(text, &one).unwrap();
    let priorities = schedule.activities().map(|one| one.priority());
    let mut priorities: Vec<_> = priorities.collect();
    priorities.dedup();
    assert_eq!(priorities.len(), 1);
    let text = text.replace("wcet = '4ms'", "wcet = '11ms'");
    assert!(scheduled(&text, &ScheduleOptions::default()).is_ok());
    let refused = scheduled(&text, &one).unwrap_err();
    assert!(
        matches!(refused, ScheduleError::NotProved { .. }),
        "{refused}"
    );
}

#[test]
fn faults_and_names_that_are_not_known_end_the_start() {
    let options = |strategy: &str| ScheduleOptions {
        strategy: Some(strategy.to_owned()),
        ..ScheduleOptions::default()
    };
    let refused = scheduled(PLANT, &options("FIFO")).unwrap_err();
    assert!(
        refused.to_string().contains("no strategy `FIFO`"),
        "{refused}"
    );
    let refused = Schedule::new(model(PLANT), "station", &options("RMS")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the model has no host `station`; it has localhost"
    );
    let two =
        "[host.one]\n[host.other]\n[operation.o]\nhost = 'one'\nwcet = '1ms'\nperiod = '9ms'\n";
    let refused = Schedule::new(model(two), "", &options("RMS")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the model has several hosts, one, other, and none of them was chosen"
    );
    let refused = Schedule::from_file("/no/such.toml", "", &options("RMS")).unwrap_err();
    assert!(
        refused.to_string().starts_with("/no/such.toml: "),
        "{refused}"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plant.toml");
    std::fs::write(&file, "[operation.a]\nperiod = \"1ms\"\n").unwrap();
    let refused = Schedule::from_file(&file, "", &options("RMS")).unwrap_err();
    assert!(refused.to_string().contains("plant.toml:1:"), "{refused}");
}

#[test]
fn a_file_that_is_too_long_is_refused_without_reading_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.toml");
    let refused = |path: &std::path::Path| {
        let refused = Schedule::from_file(path, "", &ScheduleOptions::default());
        refused.unwrap_err().to_string()
    };
    // Without a block on the disk.
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(1 << 40).unwrap();
    let expected = format!(
        "{}: a model of 1099511627776 bytes is not read: files of models have 67108864 bytes at most",
        path.display()
    );
    assert_eq!(refused(&path), expected);
    file.set_len(LONGEST_FILE + 1).unwrap();
    assert!(refused(&path).contains("a model of 67108865 bytes"));
    // A device does not tell its size.
    let device = refused(std::path::Path::new("/dev/zero"));
    assert!(
        device.starts_with("/dev/zero: a model of 67108865 bytes"),
        "{device}"
    );
}

#[test]
fn deadlines_are_kept_by_reservations_where_their_model_fits() {
    let edf = ScheduleOptions {
        strategy: Some("EDF".to_owned()),
        ..ScheduleOptions::default()
    };
    let text = "
        [operation.fast]\nwcet = '2ms'\nperiod = '10ms'\ndeadline = '5ms'
        [operation.slow]\nwcet = '9ms'\nperiod = '30ms'
    ";
    let schedule = scheduled(text, &edf).unwrap();
    let fast = schedule.activity("fast").unwrap();
    let Dispatching::Reservation(reserved) = fast.dispatching() else {
        panic!("{:?}", fast.dispatching());
    };
    let times = (reserved.runtime, reserved.deadline, reserved.period);
    assert_eq!(times.0.as_millis(), 2);
    assert_eq!(times.1.as_millis(), 5);
    assert_eq!(times.2.as_millis(), 10);
    assert_eq!(fast.scheduling_parameter().reservation(), Some(reserved));
    assert!(schedule.rt_config().dynamic_scheduling.is_some());
}

#[test]
fn deadlines_beyond_the_kernels_admission_are_kept_by_queues_without_preemption() {
    let edf = ScheduleOptions {
        strategy: Some("EDF".to_owned()),
        ..ScheduleOptions::default()
    };
    // 97 % of the processor, of which the kernel grants 95.
    let text = "
        [operation.fast]\nwcet = '4ms'\nperiod = '10ms'
        [operation.slow]\nwcet = '5.7ms'\nperiod = '10ms'
    ";
    let schedule = scheduled(text, &edf).unwrap();
    assert_eq!(
        schedule.activity("fast").unwrap().dispatching(),
        Dispatching::DeadlineQueue
    );
    // With a job of 8 ms that is not preempted, a deadline of 5 ms is not kept.
    let text = "
        [operation.fast]\nwcet = '1ms'\nperiod = '10ms'\ndeadline = '5ms'
        [operation.slow]\nwcet = '17.2ms'\nperiod = '20ms'
    ";
    let refused = scheduled(text, &edf).unwrap_err();
    assert!(
        matches!(refused, ScheduleError::NotProved { .. }),
        "{refused}"
    );
}

#[test]
fn least_laxity_is_kept_by_queues() {
    let mlf = ScheduleOptions {
        strategy: Some("MLF".to_owned()),
        ..ScheduleOptions::default()
    };
    let text = "
        [operation.fast]\nwcet = '1ms'\nperiod = '10ms'
        [operation.slow]\nwcet = '2ms'\nperiod = '30ms'
    ";
    let schedule = scheduled(text, &mlf).unwrap();
    for activity in schedule.activities() {
        assert_eq!(activity.dispatching(), Dispatching::LaxityQueue);
    }
    assert!(schedule.rt_config().dynamic_scheduling.is_none());
}

#[test]
fn what_threads_do_not_do_is_refused() {
    let none = "
        [operation.high]\nwcet = '2ms'\nperiod = '5ms'
        [operation.low]\nwcet = '1ms'\nperiod = '40ms'\npreemption = 'none'
    ";
    let refused = scheduled(none, &ScheduleOptions::default()).unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("operation `low` is not executed as planned: its thread is preempted"),
        "{refused}"
    );
    // One queue for each criticality.
    let muf = "
        strategy = 'MUF'
        [operation.high]\nwcet = '1ms'\nperiod = '50ms'\ncriticality = 'high'
        [operation.low]\nwcet = '1ms'\nperiod = '40ms'
    ";
    let refused = scheduled(muf, &ScheduleOptions::default()).unwrap_err();
    assert!(
        matches!(refused, ScheduleError::NotExecuted { .. }),
        "{refused}"
    );
    assert!(any_schedule(muf).activity("low").unwrap().is_queued());
}

#[test]
fn an_admitted_schedule_says_what_is_not_proved_and_why_jobs_wait_in_queues() {
    assert_eq!(any_schedule(PLANT).doubts(), []);
    assert_eq!(any_schedule(PLANT).queued_because(), None);
    let text = "
        strategy = 'MLF'
        [operation.fast]\nwcet = '1ms'\nperiod = '10ms'\ndeadline = '5ms'
        [operation.slow]\nwcet = '15ms'\nperiod = '20ms'
    ";
    let queued = any_schedule(text);
    let operation = "fast".to_owned();
    assert_eq!(queued.doubts(), [Doubt::Late { operation }]);
    let why = queued.queued_because().unwrap();
    assert!(why.contains("dispatches by deadline alone"), "{why}");
    let levels = any_schedule(
        "
        strategy = 'MUF'
        [operation.high]\nwcet = '1ms'\nperiod = '50ms'\ncriticality = 'high'
        [operation.low]\nwcet = '1ms'\nperiod = '40ms'
    ",
    );
    let named = levels.doubts().iter().map(|doubt| match doubt {
        Doubt::NotExecuted { operation, .. } => operation.as_str(),
        other => panic!("{other}"),
    });
    assert_eq!(named.collect::<Vec<_>>(), ["high", "low"]);
}

#[test]
fn a_reservation_has_the_time_that_the_platform_may_take_up_to_its_deadline() {
    let schedule = any_schedule(
        "
        strategy = 'EDF'
        [host.station]\ninterference = { most = '200us', every = '2ms' }
        [operation.fast]\nwcet = '2ms'\nperiod = '10ms'\ndeadline = '5ms'
    ",
    );
    let fast = schedule.activity("fast").unwrap().dispatching();
    let Dispatching::Reservation(reserved) = fast else {
        panic!("{fast:?}");
    };
    // Three windows of 2 ms begin before the deadline.
    assert_eq!(reserved.runtime.as_micros(), 2_600);
}

#[test]
fn an_operation_of_several_streams_has_no_reservation_of_one_of_them() {
    let text = "
        strategy = 'EDF'
        [operation.one]\nwcet = '10ms'\nperiod = '100ms'
        calls = [{ operation = 'store', kind = 'one-way' }]
        [operation.other]\nwcet = '10ms'\nperiod = '100ms'
        calls = [{ operation = 'store', kind = 'one-way' }]
        [operation.store]\nwcet = '15ms'
    ";
    let schedule = any_schedule(text);
    assert_eq!(
        schedule.activity("store").unwrap().dispatching(),
        Dispatching::DeadlineQueue
    );
}

#[test]
fn mutexes_are_taken_for_ones_that_inherit_priorities() {
    let text = "
        mutexes = ['m', 'n']
        lock_protocol = 'immediate-ceiling'
        [operation.high]\nwcet = '4ms'\nperiod = '10ms'\nlocks = [{ mutex = 'm', time = '1ms' }, { mutex = 'n', time = '1ms' }]
        [operation.middle]\nwcet = '5ms'\nperiod = '100ms'\nlocks = [{ mutex = 'm', time = '5ms' }]
        [operation.low]\nwcet = '5ms'\nperiod = '200ms'\nlocks = [{ mutex = 'n', time = '5ms' }]
    ";
    // 4 ms and one section of 5 ms fit; two sections do not.
    let refused = scheduled(text, &ScheduleOptions::default()).unwrap_err();
    assert!(
        matches!(refused, ScheduleError::NotProved { .. }),
        "{refused}"
    );
}

#[test]
fn the_examples_that_fit_are_taken_by_a_program() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/schedule");
    for (name, host) in [
        ("fits", ""),
        ("seventy", ""),
        ("rehearsed", ""),
        ("two_hosts", "sensor"),
        ("two_hosts", "control"),
    ] {
        let file = format!("{folder}/{name}.toml");
        let schedule = Schedule::from_file(&file, host, &ScheduleOptions::default());
        let schedule = schedule.unwrap_or_else(|refused| panic!("{file}: {refused}"));
        assert!(schedule.activities().count() > 0, "{file}");
    }
}

const SENSOR: &[RtOperation] = &[
    RtOperation::new("read", "Radar::Sensor::read")
        .with_wcet(1_200_000)
        .with_period(10_000_000)
        .with_criticality(RtLevel::VeryHigh),
    RtOperation::new("_get_temperature", "Radar::Sensor::_get_temperature")
        .with_wcet(50_000)
        .with_period(1_000_000_000),
];

const TRACKER: &[RtOperation] = &[RtOperation::new("update", "Radar::Tracker::update")
    .with_wcet(2_000_000)
    .with_period(10_000_000)
    .with_deadline(9_000_000)];

#[test]
fn the_timing_that_stubs_carry_completes_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("radar.toml");
    let text = "
        [operation.'Radar::Sensor::read']
        calls = [{ operation = 'Radar::Tracker::update', kind = 'one-way' }]
        [operation.'Radar::Tracker::update']\nwcet = '3ms'
    ";
    std::fs::write(&file, text).unwrap();
    let options = ScheduleOptions::default();
    let refused = Schedule::from_file(&file, "", &options).unwrap_err();
    assert!(matches!(refused, ScheduleError::Faults(_)), "{refused}");
    let stubs = [SENSOR, TRACKER, SENSOR];
    let schedule = Schedule::from_file_and_stubs(&file, &stubs, "", &options).unwrap();
    assert_eq!(schedule.activities().count(), 3);
    let read = schedule.activity("Radar::Sensor::read").unwrap();
    assert_eq!((read.wcet().as_nanos(), read.period()), (1_200_000, ms(10)));
    assert_eq!(read.criticality(), punctual_scheduling::Level::VeryHigh);
    let update = schedule.activity("Radar::Tracker::update").unwrap();
    assert_eq!((update.wcet(), update.deadline()), (ms(3), ms(9)));
}

#[test]
fn stubs_alone_are_a_schedule() {
    let schedule = Schedule::from_stubs(&[SENSOR], &ScheduleOptions::default()).unwrap();
    assert_eq!(schedule.host(), "localhost");
    let read = schedule.activity("Radar::Sensor::read").unwrap();
    assert!(
        read.priority()
            > schedule
                .activity("Radar::Sensor::_get_temperature")
                .unwrap()
                .priority()
    );
    let refused = Schedule::from_stubs(&[], &ScheduleOptions::default()).unwrap_err();
    assert!(refused.to_string().contains("no operation"), "{refused}");
}
