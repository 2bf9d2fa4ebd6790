//! Filters against a naive evaluator over their expressions, and their messages.

use super::parser::{Content, Expression, Operand, parse};
use super::{Op, Schema, borrowed, order};
use crate::edges::layout::{Layout, Place, Row};
use hedgerow::{Error, Key, KeyKind, LabelId, Value, ValueRef, VertexId};
use hedgerow_encoding::encode_record;
use hedgerow_model::Record;
use proptest::prelude::*;
use std::cmp::Ordering;

const TIME: &str = "2026-01-31T12:00:00Z";
const MICROSECONDS: i64 = 1_769_860_800_000_000;

/// Two labels: `flag` differs in its place, and only the first has all others.
fn layouts() -> Vec<Layout> {
    let declared = [
        "pays:number=key+amount=f64+count=i64+huge=u64+note=string+flag=bool+at=timestamp+due date=timestamp",
        "sends:flag=bool+count=i64",
    ];
    let layout = |(label, text)| Layout::of(LabelId(label), &crate::stored::declared::label(text).unwrap());
    (0..).zip(declared).map(layout).collect()
}

fn find(key: &Key) -> Result<Option<VertexId>, crate::error::CliError> {
    Ok(if let Key::Number(number @ 0..9) = key { Some(VertexId::new(*number as u32)) } else { None })
}

/// Vertices have the keys 0 to 8, in this order.
fn key_of(vertex: VertexId) -> Result<Key, Error> {
    Ok(Key::Number(vertex.get().into()))
}

fn compiled(text: &str) -> Result<Vec<super::Test>, String> {
    let layouts = layouts();
    let schema = Schema { layouts: &layouts, keys: KeyKind::Number, find: &find };
    schema.compile(text).map_err(|error| error.to_string())
}

/// An edge by the names of its columns.
#[derive(Clone, Debug)]
struct Named {
    label: usize,
    ends: [u32; 2],
    number: u64,
    values: Vec<Value>,
}

impl Named {
    fn record(&self) -> Vec<u8> {
        encode_record(&Record::new(self.values.clone()))
    }

    fn get(&self, layouts: &[Layout], name: &str) -> Value {
        let layout = &layouts[self.label];
        match (layout.column(name), name) {
            (Some((Place::Number, _)), _) => Value::U64(self.number),
            (Some((Place::Field(position), _)), _) => self.values[position].clone(),
            (_, "source") => Value::U64(self.ends[0].into()),
            (_, "destination") => Value::U64(self.ends[1].into()),
            (_, "label") => Value::from(layout.name.as_str()),
            _ => Value::Null,
        }
    }

    /// Evaluates an expression from the ground up.
    fn satisfies(&self, expression: &Expression, layouts: &[Layout]) -> bool {
        let satisfies = |part: &Expression| self.satisfies(part, layouts);
        match expression {
            Expression::And(parts) => parts.iter().all(satisfies),
            Expression::Or(parts) => parts.iter().any(satisfies),
            Expression::Not(inner) => !satisfies(inner),
            Expression::Compare { left, op, right } => {
                let value = |operand: &Operand| match &operand.content {
                    Content::Name(name) => self.get(layouts, name),
                    Content::Literal(value) => value.clone(),
                };
                let is_null = |operand: &Operand| operand.content == Content::Literal(Value::Null);
                let (one, other) = (value(left), value(right));
                match (is_null(left) || is_null(right), op) {
                    (true, Op::Equal) => one == other,
                    (true, Op::NotEqual) => one != other,
                    (true, _) => false,
                    (false, op) => satisfies_op(*op, &one, &other),
                }
            }
        }
    }
}

/// Compares by a representation in which values of one type are ordered.
fn satisfies_op(op: Op, one: &Value, other: &Value) -> bool {
    let (Some(one), Some(other)) = (comparable(one, other), comparable(other, one)) else { return false };
    match op {
        Op::Equal => one == other,
        Op::NotEqual => one != other,
        Op::Less => one < other,
        Op::AtMost => one <= other,
        Op::Greater => one > other,
        Op::AtLeast => one >= other,
    }
}

/// Numbers are doubled, because the fractions of this test are halves; text next to a time is one.
fn comparable(value: &Value, other: &Value) -> Option<(i128, String)> {
    Some(match (value, other) {
        (Value::Null | Value::Bytes(_), _) => return None,
        (Value::Bool(truth), _) => (i128::from(*truth), String::new()),
        (Value::I64(number), Value::Timestamp(_)) => (i128::from(*number), String::new()),
        (Value::I64(number), _) => (2 * i128::from(*number), String::new()),
        (Value::U64(number), _) => (2 * i128::from(*number), String::new()),
        (Value::F64(number), _) => ((2.0 * number) as i128, String::new()),
        (Value::String(_), Value::Timestamp(_)) => (MICROSECONDS.into(), String::new()),
        (Value::Timestamp(time), _) => (i128::from(*time), String::new()),
        (Value::String(text), _) => (0, text.to_string()),
    })
}

fn number() -> impl Strategy<Value = Value> {
    let near = prop_oneof![-3..4_i64, Just(i64::MAX), Just(i64::MIN), Just((1 << 53) + 1)];
    prop_oneof![
        near.prop_map(Value::I64),
        prop_oneof![Just(u64::MAX), Just(1 << 63), 0..3_u64].prop_map(Value::U64),
        (-6..7_i32).prop_map(|halves| Value::F64(f64::from(halves) / 2.0)),
        prop_oneof![Just(9_007_199_254_740_992.0), Just(9_223_372_036_854_775_808.0), Just(1e300)]
            .prop_map(Value::F64),
    ]
}

fn text() -> impl Strategy<Value = Value> {
    prop_oneof![Just(""), Just("a"), Just("it's"), Just("say \"a\""), Just("ü")].prop_map(Value::from)
}

fn time() -> impl Strategy<Value = i64> {
    prop_oneof![Just(MICROSECONDS), Just(MICROSECONDS - 1), -1..2_i64]
}

/// Null at times.
fn nullable(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop_oneof![1 => Just(Value::Null), 3 => value]
}

fn edge() -> impl Strategy<Value = Named> {
    // A number that the type cannot hold is null.
    let as_value = |number: Option<Value>| number.unwrap_or(Value::Null);
    let whole = || number().prop_map(move |number| as_value(number.as_i64().map(Value::I64)));
    let huge = number().prop_map(move |number| as_value(number.as_u64().map(Value::U64)));
    let float = number().prop_map(move |number| as_value(number.as_f64().map(Value::F64)));
    let flag = || nullable(any::<bool>().prop_map(Value::Bool));
    let times = || nullable(time().prop_map(Value::Timestamp));
    let pays =
        (nullable(float), nullable(whole()), nullable(huge), nullable(text()), flag(), times(), times());
    let pays = pays.prop_map(|(amount, count, huge, note, flag, at, due)| {
        (0, vec![amount, count, huge, note, flag, at, due])
    });
    let sends = (flag(), nullable(whole())).prop_map(|(flag, count)| (1, vec![flag, count]));
    (prop_oneof![pays, sends], [0..9_u32, 0..9_u32], 0..4_u64)
        .prop_map(|((label, values), ends, number)| Named { label, ends, number, values })
}

/// A comparison as text; of the right types.
fn comparison() -> impl Strategy<Value = String> {
    let op = || prop::sample::select(vec!["=", "==", "!=", "<>", "<", "<=", ">", ">="]);
    let literal = |value: Value| match value {
        Value::String(text) if text.contains('\'') => format!("\"{text}\""),
        Value::String(text) => format!("'{text}'"),
        Value::F64(float) => format!("{float:?}"),
        Value::I64(number) => number.to_string(),
        Value::U64(number) => number.to_string(),
        other => panic!("{other:?}"),
    };
    let numeric = || prop::sample::select(vec!["amount", "count", "huge", "number"]);
    let numbers = (numeric(), number().prop_map(literal));
    let columns = (numeric(), numeric().prop_map(str::to_owned));
    let texts = (Just("note"), text().prop_map(literal));
    let flags = (Just("flag"), any::<bool>().prop_map(|truth| truth.to_string()));
    let times = prop_oneof![time().prop_map(|time| time.to_string()), Just(format!("'{TIME}'"))];
    let times = (prop_oneof![Just("at"), Just("`due date`")], times);
    let ends =
        (prop_oneof![Just("source"), Just("destination")], (0..12_u64).prop_map(|key| key.to_string()));
    let labels = (Just("label"), prop_oneof![Just("'pays'"), Just("'t'")].prop_map(str::to_owned));
    let any_column = prop::sample::select(vec!["amount", "note", "flag", "at", "source", "label"]);
    let nulls = (any_column, Just("null".to_owned()));
    let sides = prop_oneof![numbers, columns, texts, flags, times, ends, labels, nulls];
    let loops = prop_oneof![Just("="), Just("!=")].prop_map(|op| format!("source {op} destination"));
    let compared = (sides, op(), any::<bool>()).prop_map(|((column, literal), op, flips)| match flips {
        true => format!("{literal} {op} {column}"),
        false => format!("{column}{op}{literal}"),
    });
    prop_oneof![9 => compared, 1 => loops]
}

fn filter() -> impl Strategy<Value = String> {
    comparison().prop_recursive(4, 20, 3, |inner| {
        let joined = (prop::collection::vec(inner.clone(), 2..4), prop_oneof![Just(" and "), Just(" OR ")]);
        prop_oneof![
            joined.prop_map(|(parts, between)| parts.join(between)),
            inner.clone().prop_map(|inner| format!("not ({inner})")),
            inner.clone().prop_map(|inner| format!("not {inner}")),
            inner.prop_map(|inner| format!("( {inner} )")),
        ]
    })
}

proptest! {
    #[test]
    fn compiled_filters_agree_with_a_naive_evaluation(
        filter in filter(),
        edges in prop::collection::vec(edge(), 1..20),
    ) {
        let (layouts, expression) = (layouts(), parse(&filter).unwrap());
        let tests = compiled(&filter).unwrap();
        for edge in &edges {
            let record = edge.record();
            let [source, destination] = edge.ends.map(VertexId::new);
            let number = if edge.label == 0 { ValueRef::U64(edge.number) } else { ValueRef::Null };
            let row = Row { source, destination, number, record: &record };
            let holds = tests[edge.label].holds(&row, &key_of).unwrap();
            prop_assert_eq!(holds, edge.satisfies(&expression, &layouts), "{} on {:?}", filter, edge);
        }
    }

    #[test]
    fn numbers_of_different_types_are_ordered_by_their_exact_values(one in number(), other in number()) {
        let exact = |value: &Value| match value {
            Value::I64(number) => (i128::from(*number), 0.0),
            Value::U64(number) => (i128::from(*number), 0.0),
            Value::F64(number) => (number.floor() as i128, number - number.floor()),
            other => panic!("{other:?}"),
        };
        let expected = exact(&one).partial_cmp(&exact(&other));
        prop_assert_eq!(order(borrowed(&one), borrowed(&other)), expected);
    }

    #[test]
    fn any_text_is_a_filter_or_a_mistake(text: String, tokens in "[a-z0-9 ()<>=!'`.-]{0,30}") {
        for text in [text, tokens] {
            if let Err(error) = compiled(&text) {
                prop_assert!(error.starts_with("--where, column "), "{}", error);
            }
        }
    }
}

#[test]
fn a_float_beyond_all_integers_is_ordered_and_nan_is_not() {
    for whole in [ValueRef::I64(i64::MAX), ValueRef::U64(u64::MAX)] {
        assert_eq!(order(whole, ValueRef::F64(f64::INFINITY)), Some(Ordering::Less));
        assert_eq!(order(ValueRef::F64(f64::NEG_INFINITY), whole), Some(Ordering::Less));
        assert_eq!(order(whole, ValueRef::F64(f64::NAN)), None);
    }
}

#[test]
fn a_mistake_is_marked_at_its_column() {
    for (text, column, problem) in [
        ("", 1, "expected a comparison such as amount > 5"),
        ("amount > 5 and", 15, "expected a comparison such as amount > 5"),
        ("amount >> 5", 9, "expected a property, a number, 'text', true, false or null"),
        ("amount 5", 8, "expected one of = != < <= > >="),
        ("amount ! 5", 8, "expected != or not"),
        ("amount > 5 amount < 9", 12, "expected and, or, or the end"),
        ("0 < amount < 9", 12, "expected and, or, or the end"),
        ("(amount > 5", 1, "expected a ) that closes this parenthesis"),
        ("amount > 5)", 11, "expected and, or, or the end"),
        ("note = 'rent", 8, "expected another '"),
        ("amount > 5x", 10, "5x is not a number"),
        ("amount > 1e999", 10, "1e999 is not a number"),
        ("amount > 5 & flag = true", 12, "unexpected character '&'"),
        ("1 < 2", 1, "expected a property on one side"),
        ("count = 1 or amuont > 5", 14, "there is no property \"amuont\": expected number, amount, count"),
        ("dues = null", 1, "at, `due date`, source, destination or label"),
        ("amount = 'five'", 10, "\"amount\" is compared with a number"),
        ("note > 5", 8, "\"note\" is compared with text"),
        ("flag = 1", 8, "\"flag\" is compared with true or false"),
        ("at < 'soon'", 6, "\"at\" is compared with a time, such as '2026-01-31'"),
        ("label = 5", 9, "\"label\" is compared with text"),
        ("source = 'anna'", 10, "\"source\" is compared with a whole number"),
        ("source = 2.5", 10, "\"source\" is compared with a whole number"),
        ("source < destination", 10, "compared with = or !="),
        ("amount = note", 10, "\"amount\" and \"note\" are of different types"),
        ("ü = 'ä' and ö = 5", 1, "there is no property \"ü\""),
        ("note = 'ä' and amuont = 5", 16, "there is no property \"amuont\""),
    ] {
        let error = compiled(text).unwrap_err();
        assert!(error.starts_with(&format!("--where, column {column}: ")), "{text}: {error}");
        assert!(error.contains(problem), "{text}: {error}");
        let lines: Vec<&str> = error.lines().collect();
        assert_eq!(lines[1..], [format!("  {text}"), format!("{}^", " ".repeat(column + 1))], "{text}");
    }
}

#[test]
fn deep_nesting_is_refused_and_long_chains_are_not() {
    let nested = format!("{}count = 1{}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(compiled(&nested).unwrap_err().contains("levels of parentheses"));
    assert!(compiled(&format!("{}count = 1", "not ".repeat(10_000))).unwrap_err().contains("levels"));
    let chain = vec!["count != 1"; 10_000].join(" and ");
    assert!(compiled(&chain).is_ok());
}

#[test]
fn literals_of_32_bit_floats_are_what_is_printed() {
    let schema = crate::stored::declared::label("rates:f32").unwrap();
    let layouts = [Layout::of(LabelId(0), &schema)];
    let schema = Schema { layouts: &layouts, keys: KeyKind::Number, find: &find };
    let number = ValueRef::F64(f64::from(0.1_f32));
    let ends = VertexId::new(0);
    let row = Row { source: ends, destination: ends, number, record: &[] };
    for (text, expected) in [("value = 0.1", true), ("value > 0.1", false), ("value >= 0.1", true)] {
        let test = schema.compile(text).map_err(|error| error.to_string()).unwrap().remove(0);
        assert_eq!(test.holds(&row, &key_of).unwrap(), expected, "{text}");
    }
}
