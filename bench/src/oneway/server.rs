//! Server process of `oneway`.

use super::Setup;
use super::idl::one_way::{Worker, WorkerServant};
use crate::Result;
use crate::peer::serve_until_the_end;
use punctual::{ListenEndpoint, Orb, RootPoa, SystemException};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

struct Prime {
    tests: u32,
    number: u32,
    served: AtomicU64,
}

impl Prime {
    fn work_on(&self, values: &[u8]) {
        black_box(values);
        for _ in 0..self.tests {
            black_box(is_prime(black_box(self.number)));
        }
        self.served.fetch_add(1, Ordering::Release);
    }
}

/// Returns whether a number is prime, by trial division.
fn is_prime(number: u32) -> bool {
    let small_enough = |divisor: &u32| divisor.saturating_mul(*divisor) <= number;
    let mut divisors = (2..).take_while(small_enough);
    number > 1 && divisors.all(|divisor| !number.is_multiple_of(divisor))
}

impl WorkerServant for Prime {
    fn work(&self, values: &[u8]) -> std::result::Result<(), SystemException> {
        self.work_on(values);
        Ok(())
    }

    fn work_and_reply(&self, values: &[u8]) -> std::result::Result<(), SystemException> {
        self.work_on(values);
        Ok(())
    }

    fn served(&self) -> std::result::Result<u64, SystemException> {
        Ok(self.served.load(Ordering::Acquire))
    }
}

/// Serves the benchmark's requests until the standard input ends.
pub(crate) fn serve(setup: &Setup) -> Result<()> {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()?;
    let poa = orb.root_poa()?;
    let worker: Worker = poa.activate(Prime {
        tests: setup.tests,
        number: setup.number,
        served: AtomicU64::new(0),
    })?;
    let reference = orb.object_to_string(&worker)?;
    poa.manager().activate()?;
    serve_until_the_end(reference)?;
    Ok(orb.shutdown(true)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_told_from_others() {
        let primes: Vec<u32> = (0..30).filter(|number| is_prime(*number)).collect();
        assert_eq!(primes, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
    }
}
