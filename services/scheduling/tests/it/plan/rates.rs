//! Tests of rates and deadlines that pass from suppliers to consumers.

use super::{model, planned};
use punctual_scheduling::Time;
use punctual_scheduling::plan::Plan;

/// Returns period, deadline and source of each stream of an operation, in milliseconds.
fn streams(plan: &Plan, operation: &str) -> Vec<(u64, u64, String)> {
    let millis = |time: Time| time.as_nanos() / 1_000_000;
    let of = |index: usize| {
        let stream = &plan.streams[index];
        (
            millis(stream.period),
            millis(stream.deadline),
            stream.source.clone(),
        )
    };
    plan.streams_of(operation).map(of).collect()
}

#[test]
fn a_consumer_runs_at_the_rate_of_each_supplier() {
    let plan = planned(&model(
        r#"
        [operation.fast]
        wcet = "1ms"
        period = "10ms"
        calls = [{ operation = "filter", kind = "one-way" }]
        [operation.slow]
        wcet = "1ms"
        period = "40ms"
        deadline = "30ms"
        calls = [{ operation = "filter", kind = "one-way" }]
        [operation.filter]
        wcet = "1ms"
        calls = [{ operation = "store", kind = "one-way", times = 2 }]
        [operation.store]
        wcet = "1ms"
        deadline = "25ms"
        "#,
    ));
    let filter = streams(&plan, "filter");
    assert_eq!(
        filter,
        [(10, 10, "fast".to_owned()), (40, 30, "slow".to_owned())]
    );
    let store = streams(&plan, "store");
    assert_eq!(
        store,
        [(10, 25, "fast".to_owned()), (40, 25, "slow".to_owned())]
    );
    let wcets = plan
        .streams_of("store")
        .map(|index| plan.streams[index].wcet);
    assert!(wcets.eq([Time::from_millis(2); 2]), "two calls of each job");
}

#[test]
fn an_operation_with_threads_of_its_own_runs_by_its_period_besides() {
    let plan = planned(&model(
        r#"
        [operation.caller]
        wcet = "1ms"
        period = "10ms"
        calls = [{ operation = "active", kind = "one-way" }]
        [operation.active]
        wcet = "1ms"
        period = "50ms"
        threads = 1
        "#,
    ));
    let active = streams(&plan, "active");
    assert_eq!(
        active,
        [(50, 50, "active".to_owned()), (10, 10, "caller".to_owned())]
    );
}

#[test]
fn a_conjunction_waits_for_its_last_supplier_as_often_as_each_calls_it() {
    let plan = planned(&model(
        r#"
        [operation.tick]
        wcet = "1ms"
        period = "40ms"
        calls = [{ operation = "left", kind = "one-way" }, { operation = "right", kind = "one-way" }]
        [operation.left]
        wcet = "2ms"
        calls = [{ operation = "both", kind = "one-way", times = 2 }]
        [operation.right]
        wcet = "3ms"
        calls = [{ operation = "both", kind = "one-way", times = 2 }]
        [operation.both]
        kind = "conjunction"
        calls = [{ operation = "fuse", kind = "one-way" }]
        [operation.fuse]
        wcet = "1ms"
        "#,
    ));
    let fuse: Vec<_> = plan.streams_of("fuse").collect();
    assert_eq!(fuse.len(), 1);
    let fuse = &plan.streams[fuse[0]];
    // Two calls of each supplier: two jobs.
    assert_eq!(fuse.wcet, Time::from_millis(2));
    // All share a level, and each may wait for all the others: tick for 8, left and right released
    // after it for 8 more, fuse after those for 8 more.
    assert_eq!(fuse.jitter, Time::from_millis(16));
    assert_eq!(fuse.response, Some(Time::from_millis(24)));
}

#[test]
fn an_operation_called_two_way_on_its_host_lengthens_its_caller() {
    let plan = planned(&model(
        r#"
        [operation.caller]
        wcet = "1ms"
        period = "20ms"
        calls = [{ operation = "helper", times = 3 }]
        [operation.helper]
        wcet = "2ms"
        preemption = "none"
        deadline = "15ms"
        calls = [{ operation = "log", kind = "one-way" }]
        [operation.log]
        wcet = "1ms"
        "#,
    ));
    assert_eq!(plan.streams_of("helper").count(), 0);
    let caller = &plan.streams[plan.streams_of("caller").next().unwrap()];
    assert_eq!(caller.wcet, Time::from_millis(7));
    assert_eq!(
        caller.deadline,
        Time::from_millis(15),
        "the helper's, which is shorter"
    );
    let log = &plan.streams[plan.streams_of("log").next().unwrap()];
    assert_eq!(log.wcet, Time::from_millis(3), "one call by each of three");
    assert_eq!(log.source, "caller");
}

#[test]
fn a_fair_strategy_leaves_out_what_does_not_fit_and_what_it_would_have_released() {
    let plan = planned(&model(
        r#"
        strategy = "RMS_FAIR"
        [operation.vital]
        wcet = "6ms"
        period = "10ms"
        criticality = "very-high"
        [operation.wish]
        wcet = "6ms"
        period = "12ms"
        criticality = "low"
        calls = [{ operation = "after", kind = "one-way" }]
        [operation.after]
        wcet = "100us"
        criticality = "very-high"
        "#,
    ));
    let verdict = |name| plan.streams[plan.streams_of(name).next().unwrap()].verdict;
    use punctual_scheduling::plan::Verdict;
    assert_eq!(verdict("vital"), Verdict::Fits);
    assert_eq!(verdict("wish"), Verdict::LeftOut);
    assert_eq!(verdict("after"), Verdict::NeverReleased);
    assert!(!plan.fits());
    // The reason: 60 % and 50 % are 110 %.
    let index = |name| plan.streams_of(name).next().unwrap();
    let refusal = |name| plan.streams[index(name)].refusal;
    let reason = refusal("wish").unwrap();
    assert!((reason.utilisation - 1.1).abs() < 1e-9, "{reason:?}");
    assert_eq!(reason.limit, Some(1.0));
    assert_eq!((refusal("vital"), refusal("after")), (None, None));
    assert_eq!(plan.left_out_caller(index("after")), Some(index("wish")));
    assert_eq!(plan.left_out_caller(index("wish")), None);
}

#[test]
fn a_deadline_of_an_operation_in_the_callers_thread_never_lengthens_the_callers() {
    let plan = planned(&model(
        r#"
        [operation.caller]
        wcet = "2ms"
        period = "10ms"
        calls = [{ operation = "helper" }]
        [operation.helper]
        wcet = "500us"
        deadline = "50ms"
        "#,
    ));
    assert_eq!(streams(&plan, "caller"), [(10, 10, "caller".to_owned())]);
}

#[test]
fn a_job_without_preemption_is_not_preempted_in_the_operations_that_it_calls() {
    let plan = planned(&model(
        r#"
        strategy = "DMS"
        [operation.hi]
        wcet = "1ms"
        period = "20ms"
        [operation.np]
        wcet = "2ms"
        period = "50ms"
        preemption = "none"
        calls = [{ operation = "helper" }]
        [operation.helper]
        wcet = "8ms"
        "#,
    ));
    let hi = plan.streams_of("hi").next().unwrap();
    let expected = Time::from_nanos(11_000_000 - 1);
    assert_eq!(plan.streams[hi].response, Some(expected));
}

#[test]
fn inherited_priorities_under_edf_block_once_for_each_mutex() {
    let text = |protocol: &str| {
        format!(
            r#"
            strategy = "EDF"
            lock_protocol = "{protocol}"
            mutexes = ["m1", "m2"]
            [operation.h]
            wcet = "3ms"
            period = "100ms"
            deadline = "10ms"
            locks = [{{ mutex = "m1", time = "1ms" }}, {{ mutex = "m2", time = "1ms" }}]
            [operation.l1]
            wcet = "6ms"
            period = "200ms"
            locks = [{{ mutex = "m1", time = "6ms" }}]
            [operation.l2]
            wcet = "6ms"
            period = "200ms"
            deadline = "90ms"
            locks = [{{ mutex = "m2", time = "6ms" }}]
            "#
        )
    };
    // Both holders run before h: 15 of 10 allowed.
    assert!(!planned(&model(&text("inheritance"))).fits());
    // One of them at most: 9.
    assert!(planned(&model(&text("ceiling"))).fits());
}

#[test]
fn operations_that_share_a_mutex_are_placed_on_one_processor() {
    let operation = |name: &str| {
        format!(
            "[operation.{name}]\nwcet = \"1ms\"\nperiod = \"10ms\"\nlocks = [{{ mutex = \"m\", time = \"1ms\" }}]\n"
        )
    };
    let text = format!(
        "mutexes = [\"m\"]\n[host.h]\nprocessors = 2\n{}{}",
        operation("a"),
        operation("b")
    );
    let plan = planned(&model(&text));
    assert_eq!(plan.streams[0].processor, plan.streams[1].processor);
}

#[test]
fn a_disjunction_without_execution_time_passes_all_calls_on() {
    let plan = planned(&model(
        r#"
        [operation.a]
        wcet = "1ms"
        period = "100ms"
        calls = [{ operation = "any", kind = "one-way", times = 10 }]
        [operation.any]
        kind = "disjunction"
        calls = [{ operation = "sink", kind = "one-way" }]
        [operation.sink]
        wcet = "3ms"
        "#,
    ));
    let sink = plan.streams_of("sink").next().unwrap();
    assert_eq!(plan.streams[sink].wcet, Time::from_millis(30));
}

#[test]
fn streams_of_one_operation_share_the_most_urgent_of_their_levels_where_they_are_united() {
    let model = model(
        r#"
        [operation.fast]
        wcet = "1ms"
        period = "10ms"
        calls = [{ operation = "log", kind = "one-way" }]

        [operation.between]
        wcet = "1ms"
        period = "20ms"

        [operation.slow]
        wcet = "1ms"
        period = "40ms"
        calls = [{ operation = "log", kind = "one-way" }]

        [operation.log]
        wcet = "1ms"
        "#,
    );
    let plan = planned(&model);
    let levels = |plan: &punctual_scheduling::plan::Plan, name: &str| -> Vec<_> {
        let streams = plan.streams_of(name);
        streams
            .map(|index| plan.streams[index].level.unwrap())
            .collect()
    };
    let apart = levels(&plan, "log");
    assert_eq!(apart.len(), 2);
    assert_ne!(apart[0], apart[1]);
    let united = plan.united(&model);
    let most_urgent = *apart.iter().min().unwrap();
    assert_eq!(levels(&united, "log"), [most_urgent; 2]);
    // The operation between has one job more above it.
    let response = |plan: &punctual_scheduling::plan::Plan| {
        plan.streams[plan.streams_of("between").next().unwrap()].response
    };
    assert!(response(&united) > response(&plan));
}
