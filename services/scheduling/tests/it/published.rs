//! Values from the literature; each row is a test. Times are in units of 10 µs.

use punctual_scheduling::Time;
use punctual_scheduling::analysis::admission::{KernelShare, kernel};
use punctual_scheduling::analysis::bounds::{Strength, Test, liu_layland_limit};
use punctual_scheduling::analysis::edf::{self, Sharing};
use punctual_scheduling::analysis::fixed_priority::{Prioritized, responses};
use punctual_scheduling::analysis::supply::Reservation;
use punctual_scheduling::analysis::{Preemption, Response, Task};
use punctual_scheduling::assignment::Candidate;
use punctual_scheduling::model::read;
use punctual_scheduling::plan::plan;
use punctual_scheduling::strategy::{Dispatching, Strategy};
use std::cmp::Ordering;

/// Execution time, period and deadline of a task.
type Row = (u64, u64, u64);

/// Response times of tasks in falling order of priority.
macro_rules! responses_of {
    ($($name:ident: $source:literal, $preemption:expr, $tasks:expr, $expected:expr;)*) => {$(
        #[test]
        fn $name() {
            assert_eq!(fixed_priority(&$tasks, $preemption), $expected, $source);
        }
    )*};
}

/// Limits of Liu and Layland's bound, to three digits.
macro_rules! limits_of {
    ($($name:ident: $count:expr, $expected:expr;)*) => {$(
        #[test]
        fn $name() {
            let limit = liu_layland_limit($count);
            assert!((limit - $expected).abs() < 0.000_5, "Liu and Layland 1973: {limit}");
        }
    )*};
}

responses_of! {
    three_tasks_meet_their_deadlines: "Burns and Wellings, after Joseph and Pandya 1986",
        Preemption::Full, [(3, 7, 7), (3, 12, 12), (5, 20, 20)], [3, 6, 20];
    the_last_of_three_tasks_is_late: "Burns and Wellings, after Audsley et al. 1993",
        Preemption::Full, [(10, 30, 30), (10, 40, 40), (12, 50, 50)], [10, 20, 52];
    harmonic_tasks_fill_the_processor: "Burns and Wellings, after Audsley et al. 1993",
        Preemption::Full, [(5, 20, 20), (10, 40, 40), (40, 80, 80)], [5, 15, 80];
    the_fifth_job_of_a_busy_period_is_the_latest: "Lehoczky 1990",
        Preemption::Full, [(26, 70, 70), (62, 100, 120)], [26, 118];
    the_second_message_c_is_later_than_the_first: "Davis et al. 2007 (units of 10 µs)",
        Preemption::None, [(100, 250, 250), (100, 350, 325), (100, 350, 325)], [200, 300, 350];
}

limits_of! {
    one_task_may_fill_a_processor: 1, 1.0;
    two_tasks_may_take_828_thousandths: 2, 0.828;
    three_tasks_may_take_780_thousandths: 3, 0.780;
    four_tasks_may_take_757_thousandths: 4, 0.757;
    many_tasks_may_take_the_logarithm_of_two: 1_000_000, std::f64::consts::LN_2;
}

/// Verdicts of the demand test on tasks under EDF.
macro_rules! edf_of {
    ($($name:ident: $source:literal, $tasks:expr, $expected:expr;)*) => {$(
        #[test]
        fn $name() {
            let tasks = tasks(&$tasks, Preemption::Full);
            let alone = |task| Sharing { task, sections: &[] };
            let sharing: Vec<_> = tasks.iter().map(alone).collect();
            let verdict = edf::demand_test(&sharing);
            assert_eq!(verdict.is_feasible(), $expected, "{}: {verdict:?}", $source);
        }
    )*};
}

/// Eight tasks of 91 % with deadlines below and above their periods.
const EIGHT: [Row; 8] = [
    (6000, 31_000, 18_000),
    (2000, 9800, 9000),
    (1000, 17_000, 12_000),
    (90, 4200, 3000),
    (8, 96, 78),
    (2, 12, 16),
    (10, 280, 120),
    (26, 660, 160),
];

edf_of! {
    eight_tasks_of_long_and_short_deadlines_are_feasible: "rtsched, test_1", EIGHT, true;
    a_ninth_task_of_a_short_deadline_is_too_much: "rtsched, test_1",
        [&EIGHT[..], &[(10, 100, 15)]].concat(), false;
    two_tasks_with_deadlines_far_below_their_periods_are_not_feasible: "rtsched, test_2",
        [(331, 15_000, 2688), (3654, 77_000, 3849)], false;
    nor_are_they_with_three_others: "rtsched, test_3",
        [
            (331, 15_000, 2688), (3654, 77_000, 3849), (413, 34_000, 1061), (349, 70_000, 20_189),
            (1113, 83_000, 10_683),
        ], false;
}

fn units(count: u64) -> Time {
    Time::from_micros(count * 10)
}

fn tasks(rows: &[Row], preemption: Preemption) -> Vec<Task> {
    let task = |&(wcet, period, deadline): &Row| {
        let task = Task::new(units(wcet), units(period));
        task.with_deadline(units(deadline))
            .with_preemption(preemption)
    };
    rows.iter().map(task).collect()
}

/// Returns response times, rounded up: papers do not subtract the nanosecond for which a blocking
/// task runs alone.
fn fixed_priority(rows: &[Row], preemption: Preemption) -> Vec<u64> {
    let tasks = tasks(rows, preemption);
    let ranked = tasks.iter().zip((0..100).rev());
    let prioritized: Vec<_> = ranked
        .map(|(task, priority)| Prioritized { task, priority })
        .collect();
    rounded(responses(&prioritized))
}

fn rounded(responses: Vec<Response>) -> Vec<u64> {
    let nanos = |response: Response| response.bound().unwrap().as_nanos();
    let unit = units(1).as_nanos();
    responses
        .into_iter()
        .map(|response| nanos(response).div_ceil(unit))
        .collect()
}

#[test]
fn message_c_misses_its_deadline_which_the_flawed_analysis_denied() {
    let rows = [(100, 250, 250), (100, 350, 325), (100, 350, 325)];
    let first_job_only = 300;
    let found = fixed_priority(&rows, Preemption::None)[2];
    assert!(
        first_job_only <= rows[2].2 && found > rows[2].2,
        "Davis et al. 2007"
    );
}

/// Values of the crate `response-time-analysis`, from its tests: 89, 90 and 121 where a blocking task
/// has run for a whole unit before.
#[test]
fn unpreempted_tasks_under_edf_respond_as_the_proofs_say() {
    let rows = [(79, 120, 50), (11, 34, 100), (1, 190, 120)];
    let tasks = tasks(&rows, Preemption::None);
    let sharing = |task| Sharing {
        task,
        sections: &[],
    };
    let sharing: Vec<_> = tasks.iter().map(sharing).collect();
    assert_eq!(rounded(edf::responses(&sharing)), [90, 91, 121]);
}

/// The first interval of two periods less two runtimes may be without service.
#[test]
fn a_periodic_resource_supplies_what_its_formula_says() {
    let resource = Reservation::new(units(3), units(5), units(5)).unwrap();
    for (interval, supply) in [(4, 0), (5, 1), (7, 3), (9, 3), (10, 4), (12, 6), (14, 6)] {
        let found = resource.supply(units(interval));
        assert_eq!(found, units(supply), "Shin and Lee 2003: {interval}");
    }
}

/// Two tasks with 1/2 and 1/3 of the processor: their product is 2, their sum above 0.828.
#[test]
fn the_hyperbolic_bound_admits_what_liu_and_layland_s_does_not() {
    let tasks = tasks(&[(1, 2, 2), (1, 3, 3)], Preemption::Full);
    let tasks: Vec<&Task> = tasks.iter().collect();
    let passed = |test: Test| test.apply(&tasks).passed;
    assert_eq!(passed(Test::LiuLayland), Some(false));
    assert_eq!(passed(Test::EdfUtilisation), Some(true));
    assert_eq!(passed(Test::EdfDensity), Some(true));
    // A third is not exact in binary; rounding goes against the set.
    assert_eq!(passed(Test::Hyperbolic), Some(false));
    let less = Task::new(Time::from_nanos(9_999), units(3));
    assert_eq!(
        Test::Hyperbolic.apply(&[tasks[0], &less]).passed,
        Some(true)
    );
    assert_eq!(Test::LiuLayland.strength(), Strength::Sufficient);
    assert_eq!(Test::EdfUtilisation.strength(), Strength::Exact);
}

/// The bounds say nothing about tasks with jitter, blocking or sections.
#[test]
fn bounds_hold_for_plain_tasks_only() {
    let plain = Task::new(units(1), units(4));
    let early = plain.clone().with_deadline(units(3));
    let jittered = plain.clone().with_jitter(units(1));
    let blocked = plain.clone().with_blocking(units(1));
    let unpreempted = plain.clone().with_preemption(Preemption::None);
    for test in Test::ALL {
        assert_eq!(test.apply(&[&plain]).passed, Some(true), "{}", test.name());
        let by_density = (test != Test::EdfUtilisation).then_some(true);
        assert_eq!(test.apply(&[&early]).passed, by_density, "{}", test.name());
        for other in [&jittered, &blocked, &unpreempted] {
            assert_eq!(test.apply(&[other]).passed, None, "{}", test.name());
        }
    }
}

/// The kernel's own numbers: 996,147 of 2²⁰ for 95 %, and 52,428 for 50 ms of a second.
#[test]
fn the_kernel_admits_nineteen_reservations_of_a_twentieth_and_not_twenty() {
    let second = Time::from_millis(1_000);
    let twentieth = Reservation::new(Time::from_millis(50), second, second).unwrap();
    let asked = |count| kernel(&vec![twentieth; count], 1, KernelShare::default());
    assert_eq!(asked(19).offered, 996_147);
    assert_eq!(asked(19).asked, 19 * 52_428);
    assert!(asked(19).is_admitted() && !asked(20).is_admitted());
    let on_two = kernel(&vec![twentieth; 38], 2, KernelShare::default());
    assert!(on_two.is_admitted());
}

/// Fixed priorities by importance.
#[derive(Debug)]
struct ByImportance;

impl Strategy for ByImportance {
    fn name(&self) -> &'static str {
        "by importance"
    }

    fn level_order(&self, one: &Candidate, other: &Candidate) -> Ordering {
        other.importance.cmp(&one.importance)
    }

    fn dispatching(&self, _: &Candidate) -> Dispatching {
        Dispatching::Static
    }
}

/// Two transactions over two processors and a network between them, which is analysed like a processor: 42 and 30
/// by the holistic analyses of MAST and of pyrta (its `test_palencia`).
#[test]
fn two_transactions_over_a_network_end_as_by_holistic_analysis() {
    let text = "
        [host.cpu1]\n[host.cpu2]\n[host.network]
        [[message]]\nfrom = 'cpu1'\nto = 'network'\ntime = '0s'
        [[message]]\nfrom = 'cpu2'\nto = 'network'\ntime = '0s'
        [operation.a1]\nhost = 'cpu1'\nwcet = '5ms'\nperiod = '30ms'\ndeadline = '90ms'\nimportance = 'high'
        calls = [{ operation = 'a2', kind = 'one-way' }]
        [operation.a2]\nhost = 'network'\nwcet = '2ms'\nimportance = 'low'
        calls = [{ operation = 'a3', kind = 'one-way' }]
        [operation.a3]\nhost = 'cpu2'\nwcet = '20ms'\nimportance = 'low'
        [operation.a4]\nhost = 'cpu2'\nwcet = '5ms'\nperiod = '40ms'\ndeadline = '120ms'\nimportance = 'high'
        calls = [{ operation = 'a5', kind = 'one-way' }]
        [operation.a5]\nhost = 'network'\nwcet = '10ms'\nimportance = 'high'
        calls = [{ operation = 'a6', kind = 'one-way' }]
        [operation.a6]\nhost = 'cpu1'\nwcet = '10ms'\nimportance = 'low'
    ";
    let model = read("transactions", text).unwrap();
    let plan = plan(&model, &ByImportance).unwrap();
    let response = |name: &str| {
        let stream = plan.streams.iter().find(|one| one.operation == name);
        stream.unwrap().response
    };
    let ms = |millis| Some(Time::from_millis(millis));
    assert_eq!(["a1", "a2", "a3"].map(response), [ms(5), ms(17), ms(42)]);
    assert_eq!(["a4", "a5", "a6"].map(response), [ms(5), ms(15), ms(30)]);
    assert!(plan.fits());
}
