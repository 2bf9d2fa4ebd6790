//! Tests the checker itself on histories with planted anomalies among thousands of transactions
//! without anomalies.

use crate::checker::{checker, judge};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// An anomaly, consistency models that forbid it, and weaker models that allow it.
struct Planted {
    anomaly: &'static str,
    forbidden: &'static [&'static str],
    allowed: &'static [&'static str],
    /// True if each transaction begins after the previous one has ended; false if all are
    /// concurrent.
    in_turn: bool,
    /// The outcome of each transaction, and its steps.
    transactions: &'static [&'static str],
}

const PLANTED: [Planted; 13] = [
    Planted {
        anomaly: "G0",
        forbidden: &["read-uncommitted", "read-committed", "snapshot-isolation", "serializable"],
        allowed: &[],
        in_turn: false,
        transactions: &[
            r#"ok [["append","x",1],["append","y",1]]"#,
            r#"ok [["append","x",2],["append","y",2]]"#,
            r#"ok [["r","x",[1,2]],["r","y",[2,1]]]"#,
        ],
    },
    Planted {
        anomaly: "duplicate-elements",
        forbidden: &["read-uncommitted", "snapshot-isolation"],
        allowed: &[],
        in_turn: false,
        transactions: &[r#"ok [["append","x",1]]"#, r#"ok [["r","x",[1,1]]]"#],
    },
    Planted {
        anomaly: "G1a",
        forbidden: &["read-committed", "snapshot-isolation", "serializable"],
        allowed: &["read-uncommitted"],
        in_turn: false,
        transactions: &[r#"fail [["append","x",1]]"#, r#"ok [["r","x",[1]]]"#],
    },
    Planted {
        anomaly: "G1b",
        forbidden: &["read-committed", "snapshot-isolation", "serializable"],
        allowed: &["read-uncommitted"],
        in_turn: false,
        transactions: &[
            r#"ok [["append","x",1],["append","x",2]]"#,
            r#"ok [["r","x",[1]]]"#,
            r#"ok [["r","x",[1,2]]]"#,
        ],
    },
    Planted {
        anomaly: "G1c",
        forbidden: &["read-committed", "snapshot-isolation", "serializable"],
        allowed: &["read-uncommitted"],
        in_turn: false,
        transactions: &[r#"ok [["append","x",1],["r","y",[1]]]"#, r#"ok [["append","y",1],["r","x",[1]]]"#],
    },
    Planted {
        anomaly: "incompatible-order",
        forbidden: &["read-committed", "snapshot-isolation", "serializable"],
        allowed: &["read-uncommitted"],
        in_turn: false,
        transactions: &[
            r#"ok [["append","x",1]]"#,
            r#"ok [["append","x",2]]"#,
            r#"ok [["r","x",[1,2]]]"#,
            r#"ok [["r","x",[2,1]]]"#,
        ],
    },
    Planted {
        anomaly: "internal",
        forbidden: &["snapshot-isolation", "serializable"],
        allowed: &["read-committed"],
        in_turn: false,
        transactions: &[r#"ok [["append","x",1]]"#, r#"ok [["r","x",[]],["r","x",[1]]]"#],
    },
    // Read skew.
    Planted {
        anomaly: "G-single-item",
        forbidden: &["snapshot-isolation", "serializable"],
        allowed: &["read-committed"],
        in_turn: false,
        transactions: &[r#"ok [["append","x",1],["append","y",1]]"#, r#"ok [["r","x",[]],["r","y",[1]]]"#],
    },
    Planted {
        anomaly: "lost-update",
        forbidden: &["snapshot-isolation", "repeatable-read", "serializable"],
        allowed: &["read-committed"],
        in_turn: false,
        transactions: &[
            r#"ok [["r","x",[]],["append","x",1]]"#,
            r#"ok [["r","x",[]],["append","x",2]]"#,
            r#"ok [["r","x",[1,2]]]"#,
        ],
    },
    // Two readers see two writes in different orders.
    Planted {
        anomaly: "G-nonadjacent-item",
        forbidden: &["snapshot-isolation", "serializable"],
        allowed: &["read-committed", "parallel-snapshot-isolation"],
        in_turn: false,
        transactions: &[
            r#"ok [["append","x",1]]"#,
            r#"ok [["append","y",1]]"#,
            r#"ok [["r","x",[1]],["r","y",[]]]"#,
            r#"ok [["r","x",[]],["r","y",[1]]]"#,
        ],
    },
    // Write skew.
    Planted {
        anomaly: "G2-item",
        forbidden: &["repeatable-read", "serializable", "strict-serializable"],
        allowed: &["read-committed", "snapshot-isolation", "strong-snapshot-isolation"],
        in_turn: false,
        transactions: &[r#"ok [["r","x",[]],["append","y",1]]"#, r#"ok [["r","y",[]],["append","x",1]]"#],
    },
    // A read misses an acknowledged write.
    Planted {
        anomaly: "G-single-item-realtime",
        forbidden: &["strong-snapshot-isolation", "strict-serializable"],
        allowed: &["snapshot-isolation", "serializable"],
        in_turn: true,
        transactions: &[r#"ok [["append","x",1]]"#, r#"ok [["r","x",[]]]"#],
    },
    // An acknowledged append is lost.
    Planted {
        anomaly: "G0-realtime",
        forbidden: &["strong-snapshot-isolation", "strict-serializable"],
        allowed: &["snapshot-isolation", "serializable"],
        in_turn: true,
        transactions: &[r#"ok [["append","x",1]]"#, r#"ok [["append","x",2]]"#, r#"ok [["r","x",[2]]]"#],
    },
];

#[test]
fn the_checker_finds_planted_anomalies_and_nothing_else() {
    let folder = TempDir::new().unwrap();
    let sound = folder.path().join("sound.jsonl");
    let made = Command::new(checker())
        .args(["run", "sim", "-i", "serializable", "-n", "5000", "-c", "strict-serializable", "-o"])
        .arg(&sound)
        .output()
        .unwrap();
    assert!(made.status.success(), "a history without anomalies is allowed: {made:?}");
    for planted in &PLANTED {
        let history = folder.path().join("planted.jsonl");
        fs::write(&history, fs::read_to_string(&sound).unwrap() + &lines(planted)).unwrap();
        planted.forbidden.iter().for_each(|model| check_found(planted, &history, model));
        for model in planted.allowed {
            let verdict = judge(&history, model);
            assert!(verdict.valid, "{} under {model}: {:?}", planted.anomaly, verdict.anomalies);
        }
    }
}

fn check_found(planted: &Planted, history: &Path, model: &str) {
    let verdict = judge(history, model);
    assert!(!verdict.valid, "{} under {model}", planted.anomaly);
    let found = verdict.anomalies.iter().any(|anomaly| anomaly == planted.anomaly);
    assert!(found, "{} under {model}: {:?}", planted.anomaly, verdict.anomalies);
}

/// The transactions in the checker's format, each on its own process.
fn lines(planted: &Planted) -> String {
    let mut invoked = Vec::new();
    let mut completed = Vec::new();
    for (process, transaction) in (1_000_000..).zip(planted.transactions) {
        let (ended, steps) = transaction.split_once(' ').unwrap();
        let steps: Vec<Value> = serde_json::from_str(steps).unwrap();
        let asked: Vec<Value> = steps.iter().map(asked).collect();
        let line = |kind: &str, value: &[Value]| json!({"type": kind, "f": "txn", "process": process, "value": value});
        invoked.push(line("invoke", &asked));
        completed.push(line(ended, &steps));
    }
    let lines: Vec<Value> = if planted.in_turn {
        invoked.into_iter().zip(completed).flat_map(|(invoked, completed)| [invoked, completed]).collect()
    } else {
        invoked.into_iter().chain(completed).collect()
    };
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A step before its result is known.
fn asked(step: &Value) -> Value {
    let mut asked = step.clone();
    if asked[0] == "r" {
        asked[2] = Value::Null;
    }
    asked
}
