//! Constants of type `long double`.

/// Returns the binary128 of the same value (IEEE 754, §3.4); every f64 has one.
pub(crate) fn quadruple_bits(value: f64) -> u128 {
    const EXPONENT_DIFFERENCE: u128 = 16383 - 1023;
    let bits = value.to_bits();
    let sign = u128::from(bits >> 63) << 127;
    let exponent = u128::from((bits >> 52) & 0x7ff);
    let fraction = u128::from(bits & 0x000f_ffff_ffff_ffff);
    if exponent == 0 && fraction == 0 {
        return sign;
    }
    if exponent == 0 {
        // A subnormal: its leading 1 becomes the hidden one.
        let shift = u128::from(fraction.leading_zeros()) - (127 - 52);
        let normal = (fraction << shift) & 0x000f_ffff_ffff_ffff;
        return sign | ((EXPONENT_DIFFERENCE + 1 - shift) << 112) | (normal << 60);
    }
    sign | ((exponent + EXPONENT_DIFFERENCE) << 112) | (fraction << 60)
}

#[cfg(test)]
mod tests {
    use super::quadruple_bits;

    #[test]
    fn every_double_has_its_quadruple() {
        for (value, bits) in [
            (0.0, 0),
            (-0.0, 0x8000_0000_0000_0000_0000_0000_0000_0000),
            (1.0, 0x3fff_0000_0000_0000_0000_0000_0000_0000),
            (-1.5, 0xbfff_8000_0000_0000_0000_0000_0000_0000),
            (f64::MIN_POSITIVE, 0x3c01_0000_0000_0000_0000_0000_0000_0000),
            (5e-324, 0x3bcd_0000_0000_0000_0000_0000_0000_0000),
        ] {
            assert_eq!(quadruple_bits(value), bits, "{value:e}");
        }
    }
}
