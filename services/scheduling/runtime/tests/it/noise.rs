//! Tests of the measurement of what the platform takes.

use punctual_scheduling_runtime::noise::{NoiseOptions, measure};
use punctual_scheduling_runtime::{NoiseError, Time};
use std::ops::ControlFlow;

fn options(windows: &[u64]) -> NoiseOptions {
    NoiseOptions {
        windows: windows.iter().copied().map(Time::from_millis).collect(),
        ..NoiseOptions::new(Time::from_millis(1))
    }
}

fn refused(options: &NoiseOptions) -> NoiseError {
    measure(options, |_| ControlFlow::Break(())).unwrap_err()
}

#[test]
fn a_cycle_gives_the_sums_of_all_windows() {
    let mut calls = 0;
    let noise = measure(&options(&[1, 50, 500]), |_| {
        calls += 1;
        ControlFlow::Break(())
    });
    let noise = noise.unwrap();
    assert_eq!((calls, noise.watched), (1, Time::from_millis(900)));
    assert!(noise.longest <= noise.taken && noise.taken <= noise.watched);
    let mut before = Time::ZERO;
    for window in &noise.windows {
        let least = noise.longest.min(window.every);
        assert!(
            least <= window.most && window.most <= window.every,
            "{noise:?}"
        );
        assert!(before <= window.most, "{noise:?}");
        before = window.most;
    }
}

#[test]
fn options_out_of_their_ranges_are_refused_by_name() {
    assert!(refused(&options(&[501])).to_string().contains("501ms"));
    assert!(refused(&options(&[0])).to_string().contains("0s"));
    let fine = NoiseOptions {
        threshold: Time::from_nanos(999),
        ..options(&[1])
    };
    assert!(refused(&fine).to_string().contains("999ns"));
    let short = NoiseOptions {
        time: std::time::Duration::ZERO,
        ..options(&[1])
    };
    assert!(matches!(refused(&short), NoiseError::NoTime));
    let far = NoiseOptions {
        processor: Some(4095),
        ..options(&[1])
    };
    assert!(matches!(
        refused(&far),
        NoiseError::Processor { wanted: 4095, .. }
    ));
    let urgent = NoiseOptions {
        priority: 100,
        ..options(&[1])
    };
    assert!(matches!(refused(&urgent), NoiseError::Refused(_)));
}
