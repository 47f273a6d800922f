//! A real-time object request broker: the facade that applications depend on
