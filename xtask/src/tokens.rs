//! Rust source as tokens, without comments.

use anyhow::{Result, anyhow};
use proc_macro2::{LineColumn, TokenStream, TokenTree};

/// A name, a literal or one sign of a Rust file.
#[derive(Clone, Debug)]
pub struct Token {
    /// The text; a string keeps its quotes.
    pub text: String,
    /// The number of its line, from 1.
    pub line: usize,
}

/// Returns the tokens of a Rust file.
pub fn tokens(source: &str) -> Result<Vec<Token>> {
    let stream = source.parse::<TokenStream>();
    let mut tokens = Vec::new();
    collect(stream.map_err(|error| anyhow!("{error}, line {}", error.span().start().line))?, &mut tokens);
    Ok(tokens)
}

/// Adds the tokens of a stream. Comments on items arrive as attributes `doc`, and are left out.
fn collect(stream: TokenStream, tokens: &mut Vec<Token>) {
    let is_doc = |tree: TokenTree| matches!(tree, TokenTree::Ident(name) if name == "doc");
    for tree in stream {
        let mut push =
            |text: &str, at: LineColumn| tokens.push(Token { text: text.to_owned(), line: at.line });
        let TokenTree::Group(group) = &tree else {
            push(&tree.to_string(), tree.span().start());
            continue;
        };
        if group.stream().into_iter().next().is_some_and(is_doc) {
            continue;
        }
        let (open, close) = match group.delimiter() {
            proc_macro2::Delimiter::Brace => ("{", "}"),
            proc_macro2::Delimiter::Bracket => ("[", "]"),
            _ => ("(", ")"),
        };
        push(open, group.span_open().start());
        collect(group.stream(), tokens);
        tokens.push(Token { text: close.to_owned(), line: group.span_close().start().line });
    }
}

/// Removes the first item that begins with `words`, up to the end of its block, and returns it.
pub fn take(tokens: &mut Vec<Token>, words: &[&str]) -> Option<Vec<Token>> {
    let start = tokens
        .windows(words.len())
        .position(|window| window.iter().map(|t| &*t.text).eq(words.iter().copied()))?;
    let mut depth = 0;
    let end = tokens[start..].iter().position(|token| {
        depth += depth_of(token);
        token.text == "}" && depth == 0
    })?;
    Some(tokens.drain(start..=start + end).collect())
}

/// Returns the change of the depth of braces at a token.
pub fn depth_of(token: &Token) -> i32 {
    i32::from(token.text == "{") - i32::from(token.text == "}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(tokens: &[Token]) -> Vec<&str> {
        tokens.iter().map(|token| &*token.text).collect()
    }

    #[test]
    fn comments_are_no_tokens() {
        let source =
            "//! rapid\n/// rapid\nfn a<'b>() { '\"'; /* tel /* lsm */ \" */ \"// \\\" */\"; } // hybrid";
        let found = tokens(source).unwrap();
        let text = texts(&found).join(" ");
        assert_eq!(text, "# ! # fn a < ' b > ( ) { '\"' ; \"// \\\" */\" ; }");
        assert_eq!(found[3].line, 3);
        assert!(tokens("fn a( {").unwrap_err().to_string().contains("line 1"));
    }

    #[test]
    fn an_item_ends_with_its_block() {
        let mut tokens = tokens("mod a;\nmod a { fn b() { \"}\"; } }\nfn c() {}\n").unwrap();
        let module = take(&mut tokens, &["mod", "a", "{"]).unwrap();
        assert_eq!(texts(&module).join(" "), "mod a { fn b ( ) { \"}\" ; } }");
        assert_eq!(texts(&tokens).join(" "), "mod a ; fn c ( ) { }");
        assert!(take(&mut tokens, &["mod", "b"]).is_none());
    }
}
