//! Medians and ratios of samples.

/// The median, the minimum and the maximum of some samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Summary {
    /// Summarizes at least one sample, none of them NaN. The median of an even number of samples is
    /// the mean of the two in the middle.
    pub(crate) fn of(samples: &[f64]) -> Option<Summary> {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let upper = sorted[sorted.len() / 2];
        let lower = sorted[(sorted.len() - 1) / 2];
        Some(Summary { median: f64::midpoint(lower, upper), min, max })
    }
}

/// `value` over `reference`; `None` where that is meaningless.
pub(crate) fn ratio(value: f64, reference: f64) -> Option<f64> {
    let ratio = value / reference;
    ratio.is_finite().then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle_of_any_order() {
        let summary = |samples: &[f64]| Summary::of(samples).unwrap();
        assert_eq!(summary(&[3.0, 1.0, 2.0]), Summary { median: 2.0, min: 1.0, max: 3.0 });
        assert_eq!(summary(&[4.0, 1.0, 3.0, 2.0]).median, 2.5);
        assert_eq!(summary(&[7.0]), Summary { median: 7.0, min: 7.0, max: 7.0 });
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn a_ratio_over_nothing_is_none() {
        assert_eq!(ratio(3.0, 2.0), Some(1.5));
        assert_eq!(ratio(3.0, 0.0), None);
        assert_eq!(ratio(0.0, 0.0), None);
    }
}
