//! Examples of the Notification Service's specification (formal/04-10-11, §2.4).

use crate::support::{
    Structured, any, evaluate, event, fails, holds, simple, structure, structure_type,
};
use punctual_any::{Any, TypeBuilder, TypeKind, Value};
use punctual_constraint::Failure;

fn alarm(event_name: &str) -> Structured {
    Structured::of_type("Telecom", "CommunicationsAlarm", event_name)
}

#[test]
fn communications_alarms_but_no_lost_packets() {
    let text = "$type_name == 'CommunicationsAlarm' and not ($event_name == 'lost_packet')";
    holds(text, &alarm("link_down"));
    assert_eq!(evaluate(text, &alarm("lost_packet")), Ok(false));
    assert_eq!(
        evaluate(text, &Structured::of_type("Telecom", "Other", "x")),
        Ok(false)
    );
}

#[test]
fn alarms_of_priorities_from_1_to_5() {
    let text = "$type_name == 'CommunicationsAlarm' and $priority >= 1 and $priority <= 5";
    for (priority, is_wanted) in [(0, false), (1, true), (5, true), (6, false)] {
        let alarm = alarm("x").with_header("priority", &priority);
        assert_eq!(evaluate(text, &alarm), Ok(is_wanted), "{priority}");
    }
    fails(text, &alarm("x"), Failure::Absent);
}

#[test]
fn movies_with_at_least_three_marx_brothers() {
    let text = "$type_name == 'MOVIE' and (('groucho' in $.starlist) + ('chico' in $.starlist) + \
        ('harpo' in $.starlist) + ('zeppo' in $.starlist) + ('gummo' in $.starlist)) > 2";
    let movie = |stars: &[&str]| {
        let stars: Vec<String> = stars.iter().map(ToString::to_string).collect();
        Structured::of_type("Film", "MOVIE", "x").with("starlist", &stars)
    };
    holds(text, &movie(&["harpo", "margaret", "chico", "groucho"]));
    assert_eq!(evaluate(text, &movie(&["harpo", "groucho"])), Ok(false));
}

#[test]
fn students_with_three_tests_and_an_average_of_80() {
    let text =
        "$.test._length == 3 and ($.test[0].score + $.test[1].score + $.test[2].score) / 3 >= 80";
    let test = structure_type("Test", [("score", &simple(TypeKind::Long))].into_iter());
    let student = |scores: &[i32]| {
        let mut types = TypeBuilder::default();
        let element = types.include(&test);
        let list = types.sequence(element, 0);
        let root = types.structure("IDL:Student:1.0", "Student", |_| vec![("test", list)]);
        Any::written(&types.finish(root), |out| {
            out.put_u32(u32::try_from(scores.len()).unwrap());
            scores.iter().for_each(|score| out.put_i32(*score));
            Ok(())
        })
    };
    let of = |scores: &[i32]| crate::support::Unstructured(student(scores).unwrap());
    holds(text, &of(&[80, 90, 70]));
    assert_eq!(evaluate(text, &of(&[80, 80, 79])), Ok(false));
    assert_eq!(evaluate(text, &of(&[100, 100])), Ok(false));
}

#[test]
fn processes_beyond_a_threshold_of_use() {
    let text = "$.memsize / 5.5 + $.cputime * 1275.0 + $.filesize * 1.25 > 500000.0";
    let process = |cputime| {
        crate::support::Unstructured(structure(
            "Process",
            &[
                ("memsize", simple(TypeKind::ULong), Value::ULong(55_000)),
                ("cputime", simple(TypeKind::Double), Value::Double(cputime)),
                (
                    "filesize",
                    simple(TypeKind::ULongLong),
                    Value::ULongLong(80_000),
                ),
            ],
        ))
    };
    holds(text, &process(400.0));
    assert_eq!(evaluate(text, &process(10.0)), Ok(false));
}

#[test]
fn structured_events_only() {
    let text = "$._repos_id == 'IDL:omg.org/CosNotification/StructuredEvent:1.0'";
    holds(text, &Structured::default());
    holds("$._type_id == 'StructuredEvent'", &Structured::default());
    fails(text, &event(&5i32), Failure::Absent);
}

#[test]
fn events_that_state_the_rights_they_need() {
    let text = "exist $.header.variable_header(required_rights)";
    let rights = vec!["admin".to_owned()];
    holds(
        text,
        &Structured::default().with_header("required_rights", &rights),
    );
    assert_eq!(evaluate(text, &Structured::default()), Ok(false));
}

#[test]
fn an_unstructured_event_is_a_value() {
    holds("$ == 40", &event(&40i16));
    holds("$ > 39.5", &event(&40u64));
    assert_eq!(evaluate("$ == 40", &event(&41i32)), Ok(false));
    let nested = any(&any(&40i32));
    holds("$ == 40", &crate::support::Unstructured(nested));
}
