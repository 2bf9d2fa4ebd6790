//! Measured figures.

/// Identifies a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Figure {
    pub(crate) workload: &'static str,
    pub(crate) engine: &'static str,
    pub(crate) threads: usize,
    pub(crate) metric: String,
    pub(crate) unit: &'static str,
}

/// One figure, measured several times.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) figure: Figure,
    pub(crate) values: Vec<f64>,
    /// The baseline of the figure, if the static graph has no such operation.
    pub(crate) baseline: Option<Baseline>,
}

/// The baseline of a figure, with the same number of repetitions.
#[derive(Clone, Debug)]
pub(crate) struct Baseline {
    pub(crate) what: &'static str,
    pub(crate) values: Vec<f64>,
}

/// All figures of a run, in the order in which they were first measured.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    series: Vec<Series>,
}

impl Samples {
    pub(crate) fn push(&mut self, figure: Figure, value: f64) {
        self.series_of(figure).values.push(value);
    }

    /// Adds a figure and its baseline from the same repetition.
    pub(crate) fn push_against(&mut self, figure: Figure, value: f64, what: &'static str, against: f64) {
        let series = self.series_of(figure);
        series.values.push(value);
        let baseline = series.baseline.get_or_insert_with(|| Baseline { what, values: Vec::new() });
        baseline.values.push(against);
    }

    fn series_of(&mut self, figure: Figure) -> &mut Series {
        let position = self.series.iter().position(|series| series.figure == figure);
        let position = position.unwrap_or_else(|| {
            self.series.push(Series { figure, values: Vec::new(), baseline: None });
            self.series.len() - 1
        });
        &mut self.series[position]
    }

    pub(crate) fn all(&self) -> &[Series] {
        &self.series
    }

    /// The series of an engine's figure with exactly this number of threads.
    pub(crate) fn find(&self, workload: &str, engine: &str, threads: usize, metric: &str) -> Option<&Series> {
        self.series.iter().find(|series| {
            let figure = &series.figure;
            (figure.workload, figure.engine, figure.threads) == (workload, engine, threads)
                && figure.metric == metric
        })
    }
}
