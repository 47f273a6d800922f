//! Tests of what mends a plan, in the keys of the model.

use super::{model, planned};
use punctual_scheduling::Time;
use punctual_scheduling::plan::{Mend, Mends, Verdict, plan};
use punctual_scheduling::strategy::{Edf, Rms};

/// Returns the execution time of the first change of an operation that mends a model.
fn wcet(text: &str, operation: &str) -> Option<Time> {
    let mends = planned(&model(text)).mends();
    let mut changes = mends.iter().flat_map(|mends| &mends.changes);
    changes.find(|one| one.operation == operation)?.wcet
}

#[test]
fn the_execution_time_is_that_without_operations_called_in_the_same_thread() {
    let text = r#"
        [operation.caller]
        wcet = "6ms"
        period = "40ms"
        deadline = "10ms"
        calls = [{ operation = "callee", times = 2 }]
        [operation.callee]
        wcet = "3ms"
    "#;
    assert_eq!(wcet(text, "caller"), Some(Time::from_millis(4)));
    assert!(planned(&model(&text.replace("6ms", "4ms"))).fits());
    // The callee takes all of the time.
    assert_eq!(wcet(&text.replace("3ms", "5ms"), "caller"), None);
}

#[test]
fn the_execution_time_is_that_of_one_job_of_a_release() {
    let text = r#"
        strategy = "DMS"
        [operation.source]
        wcet = "1ms"
        period = "40ms"
        deadline = "9ms"
        calls = [{ operation = "called", times = 4, kind = "one-way" }]
        [operation.called]
        wcet = "3ms"
        deadline = "10ms"
    "#;
    // 1 of jitter, and 1 by the source: four jobs have 8.
    assert_eq!(wcet(text, "called"), Some(Time::from_millis(2)));
    assert!(planned(&model(&text.replace("3ms", "2ms"))).fits());
}

/// Returns the changes of operations that a plan anew confirms, as `name.key at value`.
fn confirmed(text: &str) -> Vec<String> {
    let model = model(text);
    let mends = planned(&model).confirmed_mends(&model, &Rms);
    let changes = mends.iter().flat_map(|mends| &mends.changes);
    let keys = changes.flat_map(|one| {
        let name = &one.operation;
        let wcet = one.wcet.map(|wcet| format!("{name}.wcet at {wcet}"));
        let period = one
            .period
            .map(|period| format!("{name}.period at {period}"));
        [wcet, period].into_iter().flatten()
    });
    keys.collect()
}

#[test]
fn a_processor_under_edf_has_the_mends_of_its_demand() {
    let text = r#"
        strategy = "EDF"
        [operation.a]
        wcet = "4ms"
        period = "10ms"
        deadline = "6ms"
        [operation.b]
        wcet = "4ms"
        period = "12ms"
        deadline = "7ms"
        [operation.c]
        wcet = "1ms"
        period = "40ms"
    "#;
    let model = model(text);
    let before = plan(&model, &Edf).unwrap();
    let all = before.confirmed_mends(&model, &Edf);
    // 8 are to be done within 7: one less of either. No period changes that.
    let changes = |mends: &Mends| {
        let changes = mends.changes.iter();
        let of = |one: &Mend| (one.operation.clone(), one.wcet, one.period);
        changes.map(of).collect::<Vec<_>>()
    };
    let three = Some(Time::from_millis(3));
    let expected = ["a", "b"].map(|name| (name.to_owned(), three, None));
    assert_eq!(all.iter().map(changes).collect::<Vec<_>>(), [expected]);
    assert_eq!(all[0].scale, Some(0.875));
    // As the load is above 1, only longer periods or shorter times of some do.
    let text = text
        .replace("deadline = \"6ms\"", "")
        .replace("12ms", "6ms");
    let text = text.replace("deadline = \"7ms\"", "");
    let model = super::model(&text);
    let before = plan(&model, &Edf).unwrap();
    assert_eq!(before.streams[1].verdict, Verdict::Misses);
    let all = before.confirmed_mends(&model, &Edf);
    let periods = all[0].changes.iter().filter_map(|one| one.period);
    // 4/6 and 1/40 leave 37/120 for the 4 of a, and 23/40 for those of b.
    let exact = [4.0 * 120.0 / 37.0, 4.0 * 40.0 / 23.0];
    let found = periods.map(|period| period.as_nanos() as f64 / 1e6);
    for (found, exact) in found.zip(exact) {
        assert!((found - exact).abs() < 1e-5, "{found} {exact}");
    }
    assert_eq!(all[0].changes.len(), 2);
}

#[test]
fn no_more_than_a_thousand_operations_are_searched() {
    let mut text = "[host.one]\nprocessors = 3\n".to_owned();
    for number in 0..1_200 {
        let processor = number / 400;
        text += &format!("[operation.o{number}]\nwcet = \"1ms\"\nperiod = \"100ms\"\n");
        text += &format!("host = \"one\"\nprocessor = {processor}\n");
    }
    let mends = planned(&model(&text)).mends();
    let searched: Vec<usize> = mends.iter().map(|mends| mends.processor).collect();
    assert_eq!(searched, [0, 1]);
}

const LATE: &str = r#"
    mutexes = ["m"]
    [operation.fast]
    wcet = "6ms"
    period = "20ms"
    [operation.slow]
    wcet = "10ms"
    period = "50ms"
    deadline = "15ms"
"#;

#[test]
fn changes_are_confirmed_by_a_plan_with_them() {
    let all = ["fast.wcet at 5ms", "slow.wcet at 9ms"];
    assert_eq!(confirmed(LATE), all);
}

#[test]
fn a_period_that_changes_priorities_mends_only_if_it_does_so_with_those() {
    let text = r#"
        [operation.fast]
        wcet = "6ms"
        period = "10ms"
        deadline = "12ms"
        [operation.middle]
        wcet = "7ms"
        period = "20ms"
        [operation.slow]
        wcet = "20ms"
        period = "100ms"
        deadline = "45ms"
    "#;
    // 20 own, 14 of the middle, one job of 6.
    let period = planned(&model(text)).mends()[0].changes[0].period;
    assert_eq!(period, Some(Time::from_millis(40)));
    // Then the middle one comes first, and the fast one ends after 13.
    assert!(
        !confirmed(text)
            .iter()
            .any(|one| one.starts_with("fast.period"))
    );
    let text = text.replace("12ms", "13ms");
    assert!(confirmed(&text).contains(&"fast.period at 40ms".to_owned()));
}

#[test]
fn a_deadline_that_the_model_states_does_not_move_with_the_period() {
    let text = |deadline: &str| {
        format!(
            "[operation.one]\nwcet = '4ms'\nperiod = '10ms'\n{deadline}\n\
             [operation.other]\nwcet = '8ms'\nperiod = '30ms'\npreemption = 'none'"
        )
    };
    assert_eq!(
        confirmed(&text("")),
        ["one.wcet at 2.000001ms", "one.period at 11.999999ms"]
    );
    assert_eq!(
        confirmed(&text("deadline = '10ms'")),
        ["one.wcet at 2.000001ms"]
    );
}

#[test]
fn an_execution_time_is_not_shorter_than_a_section() {
    let locks = |time: &str| {
        let locks = format!("locks = [{{ mutex = 'm', time = '{time}' }}]");
        confirmed(&format!("{LATE}{locks}"))
    };
    assert_eq!(locks("9ms"), ["fast.wcet at 5ms", "slow.wcet at 9ms"]);
    assert_eq!(locks("9.5ms"), ["fast.wcet at 5ms"]);
}

#[test]
fn a_factor_shortens_no_message() {
    let text = |message: &str| {
        let text = format!(
            "[host.here]\n[host.there]\n\
             [[message]]\nfrom = 'here'\nto = 'there'\ntime = '{message}'\n\
             [operation.caller]\nhost = 'here'\nwcet = '6ms'\nperiod = '20ms'\ncalls = [{{ operation = 'called' }}]\n\
             [operation.called]\nhost = 'there'\nwcet = '2ms'"
        );
        let model = model(&text);
        planned(&model).confirmed_mends(&model, &Rms)
    };
    // 6 own, 2 of the called one, and 14 of messages: ten elevenths of all would do, but not of the 6 alone.
    assert_eq!(text("7ms")[0].scale, None);
    assert_eq!(text("10ms")[0].scale, None);
}
