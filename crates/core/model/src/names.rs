//! Names of the variants of small enums, for printing, parsing and serialization.

/// An unknown name of an enum's variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} {name:?}: expected {expected}")]
pub struct UnknownName {
    what: &'static str,
    name: String,
    expected: String,
}

impl UnknownName {
    /// The error for a `name` of `what` that is not one of the `expected` names.
    #[must_use]
    pub fn new(what: &'static str, name: &str, expected: &[&str]) -> Self {
        let expected = match expected {
            [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
            names => names.concat(),
        };
        UnknownName { what, name: name.to_owned(), expected }
    }
}

/// Gives each variant of an enum a name: implements `name`, `Display`, `FromStr`, and with the
/// feature `serde` of the calling crate `Serialize` and `Deserialize`.
#[doc(hidden)]
#[macro_export]
macro_rules! names {
    ($type:ident, $what:literal: $($variant:ident => $name:literal),+ $(,)?) => {
        impl $type {
            /// The name for users, which is printed and parsed.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> Result<Self, $crate::UnknownName> {
                match name {
                    $($name => Ok($type::$variant),)+
                    _ => Err($crate::UnknownName::new($what, name, &[$($name),+])),
                }
            }
        }

        $crate::serde_by_name!($type);
    };
}

/// With the feature `serde` of the calling crate, serializes a type as its `name` and deserializes
/// it by `FromStr`.
#[doc(hidden)]
#[macro_export]
macro_rules! serde_by_name {
    ($type:ident) => {
        #[cfg(feature = "serde")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::{ColumnType, Direction, KeyKind, Topology, ValueType};
    use std::fmt::{Debug, Display};
    use std::str::FromStr;

    fn round_trip<T: Display + FromStr<Err: Debug> + PartialEq + Debug>(values: &[T]) {
        for value in values {
            assert_eq!(value.to_string().parse::<T>().as_ref().unwrap(), value);
        }
    }

    #[test]
    fn what_is_printed_is_parsed() {
        round_trip(&[KeyKind::Number, KeyKind::String, KeyKind::Dense]);
        round_trip(&[Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected]);
        round_trip(&[Direction::Out, Direction::In]);
        round_trip(&ValueType::ALL);
        round_trip(&[ColumnType::Unit, ColumnType::U32, ColumnType::F64, ColumnType::Record]);
    }

    #[test]
    fn an_unknown_name_is_refused_with_those_that_there_are() {
        let error = "numbers".parse::<KeyKind>().unwrap_err();
        assert_eq!(error.to_string(), "there is no kind of keys \"numbers\": expected number, text or dense");
    }
}
