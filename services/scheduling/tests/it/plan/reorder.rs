//! Tests of plans by Audsley's search, and of the hint at it.

use super::{model, planned};
use crate::assignment::sets::{Random, count};
use punctual_scheduling::Time;
use punctual_scheduling::plan::{Verdict, plan};
use punctual_scheduling::strategy::{Dms, Opa};

/// Lehoczky's two tasks (1990), of which only the other order fits.
const LEHOCZKY: &str = r#"
    strategy = "RMS"
    [operation.a]
    wcet = "52ms"
    period = "100ms"
    deadline = "110ms"
    [operation.b]
    wcet = "52ms"
    period = "140ms"
    deadline = "154ms"
"#;

#[test]
fn a_plan_by_opa_fits_where_no_monotonic_order_does() {
    let responses = |strategy: &str| {
        let plan = planned(&model(&LEHOCZKY.replace("RMS", strategy)));
        let of = |name| plan.streams[plan.streams_of(name).next().unwrap()].response;
        (plan.fits(), of("a"), of("b"))
    };
    let millis = |time| Some(Time::from_millis(time));
    assert_eq!(responses("RMS"), (false, millis(52), millis(156)));
    assert_eq!(responses("OPA"), (true, millis(108), millis(52)));
}

#[test]
fn a_plan_that_does_not_fit_names_opa_if_that_would() {
    let other = |text: &str| {
        let model = model(text);
        planned(&model).other_order(&model)
    };
    for strategy in ["RMS", "DMS", "CRITICALITY"] {
        assert_eq!(other(&LEHOCZKY.replace("RMS", strategy)), Some("OPA"));
    }
    // It fits already; its levels dispatch by laxity; there is no order; the order was searched.
    assert_eq!(other(&LEHOCZKY.replace("154ms", "156ms")), None);
    let critical = "[operation.a]\ncriticality = \"high\"";
    let by_laxity = LEHOCZKY.replace("[operation.a]", critical);
    let by_laxity = by_laxity.replace("RMS", "MUF");
    assert!(!planned(&model(&by_laxity)).fits());
    assert_eq!(other(&by_laxity), None);
    assert_eq!(other(&LEHOCZKY.replace("110ms", "107ms")), None);
    assert_eq!(
        other(&LEHOCZKY.replace("RMS", "OPA").replace("110ms", "107ms")),
        None
    );
}

/// Below `b` and 2 ms of the platform in any 100, the second job of `a` ends after 214 ms, 114 after its release; alone,
/// the response is 108.
#[test]
fn the_search_knows_the_time_that_the_platform_takes() {
    let plan_with = |deadline: u64| {
        let text = LEHOCZKY.replace("110ms", &format!("{deadline}ms"));
        let host = "[host.localhost]\ninterference = { most = '2ms', every = '100ms' }\n";
        planned(&model(&(text.replace("RMS", "OPA") + host)))
    };
    let outcome = |deadline| {
        let plan = plan_with(deadline);
        let of = |name| {
            let stream = &plan.streams[plan.streams_of(name).next().unwrap()];
            (stream.level, stream.verdict)
        };
        (of("a"), of("b"))
    };
    let (first, second) = (Some(0), Some(1));
    let fitting = ((second, Verdict::Fits), (first, Verdict::Fits));
    assert_eq!(outcome(114), fitting);
    // No order fits: it is that of deadlines, in which `a` meets its own.
    let missing = ((first, Verdict::Fits), (second, Verdict::Misses));
    assert_eq!(outcome(113), missing);
}

/// Random sets with deadlines up to twice the periods, and segments.
#[test]
fn whatever_dms_fits_opa_fits_too_and_it_fits_more() {
    let mut random = Random::new(17);
    let (mut fitting, mut more) = (0, 0);
    for _ in 0..count() {
        let mut text = String::new();
        for name in ["a", "b", "c", "d"] {
            let period = random.within(10, 40);
            let deadline = random.within(period / 2, 2 * period);
            let wcet = random.within(1, (period / 3).min(deadline));
            let segment = random.within(1, wcet);
            text += &format!(
                "[operation.{name}]\nwcet = '{wcet}ms'\nperiod = '{period}ms'\ndeadline = '{deadline}ms'\n\
                 segments = {{ longest = '{segment}ms', last = '1ms' }}\n"
            );
        }
        let model = model(&text);
        let dms = plan(&model, &Dms).unwrap();
        let opa = plan(&model, &Opa).unwrap();
        assert!(opa.fits() || !dms.fits(), "{text}");
        assert_eq!(dms.other_order(&model).is_some(), opa.fits() && !dms.fits());
        fitting += u64::from(dms.fits());
        more += u64::from(opa.fits() && !dms.fits());
    }
    assert!(fitting > 0 && more > 0, "{fitting}, {more}");
}
