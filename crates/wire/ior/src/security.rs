//! Security options of a TLS endpoint: the `SSL_SEC_TRANS` component (SSLIOP of the CORBA Security
//! Service 1.8, §14.7).
//!
//! ```text
//! encapsulation { ushort target_supports; ushort target_requires; ushort port; }
//! ```

use std::fmt;

use punctual_cdr::{CdrError, Decoder, Encoder, Marshal, Unmarshal};

/// Options of a security association, as bits (`Security::AssociationOptions`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AssociationOptions(
    /// One bit for each option that is set; the constants of this type name the bits.
    pub u16,
);

impl AssociationOptions {
    /// Option NoProtection: messages are not protected.
    pub const NO_PROTECTION: Self = Self(1);
    /// Option Integrity: changes to the data are detected.
    pub const INTEGRITY: Self = Self(2);
    /// Option Confidentiality: other parties cannot read the data.
    pub const CONFIDENTIALITY: Self = Self(4);
    /// Option DetectReplay: repeated data is detected.
    pub const DETECT_REPLAY: Self = Self(8);
    /// Option DetectMisordering: data in the wrong order is detected.
    pub const DETECT_MISORDERING: Self = Self(16);
    /// Option EstablishTrustInTarget: the server is authenticated.
    pub const ESTABLISH_TRUST_IN_TARGET: Self = Self(32);
    /// Option EstablishTrustInClient: the client is authenticated.
    pub const ESTABLISH_TRUST_IN_CLIENT: Self = Self(64);
    /// Option NoDelegation: the rights of the client are not delegated.
    pub const NO_DELEGATION: Self = Self(128);
    /// Option SimpleDelegation: the rights of the client are passed on.
    pub const SIMPLE_DELEGATION: Self = Self(256);
    /// Composite delegation: the client's rights are passed on in addition to the server's.
    pub const COMPOSITE_DELEGATION: Self = Self(512);
    /// CSIv2 option IdentityAssertion: the client may assert the identity of another principal.
    pub const IDENTITY_ASSERTION: Self = Self(1024);
    /// CSIv2 option DelegationByClient: the client specifies the delegation of its rights.
    pub const DELEGATION_BY_CLIENT: Self = Self(2048);

    const NAMES: [(Self, &'static str); 12] = [
        (Self::NO_PROTECTION, "NoProtection"),
        (Self::INTEGRITY, "Integrity"),
        (Self::CONFIDENTIALITY, "Confidentiality"),
        (Self::DETECT_REPLAY, "DetectReplay"),
        (Self::DETECT_MISORDERING, "DetectMisordering"),
        (Self::ESTABLISH_TRUST_IN_TARGET, "EstablishTrustInTarget"),
        (Self::ESTABLISH_TRUST_IN_CLIENT, "EstablishTrustInClient"),
        (Self::NO_DELEGATION, "NoDelegation"),
        (Self::SIMPLE_DELEGATION, "SimpleDelegation"),
        (Self::COMPOSITE_DELEGATION, "CompositeDelegation"),
        (Self::IDENTITY_ASSERTION, "IdentityAssertion"),
        (Self::DELEGATION_BY_CLIENT, "DelegationByClient"),
    ];

    /// Returns the union of two sets of association options.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether the set contains all association options of `others`.
    #[must_use]
    pub const fn contain(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }
}

/// Shows the names, and unnamed bits as a number: `Integrity, Confidentiality, 0x8000`.
impl fmt::Display for AssociationOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        let mut separator = "";
        for (option, name) in Self::NAMES {
            if self.contain(option) {
                write!(f, "{separator}{name}")?;
                separator = ", ";
                rest &= !option.0;
            }
        }
        if rest != 0 || self.0 == 0 {
            write!(f, "{separator}{rest:#06x}")?;
        }
        Ok(())
    }
}

/// Options that a TLS endpoint supports and requires, and its port; the host is the profile's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SslSecTrans {
    /// Security association options that the target supports.
    pub target_supports: AssociationOptions,
    /// Security association options that the target requires.
    pub target_requires: AssociationOptions,
    /// TCP port of the TLS endpoint.
    pub port: u16,
}

impl Marshal for SslSecTrans {
    fn marshal(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        out.put_u16(self.target_supports.0);
        out.put_u16(self.target_requires.0);
        out.put_u16(self.port);
        Ok(())
    }
}

impl Unmarshal for SslSecTrans {
    const MIN_SIZE: usize = 6;

    fn unmarshal(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            target_supports: AssociationOptions(input.get_u16()?),
            target_requires: AssociationOptions(input.get_u16()?),
            port: input.get_u16()?,
        })
    }
}
