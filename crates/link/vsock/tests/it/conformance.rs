//! Conformance of the link, over the loopback.

use crate::support::absent;
use punctual_link::Address;
use punctual_vsock::{NAME, Vsock};

punctual_link_conformance::conformance!(
    stream: Vsock::default(), Address::new(NAME, "local:0"), unless absent()
);

mod from_anywhere {
    use super::{Address, NAME, Vsock, absent};

    punctual_link_conformance::conformance!(
        stream: Vsock::default(), Address::new(NAME, ""), unless absent()
    );
}
