//! The names of data sets.

use crate::BenchError;

/// A data set that can be generated from its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// `kron-N`: Kronecker of scale N, 16 edges per vertex.
    Kronecker { scale: u32 },
    /// `sparse-N`: R-MAT of scale N, 6 edges per vertex, less skewed.
    Sparse { scale: u32 },
    /// `uniform-VERTICESxDEGREE`: every vertex has exactly this number of neighbors.
    Uniform { vertices: u32, degree: u32 },
}

impl Name {
    /// Parses `name`; `None` if it has none of the forms.
    pub(crate) fn parse(name: &str) -> Result<Option<Name>, BenchError> {
        let impossible = |problem| BenchError::ImpossibleDataSet { name: name.to_owned(), problem };
        let scale = |digits: &str| match digits.parse() {
            Ok(scale) if (4..=26).contains(&scale) => Ok(scale),
            _ => Err(impossible("the scale must be a number from 4 to 26")),
        };
        if let Some(digits) = name.strip_prefix("kron-").filter(|rest| is_number(rest)) {
            return Ok(Some(Name::Kronecker { scale: scale(digits)? }));
        }
        if let Some(digits) = name.strip_prefix("sparse-").filter(|rest| is_number(rest)) {
            return Ok(Some(Name::Sparse { scale: scale(digits)? }));
        }
        let sizes = name.strip_prefix("uniform-").and_then(|rest| rest.split_once('x'));
        let Some((vertices, degree)) = sizes.filter(|(one, other)| is_number(one) && is_number(other)) else {
            return Ok(None);
        };
        let (vertices, degree) = match (vertices.parse::<u32>(), degree.parse::<u32>()) {
            (Ok(vertices), Ok(degree)) if vertices < u32::MAX => (vertices, degree),
            _ => return Err(impossible("vertices and degree must be numbers below 2^32 - 1")),
        };
        if degree == 0 || degree >= vertices {
            return Err(impossible("the degree must be at least 1 and below the number of vertices"));
        }
        if degree % 2 == 1 && vertices % 2 == 1 {
            return Err(impossible("one of vertices and degree must be even, or some edge has only one end"));
        }
        Ok(Some(Name::Uniform { vertices, degree }))
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_made() {
        let parse = |name| Name::parse(name).unwrap();
        assert_eq!(parse("kron-20"), Some(Name::Kronecker { scale: 20 }));
        assert_eq!(parse("sparse-21"), Some(Name::Sparse { scale: 21 }));
        assert_eq!(parse("uniform-1000x8"), Some(Name::Uniform { vertices: 1000, degree: 8 }));
        for file in ["kron", "kron-x", "kron-20.el", "uniform-10", "graph.txt", "", "uniform-ax3"] {
            assert_eq!(parse(file), None, "{file}");
        }
    }

    #[test]
    fn sizes_that_cannot_be_are_refused() {
        for name in [
            "kron-3",
            "kron-27",
            "sparse-99999999999",
            "uniform-5x0",
            "uniform-5x5",
            "uniform-5x3",
            "uniform-4294967295x2",
            "uniform-99999999999x2",
        ] {
            let error = Name::parse(name).unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
