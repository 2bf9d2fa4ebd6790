//! Counts of the places that a change of the interface of engines touches.

use crate::run::{cargo, command, root, step};
use crate::tidy::rust_files;
use crate::tokens::{Token, depth_of, take, tokens};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::iter::from_fn;
use std::path::Path;

/// The folder of the interface of engines.
const MODEL: &str = "crates/core/model/src/";

/// The folder of the library, which matches on the engine.
const LIBRARY: &str = "crates/hedgerow/src/";

/// The folders whose lines are counted.
const MEASURED: [&str; 4] = [MODEL, "crates/core/pipeline/src/", "crates/engines/erased/src/", LIBRARY];

/// The engines.
const ENGINES: [&str; 4] = ["rapid", "tel", "lsm", "hybrid"];

/// Identifiers of the operation that appends edges, beside calls and declarations of `appends`.
const APPEND: [&str; 6] =
    ["AppendEdges", "AppendedEdges", "append_edges", "append_each", "AppendEach", "appended"];

/// A Rust file of the product.
struct File {
    /// The path relative to the root, with slashes.
    name: String,
    /// The tokens outside its inline modules `tests`.
    code: Vec<Token>,
    /// The tokens of its inline modules `tests`.
    tests: Vec<Token>,
    /// The lines outside its inline modules `tests`, blank ones and comments included.
    lines: usize,
}

impl File {
    /// Reads a Rust file.
    fn new(name: &str, source: &str) -> Result<Self> {
        let (mut code, mut tests) = (tokens(source).with_context(|| name.to_owned())?, Vec::new());
        let mut lines = source.lines().count();
        while let Some(module) = take(&mut code, &["mod", "tests", "{"]) {
            // An attribute stands in the line before.
            lines -= 2 + module[module.len() - 1].line - module[0].line;
            tests.extend(module);
        }
        Ok(File { name: name.to_owned(), code, tests, lines })
    }

    /// Returns true if the file belongs to a folder, and not to its tests.
    fn is_source_of(&self, folder: &str) -> bool {
        self.name.starts_with(folder) && !self.name.contains("/tests/") && !self.name.ends_with("/tests.rs")
    }
}

/// A line of the table.
struct Row {
    name: &'static str,
    /// The number; an error says why it could not be measured.
    count: Result<usize, &'static str>,
    /// The files or items behind the number.
    items: Vec<String>,
}

impl Row {
    /// Counts items.
    fn of(name: &'static str, items: impl IntoIterator<Item = String>) -> Self {
        let items: Vec<String> = items.into_iter().collect();
        Row { name, count: Ok(items.len()), items }
    }
}

/// Prints the counts, with `list` also what is behind each.
pub fn print(list: bool) -> Result<()> {
    let mut files = Vec::new();
    for path in rust_files()?.iter().filter(|path| path.starts_with("crates")) {
        let name = path.to_string_lossy().replace('\\', "/");
        let source = std::fs::read_to_string(root().join(path)).with_context(|| name.clone())?;
        files.push(File::new(&name, &source)?);
    }
    let uses = uses_of_match(&files);
    let with_uses: BTreeSet<_> =
        uses.iter().map(|at| at.split(':').next().unwrap_or(at).to_owned()).collect();
    let rows = [
        Row::of("public traits of crates/core/model", traits(&files)),
        Row::of("methods of trait Engine", methods_of_engine(&files)),
        Row::of("files that name three or four engines", names_if(&files, names_engines)),
        Row::of("uses of macros that match on the engine", uses),
        Row::of("files with such uses", with_uses),
        put_of_edge()?,
        Row::of("files that name the operation \"append edges\"", names_if(&files, names_append)),
        lines(&files),
    ];
    for Row { name, count, items } in rows {
        match count {
            Ok(count) => println!("{name:<54}{count:>6}"),
            Err(why) => println!("{name:<54}{:>6}  ({why})", "-"),
        }
        items.iter().filter(|_| list).for_each(|item| println!("    {item}"));
    }
    Ok(())
}

/// Returns the names of the files that `is_counted`.
fn names_if(files: &[File], is_counted: fn(&File) -> bool) -> impl Iterator<Item = String> {
    files.iter().filter(move |file| is_counted(file)).map(|file| file.name.clone())
}

/// Returns the traits of [`MODEL`] that are declared `pub`, even if their module is private.
fn traits(files: &[File]) -> impl Iterator<Item = String> {
    files.iter().filter(|file| file.is_source_of(MODEL)).flat_map(|file| {
        let traits =
            file.code.windows(3).filter(|window| window[0].text == "pub" && window[1].text == "trait");
        traits.map(|window| format!("{} ({})", window[2].text, file.name))
    })
}

/// Returns the methods that the trait `Engine` declares.
fn methods_of_engine(files: &[File]) -> Vec<String> {
    let file = files.iter().find(|file| file.name == format!("{MODEL}engine.rs"));
    let engine = file.and_then(|file| take(&mut file.code.clone(), &["trait", "Engine"])).unwrap_or_default();
    let (mut methods, mut depth) = (Vec::new(), 0);
    for pair in engine.windows(2) {
        depth += depth_of(&pair[0]);
        if depth == 1 && pair[0].text == "fn" {
            methods.push(pair[1].text.clone());
        }
    }
    methods
}

/// Returns true if a file, tests included, names at least three engines. An engine is named by a
/// literal or an identifier with its name as a word, such as `"tel"`, `hedgerow_rapid` and
/// `LsmEngine`; case does not matter, and a comment does not count.
fn names_engines(file: &File) -> bool {
    let words: BTreeSet<String> =
        file.code.iter().chain(&file.tests).flat_map(|token| words(&token.text)).collect();
    ENGINES.iter().filter(|engine| words.contains(**engine)).count() >= 3
}

/// Returns the words of a text, in lowercase. A word ends at a character that is no letter, and
/// before a capital that follows a small letter.
fn words(text: &str) -> Vec<String> {
    let mut spaced = String::new();
    for c in text.chars() {
        if !c.is_alphabetic() || c.is_uppercase() && spaced.ends_with(char::is_lowercase) {
            spaced.push(' ');
        }
        spaced.extend(c.is_alphabetic().then_some(c));
    }
    spaced.split_whitespace().map(str::to_lowercase).collect()
}

/// Returns the uses of `with_engine!` in the library, and of each macro `with_*` there that leads to
/// it, without the uses in the definitions of these macros.
fn uses_of_match(files: &[File]) -> Vec<String> {
    let mut library: Vec<(&str, Vec<Token>)> = Vec::new();
    for file in files.iter().filter(|file| file.is_source_of(LIBRARY)) {
        library.push((&file.name, file.code.clone()));
    }
    let definitions_in =
        |code: &mut Vec<Token>| from_fn(|| take(code, &["macro_rules", "!"])).collect::<Vec<_>>();
    let macros: Vec<_> = library.iter().flat_map(|(_, code)| definitions_in(&mut code.clone())).collect();
    let mut family = BTreeSet::from(["with_engine"]);
    let mut size = 0;
    while size < family.len() {
        size = family.len();
        for definition in macros.iter().filter(|definition| definition[2].text.starts_with("with_")) {
            if calls(definition, &family).next().is_some() {
                family.insert(&definition[2].text);
            }
        }
    }
    let mut uses = Vec::new();
    for (name, code) in &mut library {
        family.iter().for_each(|of| drop(take(code, &["macro_rules", "!", of])));
        uses.extend(calls(code, &family).map(|at| format!("{name}:{}: {}!", at.line, at.text)));
    }
    uses
}

/// Returns the uses of `macros`.
fn calls<'c>(code: &'c [Token], macros: &BTreeSet<&str>) -> impl Iterator<Item = &'c Token> {
    code.windows(2).filter(|pair| pair[1].text == "!" && macros.contains(&*pair[0].text)).map(|pair| &pair[0])
}

/// Returns true if a file has an identifier of the operation that appends edges, outside of tests.
fn names_append(file: &File) -> bool {
    let is_source = file.is_source_of("crates/") && !file.is_source_of("crates/checks/");
    let is_name =
        |pair: &[Token]| APPEND.contains(&&*pair[0].text) || pair[0].text == "appends" && pair[1].text == "(";
    is_source && file.code.windows(2).any(is_name)
}

/// Counts the lines of [`MEASURED`] without tests.
fn lines(files: &[File]) -> Row {
    let counts = MEASURED.map(|folder| -> usize {
        files.iter().filter(|file| file.is_source_of(folder)).map(|file| file.lines).sum()
    });
    let items = MEASURED.iter().zip(counts).map(|(folder, count)| format!("{folder}: {count}")).collect();
    Row { name: "lines of model, pipeline, erased and hedgerow", count: Ok(counts.iter().sum()), items }
}

/// Measures the files through which the calling thread passes in one `Graph::put_edge` into a store
/// on `rapid`. Callgrind traces an example that is compiled without optimization, so that calls and
/// short functions remain, and without assertions.
fn put_of_edge() -> Result<Row> {
    let name = "source files that a durable put on rapid passes";
    if command("valgrind", "--version").output().is_err() {
        return Ok(Row { name, count: Err("valgrind is not installed"), items: Vec::new() });
    }
    let mut build = cargo("build --quiet -p hedgerow --example one_put --target-dir target/doors");
    build.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
    step("building a put", build.env("CARGO_PROFILE_DEV_DEBUG_ASSERTIONS", "false"))?;
    let trace = "target/doors/callgrind.out";
    let options = "--tool=callgrind --quiet --collect-atstart=no --toggle-collect=one_put::put_one*";
    let program = "target/doors/debug/examples/one_put";
    let run =
        format!("{options} --compress-strings=no --compress-pos=no --callgrind-out-file={trace} {program}");
    step("tracing a put", &mut command("valgrind", &run))?;
    let text = std::fs::read_to_string(root().join(trace)).context(trace)?;
    let files = files_of_trace(&text, root());
    ensure!(!files.is_empty(), "{trace} names no file of the product");
    Ok(Row::of(name, files))
}

/// Returns the source files of the product with lines that an uncompressed trace of callgrind has
/// seen run.
///
/// A file is named before its lines: at the start of a function (`fl`), and where code inlined from
/// it begins or ends (`fi`, `fe`). Line 0 is code of the compiler, in the main file of the crate.
fn files_of_trace(trace: &str, root: &Path) -> BTreeSet<String> {
    let (mut files, mut file) = (BTreeSet::new(), Path::new(""));
    for line in trace.lines() {
        if let Some(("fl" | "fi" | "fe", name)) = line.split_once('=') {
            file = Path::new(name).strip_prefix(root).unwrap_or(Path::new(name));
        }
        let is_source = file.starts_with("crates") && file.iter().any(|part| part == "src");
        if is_source && line.starts_with(|first: char| first.is_ascii_digit() && first != '0') {
            files.insert(file.display().to_string());
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, source: &str) -> File {
        File::new(name, source).unwrap()
    }

    #[test]
    fn only_lines_that_were_run_name_a_file() {
        let trace = "fl=/w/crates/a/src/lib.rs\nfn=a\n3 4\ncfi=/w/crates/b/src/lib.rs\ncalls=1 5\n4 9\n\
                     fi=/rustc/crates/src/x.rs\n1 1\nfl=crates/c/src/lib.rs\nfn=c\n0 8\nfe=crates/c/src/d.rs\n\
                     17 1\nfl=/w/crates/a/examples/e.rs\n2 2\ntotals: 25\n";
        let files: Vec<_> = files_of_trace(trace, Path::new("/w")).into_iter().collect();
        assert_eq!(files, ["crates/a/src/lib.rs", "crates/c/src/d.rs"]);
    }

    #[test]
    fn engines_and_appends_are_named_in_code() {
        let names = |source: &str| names_engines(&file("crates/a/src/lib.rs", source));
        assert!(names("use hedgerow_rapid; EngineKind::Tel; \"a-lsm\""));
        assert!(!names("use hedgerow_rapid; EngineKind::Tel; // lsm, hybrid\n\"telling hybrids\""));
        let names = |source: &str| names_append(&file("crates/a/src/lib.rs", source));
        assert!(names("by.appends(label)") && names("mod append_edges;"));
        assert!(!names("let appends = 1; // append_edges\nmod tests { fn append_each() {} }"));
    }

    #[test]
    fn only_uses_outside_the_definitions_count() {
        let one = "macro_rules! with_engine { () => {} }\nmacro_rules! with_view { () => { with_engine!() } }\n\
                   macro_rules! with_other { () => {} }\nuse with_view;\n";
        let two =
            "fn a() { with_view!(); with_other!(); b!(); }\nmacro_rules! c { () => { with_engine!() } }\n";
        let files = [file("crates/hedgerow/src/a.rs", one), file("crates/hedgerow/src/b.rs", two)];
        let expected = ["crates/hedgerow/src/b.rs:1: with_view!", "crates/hedgerow/src/b.rs:2: with_engine!"];
        assert_eq!(uses_of_match(&files), expected);
    }

    #[test]
    fn traits_methods_and_lines_are_counted_without_tests() {
        let source = "pub trait Engine {\n  fn a(&self) { fn b() {} }\n  fn c(&self);\n}\npub(crate) trait D {}\n\
                      #[cfg(test)]\nmod tests {\n  pub trait E {}\n}\n";
        let files = [file("crates/core/model/src/engine.rs", source)];
        assert_eq!(traits(&files).collect::<Vec<_>>(), ["Engine (crates/core/model/src/engine.rs)"]);
        assert_eq!(methods_of_engine(&files), ["a", "c"]);
        assert_eq!(lines(&files).count, Ok(5));
    }
}
