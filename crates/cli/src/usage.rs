//! The problem of an invalid command line.

/// The problem of the arguments in one line, without the usage.
pub fn problem(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let (problem, _) = text.split_once("\n\nUsage:").unwrap_or((&text, ""));
    let problem = problem.trim().trim_start_matches("error: ");
    problem.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}
