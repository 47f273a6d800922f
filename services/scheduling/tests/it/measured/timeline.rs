//! Time lines of requests: their files, and plans beside them.

use punctual_scheduling::Time;
use punctual_scheduling::measured::{
    Arrivals, Compared, Finding, Observed, RecordedJob, RecordedTimeline, compare_timeline,
};
use punctual_scheduling::model::read;
use punctual_scheduling::plan::plan;
use punctual_scheduling::strategy::Rms;

/// Returns a file with these events: phase, name, microseconds, request, and operation.
fn file(events: &[(&str, &str, &str, u32, Option<&str>)]) -> String {
    let events: Vec<String> = events
        .iter()
        .map(|(phase, name, micros, request, operation)| {
            let operation = operation.map_or(String::new(), |name| format!(",\"operation\":\"{name}\""));
            format!(
                "{{\"ph\":\"{phase}\",\"pid\":1,\"tid\":1,\"ts\":{micros},\"name\":\"{name}\",\
                 \"args\":{{\"lane\":1,\"connection\":2,\"request\":{request},\"processor\":0{operation}}}}}"
            )
        })
        .collect();
    format!(
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"punctual_timeline\":1,\"lost\":3,\"unnamed\":2}},\
         \"traceEvents\":[{}]}}",
        events.join(",")
    )
}

fn timeline(text: &str) -> RecordedTimeline {
    match serde_json::from_str(text).unwrap() {
        Observed::Timeline(recorded) => recorded,
        Observed::Measured(measured) => panic!("{measured:?}"),
    }
}

fn job(read: u64, begin: u64, end: u64) -> RecordedJob {
    let [read, begin, end] = [read, begin, end].map(Time::from_nanos);
    RecordedJob { read, begin, end }
}

#[test]
fn files_are_told_apart_by_their_content() {
    let measured = "{\"operations\":[],\"version\":1,\"not_recorded\":4}";
    let Observed::Measured(measured) = serde_json::from_str(measured).unwrap() else {
        panic!("measured times are no time line");
    };
    assert_eq!((measured.version, measured.not_recorded), (1, 4));
    let recorded = timeline(&file(&[]));
    assert_eq!((recorded.lost, recorded.unnamed), (3, 2));
    for (text, message) in [
        ("{\"traceEvents\":[]}", "the trace of another program"),
        (
            "{\"traceEvents\":[],\"otherData\":{\"tool\":\"x\"}}",
            "the trace of another program",
        ),
        (
            "{\"traceEvents\":[],\"otherData\":{\"punctual_timeline\":2}}",
            "version 2",
        ),
        ("{\"version\":1}", "not_recorded"),
        ("{}", "version"),
        ("[]", "measured times, or a time line"),
    ] {
        let error = serde_json::from_str::<Observed>(text)
            .unwrap_err()
            .to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn a_job_counts_from_the_reading_of_its_request_whichever_thread_serves_it() {
    // The second thread's events come before the first's, and one request waits for the other.
    let recorded = timeline(&file(&[
        ("B", "A::a", "20.5", 2, Some("A::a")),
        ("E", "upcall", "30", 2, None),
        ("i", "read", "1.001", 1, None),
        ("B", "A::a", "2", 1, Some("A::a")),
        ("i", "read", "3", 2, None),
        ("B", "B::b", "4", 3, Some("B::b")),
        ("i", "queued", "4", 2, None),
        ("E", "upcall", "10", 1, None),
        ("M", "thread_name", "0", 0, None),
    ]));
    let names: Vec<_> = recorded
        .operations
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    // The request of B::b was read before the recording began.
    assert_eq!(names, ["A::a"]);
    assert_eq!(
        recorded.jobs("A::a"),
        [job(1_001, 2_000, 10_000), job(3_000, 20_500, 30_000)]
    );
    assert!(recorded.jobs("B::b").is_empty());
    assert_eq!(recorded.jobs("A::a")[1].wait(), Time::from_nanos(17_500));
}

#[test]
fn no_number_in_a_file_makes_the_reader_panic() {
    for micros in ["-1", "1e300", "1e-300", "-0.0"] {
        let text = file(&[
            ("i", "read", micros, 1, None),
            ("B", "A::a", micros, 1, Some("A::a")),
            ("E", "upcall", "1", 1, None),
            ("E", "upcall", micros, 1, None),
        ]);
        let recorded = timeline(&text);
        let model = read("m", "[operation.'A::a']\nwcet = '1ms'\nperiod = '1ms'").unwrap();
        let plan = plan(&model, &Rms).unwrap();
        assert_eq!(compare_timeline(&model, &plan, &recorded).len(), 1);
    }
    let wide = file(&[("i", "read", "1", 1, None)]).replace("\"lane\":1", "\"lane\":4294967296");
    assert!(serde_json::from_str::<Observed>(&wide).is_err());
}

#[test]
fn stamps_of_a_clock_that_steps_back_are_no_negative_times() {
    let stepped = RecordedJob {
        read: Time::from_micros(900),
        begin: Time::from_micros(400),
        end: Time::from_micros(500),
    };
    assert_eq!(
        (stepped.wait(), stepped.response()),
        (Time::ZERO, Time::ZERO)
    );
    // Events are put in order first: the request that was read last has not ended.
    let recorded = timeline(&file(&[
        ("i", "read", "900", 1, None),
        ("B", "A::a", "400", 1, Some("A::a")),
        ("E", "upcall", "500", 1, None),
        ("i", "read", "600", 2, None),
        ("B", "A::a", "610", 2, Some("A::a")),
        ("E", "upcall", "650", 2, None),
    ]));
    assert_eq!(recorded.jobs("A::a"), [job(600_000, 610_000, 650_000)]);
    // The second is taken for one that came too early, which is safe.
    let times = [10, 4, 20].map(Time::from_micros);
    let arrivals = Arrivals::of(&times).unwrap();
    assert_eq!(arrivals.period, Time::from_micros(5));
    assert_eq!(arrivals.jitter, Time::from_micros(11));
}

#[test]
fn each_job_is_compared_with_its_deadline_and_no_execution_time_is_claimed() {
    const MODEL: &str = "
        [operation.'A::a']
        wcet = '1ms'
        period = '10ms'
        deadline = '5ms'
        [operation.'B::b']
        wcet = '1ms'
        period = '100ms'";
    let model = read("model.toml", MODEL).unwrap();
    let plan = plan(&model, &Rms).unwrap();
    let mut events = Vec::new();
    // Responses of 1, 2, 6 and 7 ms, at a distance of 10 ms.
    let times: Vec<_> = [1, 2, 6, 7]
        .into_iter()
        .zip(0..)
        .map(|(response, number)| {
            let read = number * 10_000;
            [read, read + 500, read + response * 1000].map(|micros: u64| micros.to_string())
        })
        .collect();
    for [read, begin, end] in &times {
        events.push(("i", "read", read.as_str(), 1, None));
        events.push(("B", "A::a", begin, 1, Some("A::a")));
        events.push(("E", "upcall", end, 1, None));
    }
    events.push(("i", "read", "50000", 2, None));
    events.push(("B", "C::c", "50001", 2, Some("C::c")));
    events.push(("E", "upcall", "50002", 2, None));
    let compared = compare_timeline(&model, &plan, &timeline(&file(&events)));
    let [a, b, c]: [Compared; 3] = compared.try_into().unwrap();
    assert_eq!((a.jobs, a.missed_deadlines), (4, Some(2)));
    assert_eq!((a.execution, a.execution_p99), (None, None));
    assert_eq!(a.distance, Some(Time::from_millis(10)));
    assert_eq!(a.response, Some(Time::from_millis(7)));
    assert_eq!(a.wait, Some(Time::from_micros(500)));
    assert_eq!(a.findings, [Finding::LateResponse, Finding::MissedDeadline]);
    assert_eq!((b.jobs, b.missed_deadlines), (0, Some(0)));
    assert_eq!(b.findings, [Finding::NeverRan]);
    assert_eq!((c.operation.as_str(), c.missed_deadlines), ("C::c", None));
    assert_eq!(c.findings, [Finding::NotPlanned]);
}

#[test]
fn the_deadline_of_an_operation_that_another_releases_is_not_judged_by_its_requests_alone() {
    let text = "
        [operation.source]\nwcet = '3us'\nperiod = '20us'
        calls = [{ operation = 'M::I::called', kind = 'one-way' }]
        [operation.'M::I::called']\nwcet = '3us'\ndeadline = '13us'
    ";
    let model = read("t.toml", text).unwrap();
    let plan = plan(&model, &Rms).unwrap();
    let findings = |end| {
        let begun = ("B", "M::I::called", "7", 1, Some("M::I::called"));
        let events = [
            ("i", "read", "5", 1, None),
            begun,
            ("E", "upcall", end, 1, None),
        ];
        let all = compare_timeline(&model, &plan, &timeline(&file(&events)));
        let called = all.into_iter().find(|one| one.operation == "M::I::called");
        called.unwrap().findings
    };
    // It may be released as late as 6 after the source: 7 are left.
    assert_eq!(findings("12"), []);
    assert_eq!(findings("13"), [Finding::DeadlineNotJudged]);
    assert!(Finding::DeadlineNotJudged.is_worse());
    assert!(findings("19").contains(&Finding::MissedDeadline));
    assert!(!findings("19").contains(&Finding::DeadlineNotJudged));
}
