//! Tests of plans: of the examples, and of models with faults.

mod examples;
