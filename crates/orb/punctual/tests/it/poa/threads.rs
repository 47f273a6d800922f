//! Threads that make upcalls.

use super::teller::policies::{MAIN_THREAD, SINGLE_THREAD};
use super::teller::{Teller, World, saying, telling};
use punctual::stub::Arc;
use punctual::{Poa, SystemExceptionKind as Kind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Barrier, Mutex, mpsc};
use std::thread;

/// Makes concurrent calls to objects of an adapter; returns the maximum number of upcalls at one
/// time.
fn most_at_once(world: &World, poa: &Poa) -> u32 {
    let (now, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let objects: Vec<Teller> = (0..4)
        .map(|_| {
            let (now, most) = (now.clone(), most.clone());
            let object: Teller = poa
                .activate(telling(move || {
                    let at_once = now.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(at_once, Ordering::SeqCst);
                    thread::yield_now();
                    now.fetch_sub(1, Ordering::SeqCst);
                    Ok(String::new())
                }))
                .unwrap();
            world.seen(&object)
        })
        .collect();
    thread::scope(|scope| {
        for object in &objects {
            scope.spawn(|| {
                for _ in 0..50 {
                    object.tell().unwrap();
                }
            });
        }
    });
    most.load(Ordering::SeqCst)
}

#[test]
fn a_single_threaded_adapter_makes_one_upcall_at_a_time() {
    let world = World::new();
    let poa = world.poa("A", &[SINGLE_THREAD]);
    assert_eq!(most_at_once(&world, &poa), 1);
}

#[test]
fn other_adapters_make_several_at_once() {
    let world = World::new();
    let poa = world.poa("A", &[]);
    // Passed by two at once or by none.
    let both = Arc::new(Barrier::new(2));
    let mine: Teller = poa
        .activate(telling(move || {
            both.wait();
            Ok("both".to_owned())
        }))
        .unwrap();
    let theirs = world.seen(&mine);
    thread::scope(|scope| {
        let calls = [(); 2].map(|()| scope.spawn(|| theirs.tell().unwrap()));
        let told = calls.map(|call| call.join().unwrap());
        assert_eq!(told, ["both", "both"]);
    });
}

#[test]
fn the_main_thread_makes_the_upcalls_that_are_its_own() {
    let world = World::new();
    let poa = world.poa("A", &[MAIN_THREAD]);
    let on: Teller = poa
        .activate(telling(|| Ok(format!("{:?}", thread::current().id()))))
        .unwrap();
    let free: Teller = world.root.activate(saying("free")).unwrap();
    let (theirs, free) = (world.seen(&on), world.seen(&free));
    thread::scope(|scope| {
        let early = scope.spawn(|| theirs.tell().unwrap());
        while !world.server.work_pending() {
            thread::yield_now();
        }
        // No other call has to wait for it, not even on the same connection.
        assert_eq!(free.tell().unwrap(), "free");
        let main = scope.spawn(|| world.server.run());
        let id = format!("{:?}", main.thread().id());
        assert_eq!(early.join().unwrap(), id);
        assert_eq!(theirs.tell().unwrap(), id);
        world.server.shutdown(true).unwrap();
        main.join().unwrap();
    });
}

#[test]
fn main_thread_upcalls_are_made_one_at_a_time() {
    let world = World::new();
    let poa = world.poa("A", &[MAIN_THREAD]);
    thread::scope(|scope| {
        let main = scope.spawn(|| world.server.run());
        assert_eq!(most_at_once(&world, &poa), 1);
        world.server.shutdown(true).unwrap();
        main.join().unwrap();
    });
}

#[test]
fn a_main_thread_with_other_things_to_do_asks_for_its_upcalls() {
    let world = World::new();
    let poa = world.poa("A", &[MAIN_THREAD]);
    let mine: Teller = poa.activate(saying("hello")).unwrap();
    let theirs = world.seen(&mine);
    assert_eq!(world.server.perform_work(), Ok(false));
    thread::scope(|scope| {
        let call = scope.spawn(|| theirs.tell().unwrap());
        while !world.server.work_pending() {
            thread::yield_now();
        }
        assert_eq!(world.server.perform_work(), Ok(true));
        assert_eq!(call.join().unwrap(), "hello");
    });
    world.server.shutdown(true).unwrap();
    assert_eq!(
        world.server.perform_work().unwrap_err().kind(),
        Kind::BadInvOrder
    );
}

#[test]
fn a_main_thread_upcall_that_panics_hurts_its_caller_alone() {
    let world = World::new();
    let poa = world.poa("A", &[MAIN_THREAD]);
    let bad: Teller = poa.activate(telling(|| panic!("on purpose"))).unwrap();
    let good: Teller = poa.activate(saying("hello")).unwrap();
    let (bad, good) = (world.seen(&bad), world.seen(&good));
    thread::scope(|scope| {
        let main = scope.spawn(|| world.server.run());
        assert_eq!(bad.fails(), Kind::Unknown);
        assert_eq!(good.tell().unwrap(), "hello");
        world.server.shutdown(true).unwrap();
        main.join().unwrap();
    });
}

#[test]
fn what_waits_for_the_main_thread_when_the_orb_ends_is_told() {
    let world = World::new();
    let poa = world.poa("A", &[MAIN_THREAD]);
    let mine: Teller = poa.activate(saying("hello")).unwrap();
    let theirs = world.seen(&mine);
    thread::scope(|scope| {
        let call = scope.spawn(|| theirs.fails());
        while !world.server.work_pending() {
            thread::yield_now();
        }
        world.server.shutdown(true).unwrap();
        assert_eq!(call.join().unwrap(), Kind::Transient);
    });
}

#[test]
fn an_upcall_of_a_single_threaded_adapter_may_call_the_adapter_itself() {
    let world = World::new();
    let poa = world.poa("A", &[SINGLE_THREAD]);
    let (sender, receiver) = mpsc::channel::<Poa>();
    let receiver = Mutex::new(receiver);
    let mine: Teller = poa
        .activate(telling(move || {
            // Queries to the adapter in an upcall do not wait for a turn.
            let poa = receiver.lock().unwrap().recv().unwrap();
            let other: Teller = poa.activate(saying("other")).unwrap();
            poa.deactivate(&other)?;
            Ok("done".to_owned())
        }))
        .unwrap();
    sender.send(poa).unwrap();
    assert_eq!(world.seen(&mine).tell().unwrap(), "done");
}
