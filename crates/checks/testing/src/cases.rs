//! The number of cases of property tests.

use proptest::prelude::ProptestConfig;

/// Returns the configuration of a property with slow cases: one in `divisor` of the usual number,
/// by default or by `PROPTEST_CASES`.
#[must_use]
pub fn one_case_in(divisor: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: (default.cases / divisor).max(1), ..default }
}
