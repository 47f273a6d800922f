//! References: as octets, as `IOR:` text, as `corbaloc:`; each profile and component of them.

use punctual_cdr::{ByteOrder, Coding, Decoder, Unmarshal};
use punctual_ior::{Corbaloc, Ior, Profile};

/// Takes one input.
///
/// # Panics
/// If something is wrong with what the input does.
pub fn run(input: &[u8]) {
    let (how, octets) = crate::choice(input);
    match how % 3 {
        0 => {
            let order = ByteOrder::from_flag(how >> 2 & 1);
            let mut decoder = Decoder::new(octets, order, Coding::default());
            if let Ok(ior) = Ior::unmarshal(&mut decoder) {
                read(&ior);
            }
        }
        1 => {
            if let Ok(ior) = String::from_utf8_lossy(octets).parse::<Ior>() {
                read(&ior);
            }
        }
        _ => {
            if let Ok(corbaloc) = String::from_utf8_lossy(octets).parse::<Corbaloc>()
                && let Ok(Some(ior)) = corbaloc.to_ior()
            {
                read(&ior);
            }
        }
    }
}

fn read(ior: &Ior) {
    for tagged in &ior.profiles {
        let Ok(profile) = tagged.decode() else {
            continue;
        };
        let components = match &profile {
            Profile::Iiop(iiop) => &iiop.components[..],
            _ => &[],
        };
        for component in components {
            let _ = component.decode();
        }
    }
    for order in [ByteOrder::Big, ByteOrder::Little] {
        if let Ok(text) = ior.stringify(order) {
            assert_eq!(text.parse::<Ior>().as_ref(), Ok(ior));
        }
    }
}
