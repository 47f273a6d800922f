//! Properties for any constraint and event.

use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use punctual_constraint::{ConstraintSet, Failure, Grammar, Limits};

use crate::random::{Dice, whole};
use crate::reference;
use crate::support::{Unstructured, compile};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn a_compiled_constraint_gives_what_the_recursive_evaluation_gives(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let event = dice.event();
        let decoded = whole(&event);
        let within_an_any = Unstructured(decoded.clone());
        for _ in 0..8 {
            let expression = dice.expression(4, true);
            let text = expression.to_string();
            let constraint = compile(&text).unwrap();
            let wanted = reference::evaluate(&expression, &decoded);
            prop_assert_eq!(&constraint.evaluate(&event), &wanted, "{} over {:?}", text, event);
            prop_assert_eq!(&constraint.evaluate(&within_an_any), &wanted, "in an Any: {}", text);
        }
    }

    #[test]
    fn what_is_shown_of_a_constraint_is_the_same_constraint(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let event = dice.event();
        let constraint = compile(&dice.expression(5, true).to_string()).unwrap();
        let again = compile(&constraint.to_string()).unwrap();
        prop_assert_eq!(again.to_string(), constraint.to_string());
        prop_assert_eq!(again.evaluate(&event), constraint.evaluate(&event));
        prop_assert_eq!(again.keys(), constraint.keys());
    }

    #[test]
    fn keys_hold_wherever_a_constraint_is_true(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let event = dice.event();
        let constraint = compile(&dice.expression(4, true).to_string()).unwrap();
        if constraint.matches(&event) {
            for key in constraint.keys() {
                let equality = compile(&format!("{} == {}", key.field(), key.value())).unwrap();
                prop_assert!(equality.matches(&event), "{} of {}", equality, constraint);
            }
        }
    }

    #[test]
    fn any_text_is_compiled_or_has_a_mistake_within_it(text in "[ $.()\\[\\]'a-c0-9+*/<=>!~_-]{0,40}|(\\PC){0,20}") {
        for grammar in [Grammar::ExtendedTcl, Grammar::Tcl] {
            match punctual_constraint::Constraint::compile(grammar, &text, &Limits::DEFAULT) {
                Ok(constraint) => prop_assert!(!constraint.to_string().is_empty()),
                Err(mistake) => {
                    prop_assert!(mistake.span().end <= text.len());
                    prop_assert!(!mistake.render(false).is_empty());
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn a_set_finds_what_trying_all_finds(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let mut set = ConstraintSet::new();
        let mut all = Vec::new();
        for _ in 0..60 {
            let constraint = compile(&dice.expression(3, true).to_string()).unwrap();
            let id = set.insert(constraint.clone(), constraint.to_string());
            all.push((id, constraint));
        }
        for _ in 0..20 {
            let (id, _) = all.swap_remove(dice.below(all.len()));
            prop_assert!(set.remove(id).is_some());
        }
        prop_assert_eq!(set.len(), all.len());
        for _ in 0..4 {
            let event = dice.event();
            let mut found = Vec::new();
            set.for_each_match(&event, |id, _| found.push(id));
            found.sort_unstable();
            let tried = all.iter().filter(|(_, constraint)| constraint.matches(&event));
            let mut wanted: Vec<_> = tried.map(|(id, _)| *id).collect();
            wanted.sort_unstable();
            let missed = wanted.iter().find(|id| !found.contains(id)).and_then(|id| set.get(*id));
            prop_assert_eq!(found, wanted, "{:?} for {:?}", missed, event);
        }
    }
}

#[test]
fn random_constraints_are_true_false_and_not_to_be_evaluated() {
    let mut seen = [0; 4];
    for seed in 0..3_000u64 {
        let mut dice = Dice::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let event = dice.event();
        let constraint = compile(&dice.expression(3, true).to_string()).unwrap();
        let place = match constraint.evaluate(&event) {
            Ok(true) => 0,
            Ok(false) => 1,
            Err(Failure::Absent) => 2,
            Err(_) => 3,
        };
        seen[place] += 1;
    }
    assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
}
