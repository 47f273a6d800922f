//! Interfaces with inheritance, one of them abstract, whose servants answer later.

use super::related::family::{
    Bottom, BottomAmhServant, BottomAsyncServant, BottomServant, DescribedAmhServant,
    DescribedAsyncServant, LeftAmhServant, LeftAsyncServant, Refused, RightAmhServant,
    RightAsyncServant, RootAmhServant, RootAsyncServant, RootOfRootError,
};
use super::support::watchdog;
use super::{over_wire, tcp};
use punctual::asynchronous::{Amh, Async};
use punctual::policy::Collocation;
use punctual::{Implements, Orb, Response, RootPoa, SystemException};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

#[derive(Default)]
struct All(AtomicI32);

impl RootAmhServant for All {
    fn state(&self, response: Response<i32>) {
        response.reply(self.0.load(Ordering::Relaxed)).unwrap();
    }

    fn set_state(&self, response: Response<()>, value: i32) {
        self.0.store(value, Ordering::Relaxed);
        response.reply(()).unwrap();
    }

    fn of_root(&self, response: Response<i32, RootOfRootError>, n: i32) {
        match n {
            0 => response.raise(Refused { why: "none".into() }).unwrap(),
            n => response.reply(n + 1).unwrap(),
        }
    }
}

impl LeftAmhServant for All {
    fn of_left(&self, response: Response<i32>, n: i32) {
        response.reply(n + 2).unwrap();
    }
}

impl DescribedAmhServant for All {
    fn description(&self, response: Response<String>) {
        response.reply("all".into()).unwrap();
    }
}

impl RightAmhServant for All {
    fn of_right(&self, response: Response<i32>, n: i32) {
        response.reply(n + 3).unwrap();
    }
}

impl BottomAmhServant for All {
    fn of_bottom(&self, response: Response<i32>, n: i32) {
        response.reply(n + 4).unwrap();
    }
}

#[derive(Default)]
struct ByFutures(AtomicI32);

impl RootAsyncServant for ByFutures {
    async fn state(&self) -> Result<i32, SystemException> {
        Ok(self.0.load(Ordering::Relaxed))
    }

    async fn set_state(&self, value: i32) -> Result<(), SystemException> {
        self.0.store(value, Ordering::Relaxed);
        Ok(())
    }

    async fn of_root(&self, n: i32) -> Result<i32, RootOfRootError> {
        match n {
            0 => Err(Refused { why: "none".into() }.into()),
            n => Ok(n + 1),
        }
    }
}

impl LeftAsyncServant for ByFutures {
    async fn of_left(&self, n: i32) -> Result<i32, SystemException> {
        Ok(n + 2)
    }
}

impl DescribedAsyncServant for ByFutures {
    async fn description(&self) -> Result<String, SystemException> {
        Ok("all".into())
    }
}

impl RightAsyncServant for ByFutures {
    async fn of_right(&self, n: i32) -> Result<i32, SystemException> {
        Ok(n + 3)
    }
}

impl BottomAsyncServant for ByFutures {
    async fn of_bottom(&self, n: i32) -> Result<i32, SystemException> {
        Ok(n + 4)
    }
}

fn answers_for_all<S>(servant: impl FnOnce(&Orb) -> S)
where
    Bottom: Implements<S>,
{
    let server = Orb::builder().listen(tcp()).build().unwrap();
    let client = Orb::builder().configure(|config| config.collocation = Collocation::None);
    let client = client.build().unwrap();
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let here: Bottom = poa.activate(servant(&server)).unwrap();
    let there = over_wire(&server, &client, &here);
    for bottom in [here, there] {
        bottom.set_state(6).unwrap();
        assert_eq!(bottom.state().unwrap(), 6);
        assert_eq!(bottom.of_root(1).unwrap(), 2);
        let refused = bottom.of_root(0).unwrap_err();
        assert!(matches!(refused, RootOfRootError::Refused(_)), "{refused}");
        assert_eq!(bottom.of_left(1).unwrap(), 3);
        assert_eq!(bottom.of_right(1).unwrap(), 4);
        assert_eq!(bottom.description().unwrap(), "all");
        assert_eq!(bottom.of_bottom(1).unwrap(), 5);
    }
    client.shutdown(true).unwrap();
    server.shutdown(true).unwrap();
}

#[test]
fn what_is_inherited_is_answered_later_too() {
    let _watchdog = watchdog(Duration::from_secs(60));
    answers_for_all(|_| Amh::new(All::default()));
    answers_for_all(|orb| Async::on(orb.clone(), ByFutures::default()));
}

/// Checks that the blocking adapter of a servant that answers later implements the ordinary servant
/// trait.
#[test]
fn a_servant_that_answers_later_stands_for_one_that_answers_at_once() {
    fn assert_servant<S: BottomServant>(_: &S) {}
    assert_servant(&Amh::new(All::default()).blocking());
}
