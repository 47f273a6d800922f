//! Tests of shared memory: with defaults; with the smallest ring, no pool, no spinning and no
//! trust; for a reactor; and with a common pool.
#![allow(missing_docs)]

use punctual_link::Address;
use punctual_link::shmiop::{NAME, ShmOptions, Shmiop, Trust};

punctual_link_conformance::conformance!(Shmiop::default(), Address::new(NAME, ""));

mod least {
    use super::{Address, NAME, ShmOptions, Shmiop, Trust};
    use std::time::Duration;

    fn link() -> Shmiop {
        Shmiop::new(ShmOptions {
            ring: 4096,
            pool: 0,
            spin: Some(Duration::ZERO),
            trust: Trust::Never,
            ..ShmOptions::default()
        })
    }

    punctual_link_conformance::conformance!(link(), Address::new(NAME, ""));
}

mod for_a_reactor {
    use super::{Address, NAME, ShmOptions, Shmiop};

    fn link() -> Shmiop {
        Shmiop::new(ShmOptions {
            descriptor: true,
            ..ShmOptions::default()
        })
    }

    punctual_link_conformance::conformance!(link(), Address::new(NAME, ""));
}

mod with_a_common_pool {
    use super::{Address, NAME, ShmOptions, Shmiop};

    fn link() -> Shmiop {
        Shmiop::new(ShmOptions {
            common_pool: 1 << 20,
            ..ShmOptions::default()
        })
    }

    punctual_link_conformance::conformance!(link(), Address::new(NAME, ""));
}
