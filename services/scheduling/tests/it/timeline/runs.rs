//! Runs that are known by hand.

use super::models::{example, planned};
use punctual_scheduling::Time;
use punctual_scheduling::timeline::Activity::{Awaiting, Blocked, Running};
use punctual_scheduling::timeline::{Activity, MOST_EVENTS, Timeline, simulate};

/// Plans a model, and simulates so many milliseconds.
fn run(text: &str, until: u64) -> (Vec<String>, Timeline) {
    let (model, plan) = planned("run", text);
    let names = plan.streams.iter().map(|stream| stream.operation.clone());
    let names = names.collect();
    (names, simulate(&model, &plan, Time::from_millis(until)))
}

/// Returns the slices of an operation's first job in milliseconds.
fn slices((names, timeline): &(Vec<String>, Timeline), name: &str) -> Vec<(u64, u64, Activity)> {
    let stream = names.iter().position(|one| one == name).unwrap();
    let all = timeline.processors.iter().flatten();
    let first = |slice: &&punctual_scheduling::timeline::Slice| {
        slice.stream == stream && timeline.jobs[slice.job].number == 0
    };
    let millis = |time: Time| time.as_nanos() / 1_000_000;
    let own = all.filter(first);
    own.map(|slice| (millis(slice.from), millis(slice.to), slice.activity))
        .collect()
}

/// Writes an operation of the given times in milliseconds, with more keys.
fn operation(name: &str, wcet: u64, period: u64, keys: &str) -> String {
    format!("[operation.{name}]\nwcet = \"{wcet}ms\"\nperiod = \"{period}ms\"\n{keys}\n")
}

#[test]
fn a_shorter_period_preempts() {
    let text = "strategy = \"RMS\"\n".to_owned()
        + &operation("fast", 2, 5, "offset = \"1ms\"")
        + &operation("slow", 4, 20, "");
    let run = run(&text, 20);
    assert_eq!(slices(&run, "fast"), [(1, 3, Running)]);
    assert_eq!(slices(&run, "slow"), [(0, 1, Running), (3, 6, Running)]);
}

#[test]
fn a_job_without_preemption_blocks_a_higher_level() {
    let text = "strategy = \"RMS\"\n".to_owned()
        + &operation("fast", 2, 5, "offset = \"1ms\"")
        + &operation("slow", 3, 20, "preemption = \"none\"");
    let run = run(&text, 20);
    assert_eq!(slices(&run, "fast"), [(1, 3, Blocked), (3, 5, Running)]);
    assert_eq!(slices(&run, "slow"), [(0, 3, Running)]);
}

#[test]
fn segments_are_preempted_between_each_other() {
    let text = "strategy = \"RMS\"\n".to_owned()
        + &operation("fast", 2, 10, "offset = \"1ms\"")
        + &operation(
            "slow",
            5,
            20,
            "segments = { longest = \"2ms\", last = \"1ms\" }",
        );
    let run = run(&text, 20);
    assert_eq!(slices(&run, "fast"), [(1, 2, Blocked), (2, 4, Running)]);
    assert_eq!(slices(&run, "slow"), [(0, 2, Running), (4, 7, Running)]);
}

/// Returns the slices of the three levels of a run with a mutex that the first and the last share.
fn with_mutex(protocol: &str) -> [Vec<(u64, u64, Activity)>; 3] {
    let lock = "locks = [{ mutex = \"m\", time = \"3ms\" }]";
    let text = format!("strategy = \"RMS\"\nmutexes = [\"m\"]\nlock_protocol = \"{protocol}\"\n")
        + &operation("high", 3, 20, &format!("{lock}\noffset = \"2ms\""))
        + &operation("middle", 2, 30, "offset = \"1ms\"")
        + &operation("low", 4, 40, lock);
    let run = run(&text, 20);
    ["high", "middle", "low"].map(|name| slices(&run, name))
}

#[test]
fn under_inheritance_a_holder_runs_in_place_of_a_waiting_job() {
    let expected = [
        vec![(2, 4, Blocked), (4, 7, Running)],
        vec![(1, 2, Running), (2, 4, Blocked), (7, 8, Running)],
        vec![(0, 1, Running), (2, 4, Running), (8, 9, Running)],
    ];
    assert_eq!(with_mutex("inheritance"), expected);
    assert_eq!(with_mutex("ceiling"), expected);
}

#[test]
fn under_immediate_ceilings_a_holder_is_not_preempted_up_to_the_ceiling() {
    let expected = [
        vec![(2, 3, Blocked), (3, 6, Running)],
        vec![(1, 3, Blocked), (6, 8, Running)],
        vec![(0, 3, Running), (8, 9, Running)],
    ];
    assert_eq!(with_mutex("immediate-ceiling"), expected);
}

#[test]
fn a_job_without_preemption_leaves_the_processor_while_it_awaits_a_mutex() {
    let lock = |mutex: &str, time: u64| format!("{{ mutex = \"{mutex}\", time = \"{time}ms\" }}");
    let both = format!("locks = [{}, {}]", lock("m", 1), lock("n", 1));
    let text = "strategy = \"RMS\"\nmutexes = [\"m\", \"n\"]\n".to_owned()
        + &operation("high", 1, 20, "offset = \"3ms\"")
        + &operation(
            "middle",
            4,
            30,
            &format!("{both}\noffset = \"1ms\"\npreemption = \"none\""),
        )
        + &operation("low", 3, 40, &format!("locks = [{}]", lock("n", 3)));
    let run = run(&text, 20);
    assert_eq!(slices(&run, "high"), [(3, 4, Running)]);
    let middle = [
        (1, 2, Running),
        (2, 3, Blocked),
        (4, 5, Blocked),
        (5, 8, Running),
    ];
    assert_eq!(slices(&run, "middle"), middle);
    let low = [(0, 1, Running), (2, 3, Running), (4, 5, Running)];
    assert_eq!(slices(&run, "low"), low);
}

#[test]
fn a_priority_ceiling_keeps_jobs_of_the_holder_s_own_level_from_locking() {
    let both = "locks = [{ mutex = \"m\", time = \"1ms\" }, { mutex = \"n\", time = \"1ms\" }]";
    let long = |mutex: &str| format!("locks = [{{ mutex = \"{mutex}\", time = \"3ms\" }}]");
    let text = "strategy = \"RMS_MLF\"\nmutexes = [\"m\", \"n\"]\nlock_protocol = \"ceiling\"\n"
        .to_owned()
        + &operation(
            "high",
            2,
            20,
            &format!("{both}\noffset = \"2ms\"\ncriticality = \"high\""),
        )
        + &operation(
            "urgent",
            3,
            40,
            &format!("{}\noffset = \"1ms\"\ndeadline = \"9ms\"", long("n")),
        )
        + &operation("other", 3, 40, &long("m"));
    let run = run(&text, 20);
    // Only one of both holds a mutex that the first locks.
    assert_eq!(slices(&run, "high"), [(2, 3, Blocked), (3, 5, Running)]);
    assert_eq!(slices(&run, "other"), [(0, 3, Running)]);
    assert_eq!(slices(&run, "urgent"), [(5, 8, Running)]);
}

#[test]
fn a_deadline_preempts_a_later_one() {
    let text = "strategy = \"EDF\"\n".to_owned()
        + &operation("early", 1, 20, "deadline = \"5ms\"\noffset = \"2ms\"")
        + &operation("late", 4, 20, "");
    let run = run(&text, 20);
    assert_eq!(slices(&run, "early"), [(2, 3, Running)]);
    assert_eq!(slices(&run, "late"), [(0, 2, Running), (3, 5, Running)]);
}

#[test]
fn least_laxity_preempts_when_the_laxity_has_fallen() {
    let text = "strategy = \"MLF\"\n".to_owned()
        + &operation("long", 9, 20, "deadline = \"11ms\"")
        + &operation("short", 1, 20, "deadline = \"5ms\"");
    let run = run(&text, 20);
    // Laxities of 2 ms and 4 ms: equal after 2 ms.
    assert_eq!(slices(&run, "long"), [(0, 2, Running), (3, 10, Running)]);
    assert_eq!(slices(&run, "short"), [(2, 3, Running)]);
}

#[test]
fn a_caller_awaits_the_reply_of_another_host() {
    let text = "strategy = \"RMS\"\n[host.a]\n[host.b]\n[[message]]\nfrom = \"a\"\nto = \"b\"\n\
                time = \"1ms\"\n[operation.callee]\nhost = \"b\"\nwcet = \"2ms\"\n"
        .to_owned()
        + &operation(
            "caller",
            3,
            40,
            "host = \"a\"\ncalls = [{ operation = \"callee\" }]",
        );
    let run = run(&text, 40);
    assert_eq!(slices(&run, "caller"), [(0, 3, Running), (3, 7, Awaiting)]);
    assert_eq!(slices(&run, "callee"), [(4, 6, Running)]);
}

#[test]
fn a_conjunction_awaits_its_last_supplier() {
    let text = r#"
        strategy = "RMS"
        [operation.tick]
        wcet = "1ms"
        period = "20ms"
        calls = [{ operation = "one", kind = "one-way" }, { operation = "other", kind = "one-way" }]
        [operation.one]
        wcet = "2ms"
        calls = [{ operation = "both", kind = "one-way" }]
        [operation.other]
        wcet = "3ms"
        calls = [{ operation = "both", kind = "one-way" }]
        [operation.both]
        kind = "conjunction"
        wcet = "1ms"
    "#;
    let run = run(text, 20);
    assert_eq!(slices(&run, "both"), [(6, 7, Running)]);
    let (names, timeline) = run;
    let both = names.iter().position(|name| name == "both").unwrap();
    let job = timeline.first_job(both).unwrap();
    assert_eq!(job.deadline, Time::from_millis(20));
}

#[test]
fn a_missed_deadline_is_noted_at_its_time() {
    let (model, plan) = example("overloaded");
    let missed = |until| {
        let timeline = simulate(&model, &plan, Time::from_millis(until));
        timeline.missed().map(|job| job.stream).collect::<Vec<_>>()
    };
    assert!(missed(69).is_empty());
    let log = plan.streams_of("log.write").next().unwrap();
    assert_eq!(missed(75), [log]);
    assert_eq!(missed(90), [log]);
}

#[test]
fn a_stream_that_is_left_out_does_not_run() {
    let text = "strategy = \"RMS_FAIR\"\n".to_owned()
        + &operation("one", 6, 10, "criticality = \"high\"")
        + &operation("other", 8, 20, "criticality = \"low\"")
        + &operation("last", 8, 40, "criticality = \"low\"");
    let (model, plan) = planned("run", &text);
    let timeline = simulate(&model, &plan, Time::from_millis(40));
    for (stream, planned) in plan.streams.iter().enumerate() {
        let runs = timeline.first_job(stream).is_some();
        assert_eq!(runs, planned.level.is_some(), "{}", planned.operation);
    }
    assert!(plan.streams.iter().any(|stream| stream.level.is_none()));
}

#[test]
fn a_long_simulation_is_cut() {
    let text = "strategy = \"RMS\"\n".to_owned() + &operation("fast", 1, 2, "");
    let (_, timeline) = run(&text, 1_000_000);
    assert!(timeline.is_cut && timeline.until < Time::from_millis(1_000_000));
    assert!(timeline.jobs.len() <= MOST_EVENTS);
    // Releases and ends.
    assert!(timeline.jobs.len() >= MOST_EVENTS / 3);
}

#[test]
fn simulations_are_the_same_every_time() {
    let (model, plan) = example("two_hosts");
    let until = Time::from_millis(500);
    assert_eq!(
        simulate(&model, &plan, until),
        simulate(&model, &plan, until)
    );
}
