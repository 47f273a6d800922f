//! Typed events: calls of suppliers reach the objects of consumers as they were made.

use punctual::stub::{ByteOrder, Encoder, GiopVersion, Marshal};
use punctual::{Any, Interface, TypeCode, Typed};
use punctual_cosevent::cos_event_comm::PushConsumer;

use crate::peers::Sink;
use crate::plant::{Alarms, Beats};
use crate::support::{Program, Served, until};
use crate::typed::{
    Panel, Station, alarms, call_in, channel, consumers, entrance, memo, notes, obtained, panel,
    reading, served, suppliers, supplies,
};

#[test]
fn calls_of_a_supplier_reach_the_objects_of_all_consumers_in_their_order() {
    let (served, program) = (served(), Program::new());
    let panels = [panel(&served, &program), panel(&served, &program)];
    let supplier = alarms(&served, &program);
    let origin = supplier.as_object().clone();
    let history = [reading("t2"), reading("t3")];
    supplier
        .raised(3, &reading("t1"), &history, Some(&origin))
        .unwrap();
    supplier.cleared("t1", "все").unwrap();
    supplier.silence().unwrap();
    supplier.beat(7).unwrap();
    for (_, panel, station) in &panels {
        assert_eq!(
            panel.wait_for(4),
            [
                "raised 3 t1 1.5 High [\"t2\", \"t3\"]",
                "cleared t1 все",
                "silence",
                "beat 7"
            ]
        );
        let origins = panel.origins();
        assert_eq!(origins[0].type_id(), Alarms::REPOSITORY_ID);
        assert_eq!(origins[0].object_key(), origin.object_key());
        assert_eq!(station.asked(), 1, "the object is asked for once");
    }
    assert_eq!(served.metric("received_total"), 4);
    until(|| served.metric("pushed_total") == 8);
}

#[test]
fn values_arrive_as_what_they_are_and_with_what_they_share() {
    let (served, program) = (served(), Program::new());
    let (panel, supplier) = notes(&served, &program);
    supplier.noted(Some(&memo()), Some(&memo())).unwrap();
    let note = memo();
    supplier.noted(Some(&note), Some(&note)).unwrap();
    assert_eq!(
        panel.wait_for(2),
        ["noted 3 one one", "noted 3 one changed"]
    );
}

#[test]
fn consumers_get_what_their_interface_declares_or_inherits() {
    let (served, program) = (served(), Program::new());
    let (_, whole, _) = panel(&served, &program);
    // A consumer of the base alone, whose object has more.
    let base = Panel::default();
    let object: Alarms = program.object(base.clone());
    let proxy = obtained(&served, &program, Beats::REPOSITORY_ID);
    let consumer = Station::of(object.as_object()).connectable(&program);
    proxy.connect_push_consumer(Some(&consumer)).unwrap();
    let supplier = alarms(&served, &program);
    let beats: Beats = entrance(&supplies(&served, &program, Beats::REPOSITORY_ID));
    supplier.silence().unwrap();
    supplier.beat(1).unwrap();
    beats.beat(2).unwrap();
    assert_eq!(whole.wait_for(3), ["silence", "beat 1", "beat 2"]);
    assert_eq!(base.wait_for(2), ["beat 1", "beat 2"]);
    assert!(supplier.as_object().is_a(Beats::REPOSITORY_ID).unwrap());
    until(|| served.metric("pushed_total") == 5);
}

/// Writes the arguments of `raised`.
fn raised(out: &mut Encoder<'_>) {
    out.put_u8(9);
    reading("t1").marshal(out).unwrap();
    vec![reading("t2")].marshal(out).unwrap();
    // A reference that is nil.
    "".marshal(out).unwrap();
    out.put_u32(0);
}

#[test]
fn arguments_arrive_from_both_byte_orders_and_in_another_version_of_giop() {
    let (served, program, old) = (served(), Program::new(), Program::with(GiopVersion::V1_0));
    let (_, new_panel, _) = panel(&served, &program);
    let (_, old_panel, _) = panel(&served, &old);
    let supplier = alarms(&served, &program);
    let place = place(&served);
    for (round, order) in [ByteOrder::Big, ByteOrder::Little].into_iter().enumerate() {
        let status = call_in(order, &supplier, &place, "raised", raised);
        assert_eq!(status, 0, "no exception");
        for panel in [&new_panel, &old_panel] {
            let calls = panel.wait_for(round + 1);
            assert_eq!(calls[round], "raised 9 t1 1.5 High [\"t2\"]");
        }
    }
}

fn place(served: &Served) -> String {
    let place = served.orb.endpoints()[0].to_string();
    place.trim_start_matches("iiop://").to_owned()
}

#[test]
fn arguments_that_are_cut_short_are_refused_and_the_channel_goes_on() {
    let (served, program) = (served(), Program::new());
    let (_, panel, _) = panel(&served, &program);
    let supplier = alarms(&served, &program);
    let place = place(&served);
    let cut = |out: &mut Encoder<'_>| out.put_u32(1_000_000);
    for operation in ["raised", "cleared"] {
        let status = call_in(ByteOrder::Little, &supplier, &place, operation, cut);
        assert_eq!(status, 2, "a system exception");
    }
    let unknown = call_in(ByteOrder::Little, &supplier, &place, "melted", cut);
    assert_eq!(unknown, 2, "a system exception");
    supplier.silence().unwrap();
    assert_eq!(panel.wait_for(1), ["silence"]);
    assert_eq!(served.metric("received_total"), 1);
}

#[test]
fn untyped_consumers_of_a_typed_channel_get_structs() {
    let (served, program) = (served(), Program::new());
    let sink = Sink::default();
    let admin = consumers(&served, &program);
    let proxy = admin.obtain_push_supplier().unwrap().unwrap();
    let object: PushConsumer = program.object(sink.clone());
    proxy.connect_push_consumer(Some(&object)).unwrap();
    let pulls = admin.obtain_pull_supplier().unwrap().unwrap();
    pulls.connect_pull_consumer(None).unwrap();
    alarms(&served, &program).cleared("t1", "well").unwrap();
    until(|| !sink.received().is_empty());
    for event in [&sink.received()[0], &pulls.pull().unwrap()] {
        let type_code = event.type_code();
        let id = "IDL:punctual.test/plant/Alarms/cleared:1.0";
        assert_eq!((type_code.id(), type_code.name()), (Ok(id), Ok("cleared")));
        assert_eq!(type_code.member_name(1), Ok("remark"));
        assert!(event.to_string().contains("t1"), "{event}");
    }
}

/// Returns an event that has the form of the call of an operation.
fn call<T: Typed + Marshal>(operation: &str, number: &T) -> Any {
    let id = format!("IDL:punctual.test/plant/Beats/{operation}:1.0");
    let type_code = TypeCode::structure(&id, operation, &[("number", T::type_code())]);
    Any::with_type(&type_code, number).unwrap()
}

#[test]
fn structs_of_untyped_suppliers_are_calls_if_they_have_the_members_of_the_operation() {
    let (served, program) = (served(), Program::new());
    let (_, panel, _) = panel(&served, &program);
    let pushes = suppliers(&served, &program).obtain_push_consumer();
    let pushes = pushes.unwrap().unwrap();
    pushes.connect_push_supplier(None).unwrap();
    pushes.push(&call("beat", &1.5_f64)).unwrap();
    pushes.push(&call("beats", &1_u32)).unwrap();
    pushes.push(&Any::new("a text").unwrap()).unwrap();
    pushes.push(&call("beat", &2_u32)).unwrap();
    let typed = supplies(&served, &program, Beats::REPOSITORY_ID);
    typed.push(&call("beat", &3_u32)).unwrap();
    assert_eq!(panel.wait_for(2), ["beat 2", "beat 3"]);
    assert_eq!(served.metric("received_total"), 5);
}

#[test]
fn the_typed_channel_and_the_default_one_share_no_events() {
    let (served, program) = (served(), Program::new());
    let pulls = program.pulls_from(&served.channel);
    let (_, panel, _) = panel(&served, &program);
    alarms(&served, &program).beat(1).unwrap();
    assert_eq!(panel.wait_for(1), ["beat 1"]);
    assert!(!pulls.try_pull().unwrap().1);
    let type_id = channel(&served, &program).as_object().type_id().to_owned();
    assert_eq!(
        type_id,
        "IDL:omg.org/CosTypedEventChannelAdmin/TypedEventChannel:1.0"
    );
}
