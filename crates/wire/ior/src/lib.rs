//! Interoperable object references: profiles, tagged components, corbaloc
