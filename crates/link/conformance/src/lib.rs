//! One suite that every link passes
