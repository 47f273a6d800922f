//! Tests of threads, adapters and objects that are scheduled by names of a plan.

use crate::setting::idl::rehearsal::Operation;
use crate::setting::{Observer, PLANT, any_schedule, fifo, ordinary, server};
use punctual::rt::{Mapping, Priority};
use punctual::{Interface, ObjectId, RootPoa};
use punctual_scheduling_runtime::{ClientScheduler, ScheduleError, ServerScheduler};
use punctual_sys::{clock, processor, scheduling};

#[test]
fn a_thread_has_the_priority_of_the_activity_that_it_is_scheduled_as() {
    let schedule = any_schedule(PLANT);
    let rt = ordinary(&schedule);
    let client = ClientScheduler::new(&rt, &schedule, &["sensor.read", "log"]).unwrap();
    for name in ["log", "sensor.read"] {
        client.schedule_activity(name).unwrap();
        let planned = schedule.activity(name).unwrap().priority();
        assert_eq!(rt.current().the_priority().unwrap(), planned);
    }
}

#[test]
fn a_program_that_names_an_activity_that_is_not_planned_does_not_start() {
    let schedule = any_schedule(PLANT);
    let rt = ordinary(&schedule);
    let refused = ClientScheduler::new(&rt, &schedule, &["log", "lgo"]).unwrap_err();
    assert!(
        matches!(refused, ScheduleError::UnknownName(_)),
        "{refused}"
    );
    let orb = server(&rt, &schedule);
    let refused = ServerScheduler::new(&rt, &orb, &schedule, &["stoer"]).unwrap_err();
    assert!(
        refused.to_string().contains("did you mean `store`?"),
        "{refused}"
    );
    orb.shutdown(true).unwrap();
}

#[test]
fn requests_are_served_at_the_priority_of_their_operation_also_from_within_the_process() {
    let schedule = any_schedule(PLANT);
    let rt = ordinary(&schedule);
    let orb = server(&rt, &schedule);
    let scheduler = ServerScheduler::new(&rt, &orb, &schedule, &["store", "log"]).unwrap();
    let root = orb.root_poa().unwrap();
    let manager = Some(root.manager());
    let poa = scheduler
        .create_poa(&root, "plant", manager, &[], &["store", "log"])
        .unwrap();
    for name in ["store", "log"] {
        let current = rt.clone();
        let (observer, seen) = Observer::new(move |_| {
            (
                current.current().the_priority().unwrap(),
                std::thread::current().id(),
            )
        });
        let object: Operation = poa.schedule_object(observer, name).unwrap();
        object.run(0).unwrap();
        let (priority, thread) = seen.recv().unwrap();
        assert_eq!(priority, schedule.activity(name).unwrap().priority());
        assert_ne!(thread, std::thread::current().id());
    }
    let refused = poa.schedule_reference::<Operation>(&ObjectId::from("a"), "sensor.read");
    let refused = refused.unwrap_err();
    assert!(refused.to_string().contains("adapter `plant`"), "{refused}");
    orb.shutdown(true).unwrap();
}

#[test]
fn operations_that_cannot_share_threads_are_refused_with_the_reason() {
    let schedule = any_schedule(PLANT);
    let rt = ordinary(&schedule);
    let orb = server(&rt, &schedule);
    let scheduler = ServerScheduler::new(&rt, &orb, &schedule, &[]).unwrap();
    let root = orb.root_poa().unwrap();
    let create = |operations: &[&str]| {
        let created = scheduler.create_poa(&root, "plant", None, &[], operations);
        created.map(drop).unwrap_err().to_string()
    };
    assert_eq!(
        create(&["store", "display.draw"]),
        "operations `store` and `display.draw` need an adapter each: they are dispatched in different orders"
    );
    assert_eq!(
        create(&[]),
        "an adapter serves one operation of the plan at least"
    );
    orb.shutdown(true).unwrap();
}

#[test]
fn periodic_threads_execute_a_job_at_each_release_until_they_are_stopped() {
    let schedule = any_schedule(PLANT);
    let rt = ordinary(&schedule);
    let client = ClientScheduler::new(&rt, &schedule, &[]).unwrap();
    let (sender, jobs) = std::sync::mpsc::channel();
    let start = clock::nanos();
    let thread = client
        .start_periodic("log", start, move |job| {
            let _ = sender.send((job, clock::nanos()));
        })
        .unwrap();
    let mut before = None;
    for number in 0..3 {
        let (job, at) = jobs.recv().unwrap();
        assert_eq!(job.number, number);
        assert!(at >= job.release, "a job begins at its release, not before");
        assert_eq!(job.deadline - job.release, 20_000_000);
        assert_eq!((job.release - start) % 20_000_000, 0);
        assert!(before.is_none_or(|before| before < job.release));
        before = Some(job.release);
    }
    thread.set_period(None);
    let executed = thread.stop();
    assert!(executed.jobs >= 3);
    assert!(executed.longest_response >= executed.longest_delay);
    let refused = client.start_periodic("store", start, |_| ()).unwrap_err();
    assert!(matches!(refused, ScheduleError::NotASource(_)), "{refused}");
}

#[test]
fn threads_of_a_plan_run_by_fifo_on_their_processor() {
    let schedule = any_schedule(PLANT);
    let Some(rt) = fifo(&schedule, Mapping::Linear) else {
        return;
    };
    let orb = server(&rt, &schedule);
    let scheduler = ServerScheduler::new(&rt, &orb, &schedule, &[]).unwrap();
    let root = orb.root_poa().unwrap();
    let manager = Some(root.manager());
    let poa = scheduler
        .create_poa(&root, "plant", manager, &[], &["store"])
        .unwrap();
    let (observer, seen) =
        Observer::new(|_| (scheduling::own().unwrap(), processor::allowed().unwrap()));
    let first = processor::allowed().unwrap()[0];
    let object: Operation = poa.schedule_object(observer, "store").unwrap();
    object.run(0).unwrap();
    let (native, processors) = seen.recv().unwrap();
    let native_of = |priority: Priority| rt.priority_mapping().to_native(priority).unwrap();
    let priority = native_of(schedule.activity("store").unwrap().priority());
    assert_eq!(native, scheduling::Scheduling::Fifo { priority });
    assert_eq!(processors, [first]);
    let client = ClientScheduler::new(&rt, &schedule, &[]).unwrap();
    let priority = native_of(schedule.activity("log").unwrap().priority());
    let thread = std::thread::spawn(move || {
        client.schedule_activity("log").unwrap();
        (scheduling::own().unwrap(), processor::allowed().unwrap())
    });
    let expected = (scheduling::Scheduling::Fifo { priority }, vec![first]);
    assert_eq!(thread.join().unwrap(), expected);
    orb.shutdown(true).unwrap();
}

#[test]
fn a_distributable_thread_takes_its_parameter_from_the_plan() {
    let schedule =
        any_schedule("strategy = 'EDF'\n[operation.fast]\nwcet = '2ms'\nperiod = '20ms'");
    let rt = ordinary(&schedule);
    let client = ClientScheduler::new(&rt, &schedule, &["fast"]).unwrap();
    client.begin_segment("fast").unwrap();
    let current = rt.scheduling();
    assert_eq!(current.current_scheduling_segment_names(), ["fast"]);
    let parameter = current.scheduling_parameter().unwrap();
    assert_eq!(parameter, client.scheduling_parameter("fast").unwrap());
    current.end_scheduling_segment("fast").unwrap();
    assert!(client.begin_segment("slow").is_err());
}

#[test]
fn releases_that_have_passed_are_not_made_up_for() {
    let schedule = any_schedule(PLANT);
    let rt = ordinary(&schedule);
    let client = ClientScheduler::new(&rt, &schedule, &[]).unwrap();
    let (sender, jobs) = std::sync::mpsc::channel();
    let started = clock::nanos();
    // A start long ago.
    let thread = client.start_periodic("log", 0, move |job| {
        let _ = sender.send(job);
    });
    let thread = thread.unwrap();
    let first = jobs.recv().unwrap();
    assert!(first.release >= started);
    assert_eq!(first.release % 20_000_000, 0);
    thread.set_period(None);
    let executed = thread.stop();
    assert!(executed.jobs >= 1);
}

#[test]
fn a_request_that_comes_while_the_thread_is_in_an_upcall_waits() {
    let schedule = any_schedule(PLANT);
    let rt = ordinary(&schedule);
    let orb = server(&rt, &schedule);
    let scheduler = ServerScheduler::new(&rt, &orb, &schedule, &["store"]).unwrap();
    let root = orb.root_poa().unwrap();
    let manager = Some(root.manager());
    let poa = scheduler
        .create_poa(&root, "plant", manager, &[], &["store"])
        .unwrap();
    let (open, gate) = std::sync::mpsc::channel::<()>();
    let gate = std::sync::Mutex::new(gate);
    let (observer, seen) = Observer::new(move |number| {
        if number == 1 {
            gate.lock().unwrap().recv().unwrap();
        }
        number
    });
    let object: Operation = poa.schedule_object(observer, "store").unwrap();
    object.run(1).unwrap();
    // Two clients, each with a connection of its own: the reserve of a pool would refuse the second one's request.
    let clients = [(); 2].map(|()| schedule.extend(&rt, punctual::Orb::builder()));
    let clients = clients.map(|builder| builder.unwrap().build().unwrap());
    let text = orb.object_to_string(object.as_object()).unwrap();
    for (number, client) in (2..).zip(&clients) {
        let object = client.string_to_object(&text).unwrap();
        let none = punctual::Policy::Collocation(punctual::policy::Collocation::None);
        let object = object.set_policy_overrides(&[none], punctual::SetOverride::Add);
        Operation::from_object(object.unwrap()).run(number).unwrap();
    }
    // Longer than a reserve thread waits before it refuses.
    clock::sleep_until(clock::nanos() + 100_000_000);
    open.send(()).unwrap();
    // A request that is refused never comes.
    let comes = || seen.recv_timeout(std::time::Duration::from_secs(60)).ok();
    let mut served: Vec<_> = std::iter::from_fn(comes).take(3).collect();
    served.sort_unstable();
    assert_eq!(served, [1, 2, 3]);
    for client in clients {
        client.shutdown(true).unwrap();
    }
    orb.shutdown(true).unwrap();
}

#[test]
fn a_thread_that_is_pinned_starts_others_on_the_processors_of_the_plan() {
    let schedule = any_schedule(PLANT);
    let Some(rt) = fifo(&schedule, Mapping::Linear) else {
        return;
    };
    let all = processor::allowed().unwrap();
    let [first, .., last] = all[..] else {
        return println!("skipped: there is one processor");
    };
    let pinned = std::thread::spawn(move || {
        punctual::rt::Processors::of(&[last])
            .unwrap()
            .pin_own()
            .unwrap();
        let client = ClientScheduler::new(&rt, &schedule, &[]).unwrap();
        let (sender, seen) = std::sync::mpsc::channel();
        let thread = client.start_periodic("log", clock::nanos(), move |_| {
            let _ = sender.send(processor::allowed().unwrap());
        });
        let seen = seen.recv().unwrap();
        let _ = thread.unwrap().stop();
        seen
    });
    assert_eq!(pinned.join().unwrap(), [first]);
}

#[test]
fn a_preparation_that_panics_is_an_error() {
    let schedule = any_schedule(PLANT);
    let rt = ordinary(&schedule);
    let client = ClientScheduler::new(&rt, &schedule, &[]).unwrap();
    let refused = client.start_prepared("log", 0, || panic!("on purpose"), |_| ());
    let refused = refused.unwrap_err();
    assert!(
        matches!(refused, ScheduleError::NotPrepared(_)),
        "{refused}"
    );
}
