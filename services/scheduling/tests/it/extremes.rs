//! Times at the ends of their range: no analysis panics, overflows or runs for long.

use punctual_scheduling::Time;
use punctual_scheduling::analysis::admission::{
    KernelShare, kernel, one_processor, several_processors,
};
use punctual_scheduling::analysis::blocking::{CriticalSection, Locking, Protocol, blocking};
use punctual_scheduling::analysis::bounds::bounds;
use punctual_scheduling::analysis::edf::{Banded, Sharing, bands, demand_test, responses};
use punctual_scheduling::analysis::fixed_priority::{self, Prioritized, explain};
use punctual_scheduling::analysis::supply::{Reservation, least_for_task};
use punctual_scheduling::analysis::{Preemption, Task};

use crate::simulation::Random;

const EXTREMES: [u64; 9] = [
    0,
    1,
    2,
    1_000,
    1_000_000,
    Time::LONGEST.as_nanos() - 1,
    Time::LONGEST.as_nanos(),
    Time::LONGEST.as_nanos() + 1,
    u64::MAX,
];

fn extreme(random: &mut Random) -> Time {
    Time::from_nanos(EXTREMES[random.within(0, 8) as usize])
}

fn task(random: &mut Random) -> Task {
    let mut task = Task::new(extreme(random), extreme(random)).with_deadline(extreme(random));
    if random.one_in(2) {
        task = task
            .with_jitter(extreme(random))
            .with_blocking(extreme(random));
    }
    let longest = extreme(random);
    let last = extreme(random);
    task.with_preemption(match random.within(1, 4) {
        1 => Preemption::None,
        2 => Preemption::Segments { longest, last },
        3 => Preemption::Floating { longest },
        _ => Preemption::Full,
    })
}

#[test]
fn no_analysis_fails_on_extreme_times() {
    let random = &mut Random::new(1);
    for _ in 0..60 {
        let count = random.within(1, 3);
        let tasks: Vec<Task> = (0..count).map(|_| task(random)).collect();
        let length = extreme(random);
        let sections = [CriticalSection { mutex: 0, length }];
        let mut prioritized = Vec::new();
        for task in &tasks {
            let priority = i32::try_from(random.within(1, 3)).unwrap();
            prioritized.push(Prioritized { task, priority });
        }
        let sharing = |task| Sharing {
            task,
            sections: &sections,
        };
        let shared: Vec<_> = tasks.iter().map(sharing).collect();
        let banded = prioritized.iter().map(|own| Banded {
            sharing: sharing(own.task),
            priority: own.priority,
        });
        let locking = prioritized.iter().map(|&prioritized| Locking {
            prioritized,
            sections: &sections,
        });
        let _ = bounds(&tasks.iter().collect::<Vec<_>>());
        let _ = fixed_priority::responses(&prioritized);
        let _ = explain(&prioritized, 0);
        let _ = blocking(&locking.collect::<Vec<_>>(), Protocol::Inheritance);
        let _ = demand_test(&shared);
        let _ = responses(&shared);
        let _ = bands(&banded.collect::<Vec<_>>());
        let _ = least_for_task(&tasks[0], extreme(random));
        let made = Reservation::new(extreme(random), extreme(random), extreme(random));
        if let Ok(reservation) = made {
            let _ = reservation.supply(extreme(random));
            let _ = reservation.time_for(extreme(random));
            let _ = reservation.responses(&prioritized);
            let _ = reservation.demand_test(&shared);
            let _ = kernel(&[reservation; 3], u32::MAX, KernelShare::default());
            let _ = several_processors(&[reservation; 3], u32::MAX);
            let _ = one_processor(&[reservation; 3]);
        }
    }
}
