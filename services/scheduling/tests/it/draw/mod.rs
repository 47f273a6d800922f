//! Tests of pictures: of their structure, not of their looks.

use crate::timeline::models::{EXAMPLES, example, planned};
use punctual_scheduling::Time;
use punctual_scheduling::draw::{MOST_ROWS, Measured, Options, html, responses, svg};
use punctual_scheduling::measured::{RecordedJob, RecordedOperation, RecordedTimeline};
use std::fmt::Write;

fn picture(name: &str, options: &Options) -> String {
    let (model, plan) = example(name);
    svg(&model, &plan, options)
}

fn count(picture: &str, part: &str) -> usize {
    picture.matches(part).count()
}

/// Checks that tags are closed in order, and that attributes and text have no stray characters.
fn check_well_formed(picture: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut parts = picture.split('<');
    assert_eq!(parts.next(), Some(""));
    for part in parts {
        let (tag, text) = part.split_once('>').unwrap();
        assert!(!text.contains('>'), "{part}");
        assert_eq!(count(tag, "\"") % 2, 0, "{tag}");
        let name = tag.split([' ', '/']).find(|name| !name.is_empty()).unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{part}");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        let entities = ["amp;", "lt;", "gt;", "quot;", "#39;"];
        for after in part.split('&').skip(1) {
            assert!(
                entities.iter().any(|entity| after.starts_with(entity)),
                "{part}"
            );
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// Writes a model of one processor with so many operations.
fn many(operations: usize) -> String {
    let mut text = "strategy = \"RMS\"\n".to_owned();
    for number in 0..operations {
        let table = format!("[operation.o{number}]\nwcet = \"1us\"\nperiod = \"1ms\"");
        writeln!(text, "{table}").unwrap();
    }
    text
}

#[test]
fn each_stream_has_a_row() {
    for (name, rows) in EXAMPLES.into_iter().zip([5, 4, 5]) {
        let picture = picture(name, &Options::default());
        check_well_formed(&picture);
        assert_eq!(count(&picture, "<g class=\"row\">"), rows, "{name}");
    }
}

#[test]
fn rows_are_grouped_by_processor() {
    let picture = picture("fits", &Options::default());
    assert_eq!(count(&picture, "class=\"group\""), 2);
    let place = |text: &str| picture.find(text).unwrap();
    let second = place(">station, processor 1, load");
    assert!(place(">station, processor 0, load") < second);
    assert!(place("<title>tracker.update</title>") < second);
    assert!(place("<title>log.write</title>") > second);
}

#[test]
fn missed_deadlines_are_marked() {
    let options = Options {
        window: Some(Time::from_millis(200)),
        ..Options::default()
    };
    let overloaded = picture("overloaded", &options);
    assert!(overloaded.contains("Does not fit: 1 of 4 streams may miss its deadline."));
    // One in the legend.
    assert!(count(&overloaded, "class=\"mark\"") > 1);
    assert!(overloaded.contains("deadline at 70ms: missed"));
    let fits = picture("fits", &options);
    assert!(fits.contains("Fits: every job ends by its deadline."));
    assert_eq!(count(&fits, "class=\"mark\""), 0);
}

#[test]
fn the_window_contains_the_first_job_of_each_row() {
    let options = Options {
        operations: vec!["log.write".to_owned()],
        ..Options::default()
    };
    let picture = picture("overloaded", &options);
    // The period is its hyperperiod.
    assert!(picture.contains("log.write, job 1\nreleased at 0s\nends at 80ms"));
    assert!(picture.contains(">100ms</text>"));
}

#[test]
fn a_filter_chooses_rows() {
    let chosen = Options {
        operations: vec!["display.refresh".to_owned(), "log.write".to_owned()],
        ..Options::default()
    };
    let picture = picture("fits", &chosen);
    assert_eq!(count(&picture, "<g class=\"row\">"), 2);
    assert!(!picture.contains("radar.read"));
}

#[test]
fn of_a_large_plan_the_first_rows_are_drawn() {
    let (model, plan) = planned("many", &many(MOST_ROWS + 2));
    let picture = svg(&model, &plan, &Options::default());
    assert_eq!(count(&picture, "<g class=\"row\">"), MOST_ROWS);
    assert!(picture.contains("2 more rows are not drawn"));
}

#[test]
fn names_are_escaped() {
    let text = "strategy = \"EDF\"\n[operation.\"a<b>&'\"]\nwcet = \"1ms\"\nperiod = \"2ms\"";
    let (model, plan) = planned("names", text);
    let options = Options::default();
    let picture = svg(&model, &plan, &options);
    check_well_formed(&picture);
    assert!(picture.contains("a&lt;b&gt;&amp;&#39;"));
    assert!(!html(&model, &plan, &options).contains("a<b"));
}

#[test]
fn a_picture_without_rows_is_well_formed() {
    let (model, plan) = example("fits");
    let options = Options {
        operations: vec!["none".to_owned()],
        ..Options::default()
    };
    check_well_formed(&svg(&model, &plan, &options));
}

#[test]
fn the_page_contains_the_picture_and_loads_nothing() {
    let (model, plan) = example("two_hosts");
    let options = Options::default();
    let page = html(&model, &plan, &options);
    assert!(page.contains(&svg(&model, &plan, &options)));
    assert!(!page.contains("src=") && !page.contains("href=") && !page.contains("@import"));
    assert_eq!(count(&page, "http"), 1 + count(&page, "http-equiv"));
}

fn measured(longest: u64, computed: Option<u64>) -> Measured {
    Measured {
        operation: "radar.<read>".to_owned(),
        jobs: 3,
        missed: 0,
        longest: Time::from_millis(longest),
        computed: computed.map(Time::from_millis),
        deadline: Time::from_millis(10),
        class: Time::from_millis(1),
        counts: vec![0, 2, 0, 1],
    }
}

/// Returns a time line with these jobs of an operation: reading, begin and end in microseconds.
fn ran(operation: &str, jobs: impl Iterator<Item = [u64; 3]>) -> RecordedTimeline {
    let jobs = jobs.map(|times| {
        let [read, begin, end] = times.map(Time::from_micros);
        RecordedJob { read, begin, end }
    });
    RecordedTimeline {
        operations: vec![RecordedOperation {
            name: operation.to_owned(),
            jobs: jobs.collect(),
        }],
        ..RecordedTimeline::default()
    }
}

#[test]
fn measured_responses_stand_beside_the_computed_bound() {
    let svg = responses("Run", "a note", &[measured(4, Some(5))]);
    for text in [
        "Run",
        "a note",
        "radar.&lt;read&gt;",
        ">3<",
        ">4ms<",
        ">5ms<",
        ">10ms<",
    ] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    // Two classes have jobs, and one rectangle is the legend's.
    assert_eq!(svg.matches("class=\"run c0\"").count(), 3);
    assert_eq!(svg.matches("class=\"over\"").count(), 0);
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
}

#[test]
fn responses_beyond_the_bound_are_marked_and_many_operations_are_cut() {
    let late = responses("Run", "", &[measured(6, Some(5)), measured(6, None)]);
    assert_eq!(late.matches("class=\"over\"").count(), 2);
    let many = vec![measured(4, Some(5)); 45];
    let svg = responses("Run", "", &many);
    assert_eq!(svg.matches("<g class=\"row\">").count(), 40);
    assert!(svg.contains("5 more operations are not drawn"));
    // Nothing that was measured is no fault.
    let none = Measured {
        deadline: Time::ZERO,
        counts: Vec::new(),
        ..measured(0, None)
    };
    assert!(!responses("Run", "", &[none]).contains("NaN"));
}

#[test]
fn what_ran_is_drawn_below_the_plan_with_its_missed_deadlines() {
    let (model, plan) = planned(
        "ran",
        "strategy = 'RMS'\n[operation.one]\nwcet = '1ms'\nperiod = '10ms'\ndeadline = '4ms'",
    );
    let jobs = [[90_000, 90_500, 91_000], [101_000, 101_100, 107_000]];
    let options = Options {
        window: Some(Time::from_millis(30)),
        ran: Some(ran("one", jobs.into_iter())),
        ..Options::default()
    };
    let picture = svg(&model, &plan, &options);
    check_well_formed(&picture);
    assert_eq!(count(&picture, ">what ran<"), 1);
    assert_eq!(count(&picture, "one, recorded job"), 2);
    // Two bars and the legend's; the second job's part behind its deadline.
    assert_eq!(count(&picture, "class=\"ran c0\""), 3);
    assert_eq!(count(&picture, "class=\"ran late\""), 1);
    assert!(picture.contains("read at 11ms\nwaited 100us, response 6ms\ndeadline 4ms: missed"));
    assert!(!svg(&model, &plan, &Options::default()).contains("class=\"ran"));
}

#[test]
fn no_recorded_time_breaks_a_picture_and_very_many_jobs_are_cut() {
    let (model, plan) = planned(
        "ran",
        "strategy = 'RMS'\n[operation.one]\nwcet = '1us'\nperiod = '10ms'",
    );
    let wrong = [[5, 3, 1], [0, u64::MAX, 0], [u64::MAX, u64::MAX, u64::MAX]];
    let many = (0..5_000).map(|number| [number, number, number + 1]);
    for jobs in [wrong.to_vec(), many.collect()] {
        let is_long = jobs.len() > 3;
        let options = Options {
            window: Some(Time::from_millis(10)),
            ran: Some(ran("one", jobs.into_iter())),
            ..Options::default()
        };
        let picture = svg(&model, &plan, &options);
        check_well_formed(&picture);
        assert!(count(&picture, "one, recorded job ") <= 2_000);
        assert_eq!(picture.contains("very many recorded jobs"), is_long);
    }
}
