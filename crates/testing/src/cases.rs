//! How many cases property tests take.

use proptest::prelude::ProptestConfig;

/// For a property whose cases take long: one case in `divisor` of those that others take, by default or by `PROPTEST_CASES`.
#[must_use]
pub fn one_case_in(divisor: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: (default.cases / divisor).max(1), ..default }
}
