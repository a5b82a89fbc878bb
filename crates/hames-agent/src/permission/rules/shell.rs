//! Takes a shell line apart into its simple commands, or says that it cannot be sure of them.
//!
//! It runs nothing and resolves nothing: what a variable, a glob or a script file holds stays unknown.

use super::wrappers;

/// What a line would run, and where it would read from and write to.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Script {
    pub commands: Vec<Simple>,
    pub redirects: Vec<Redirect>,
    /// Why the commands found may not be all there are.
    pub doubt: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Simple {
    /// Without quotes, never empty.
    pub words: Vec<Word>,
    /// Only a wrapper (`time`, `env`, `sh -c`) around other commands of the line: these have to be
    /// allowed in its place, though a rule may deny the wrapper itself.
    pub wraps: bool,
}

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Word {
    pub text: String,
    /// False when the shell puts something else in its place: a variable, a glob, a brace.
    pub literal: bool,
    /// Without any quoting, so that it may be a keyword.
    pub bare: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Redirect {
    pub target: Word,
    pub writes: bool,
}

impl Simple {
    pub fn text(&self) -> String {
        let words: Vec<&str> = self.words.iter().map(|word| word.text.as_str()).collect();
        words.join(" ")
    }

    pub fn name(&self) -> &str {
        self.words.first().map_or("", |word| &word.text)
    }

    pub fn is_literal(&self) -> bool {
        self.words.iter().all(|word| word.literal)
    }
}

/// Deeper than this nobody writes, and a stack must not end on it.
const DEEPEST: usize = 12;

pub fn split(line: &str) -> Script {
    split_at_depth(line, 0)
}

fn split_at_depth(line: &str, depth: usize) -> Script {
    let mut parser = Parser {
        chars: line.chars().collect(),
        depth,
        ..Parser::default()
    };
    parser.list(None);
    if !parser.heredocs.is_empty() {
        parser.doubt("a here-document without its end");
    }
    parser.script
}

#[derive(Default)]
pub(super) struct Parser {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    heredocs: Vec<Heredoc>,
    script: Script,
}

struct Heredoc {
    end: String,
    quoted: bool,
    strips_tabs: bool,
}

#[derive(Default)]
struct Command {
    words: Vec<Word>,
    /// A `( … )` stood here: only redirections may follow.
    closed: bool,
}

/// After these another command begins.
const OPENING: &[&str] = &[
    "if", "then", "else", "elif", "while", "until", "do", "!", "{",
];

impl Command {
    fn may_begin(&self) -> bool {
        let opening = |word: &Word| word.bare && OPENING.contains(&word.text.as_str());
        !self.closed && self.words.iter().all(opening)
    }
}

impl Parser {
    pub(super) fn doubt(&mut self, why: &'static str) {
        self.script.doubt.get_or_insert(why);
    }

    pub(super) fn push(&mut self, words: Vec<Word>, wraps: bool) {
        if !words.is_empty() {
            self.script.commands.push(Simple { words, wraps });
        }
    }

    /// A script given as text: `sh -c`, `eval`, backticks.
    pub(super) fn nested(&mut self, text: &str) {
        if self.depth >= DEEPEST {
            return self.doubt("commands nested too deep");
        }
        let inner = split_at_depth(text, self.depth + 1);
        self.script.commands.extend(inner.commands);
        self.script.redirects.extend(inner.redirects);
        if let Some(why) = inner.doubt {
            self.doubt(why);
        }
    }

    fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        self.at += usize::from(there);
        there
    }

    /// Commands up to `end`, or to the end of the text.
    fn list(&mut self, end: Option<char>) {
        self.depth += 1;
        if self.depth > DEEPEST {
            self.doubt("commands nested too deep");
            self.at = self.chars.len();
        }
        let mut command = Command::default();
        loop {
            match self.peek() {
                None => {
                    if end.is_some() {
                        self.doubt("a bracket without its end");
                    }
                    break;
                }
                found if found == end => {
                    self.at += 1;
                    if !self.heredocs.is_empty() {
                        self.doubt("a here-document without its end");
                    }
                    break;
                }
                Some(next) => self.step(next, &mut command),
            }
        }
        self.finish(command);
        self.depth -= 1;
    }

    fn step(&mut self, next: char, command: &mut Command) {
        match next {
            ' ' | '\t' => self.at += 1,
            '&' if self.peek_at(1) == Some('>') => self.redirect(command),
            '\n' => {
                self.finish(std::mem::take(command));
                self.at += 1;
                self.heredoc_bodies();
            }
            ';' | '&' | '|' => {
                self.finish(std::mem::take(command));
                self.at += 1;
            }
            '#' => {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
            }
            '(' if command.may_begin() => self.subshell(command),
            '(' | ')' => {
                self.doubt("a bracket in an unusual place");
                self.at += 1;
            }
            '<' | '>' => self.redirect(command),
            _ => {
                let word = self.word();
                let is_descriptor = word.bare
                    && matches!(self.peek(), Some('<' | '>'))
                    && word.text.chars().all(|c| c.is_ascii_digit());
                if is_descriptor {
                    return;
                }
                if command.closed {
                    self.doubt("words after a bracket");
                }
                command.words.push(word);
            }
        }
    }

    fn subshell(&mut self, command: &mut Command) {
        self.at += 1;
        if self.peek() == Some('(') {
            self.doubt("arithmetic");
        }
        self.list(Some(')'));
        command.closed = true;
    }

    fn redirect(&mut self, command: &mut Command) {
        let both = self.eat('&');
        let reads = self.peek() == Some('<');
        self.at += 1;
        if !both && self.peek() == Some('(') {
            self.at += 1;
            self.list(Some(')'));
            let text = "/dev/fd".to_owned();
            return command.words.push(Word {
                text,
                ..Word::default()
            });
        }
        if reads && self.eat('<') {
            return self.here(command);
        }
        let copies = !both && self.eat('&');
        let writes = !reads || self.peek() == Some('>');
        let _ = self.eat('>') || self.eat('|');
        let target = self.target();
        let descriptor = |c: char| c.is_ascii_digit() || c == '-';
        if !(copies && target.literal && target.text.chars().all(descriptor)) {
            self.script.redirects.push(Redirect { target, writes });
        }
    }

    fn target(&mut self) -> Word {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
        let target = self.word();
        if target.text.is_empty() {
            self.doubt("a redirection to nowhere");
        }
        target
    }

    /// After `<<`: a here-string is only data, a here-document's body follows this line.
    fn here(&mut self, _command: &mut Command) {
        if self.eat('<') {
            self.target();
            return;
        }
        let strips_tabs = self.eat('-');
        let end = self.target();
        if end.bare && !end.literal {
            self.doubt("an unusual here-document");
        }
        self.heredocs.push(Heredoc {
            quoted: !end.bare,
            end: end.text,
            strips_tabs,
        });
    }

    fn heredoc_bodies(&mut self) {
        for Heredoc {
            end,
            quoted,
            strips_tabs,
        } in std::mem::take(&mut self.heredocs)
        {
            loop {
                if self.at >= self.chars.len() {
                    self.doubt("a here-document without its end");
                    break;
                }
                let rest = self.chars.get(self.at..).unwrap_or_default();
                let line: String = rest.iter().take_while(|c| **c != '\n').collect();
                self.at += line.chars().count() + 1;
                let shown = if strips_tabs {
                    line.trim_start_matches('\t')
                } else {
                    &line
                };
                if shown == end {
                    self.at = self.at.min(self.chars.len());
                    break;
                }
                let may_run = |text: &str| text.contains(['`', '\\']) || text.contains("$");
                if !quoted && may_run(&line) {
                    self.doubt("a here-document that expands");
                }
            }
        }
    }

    /// One word, its quotes taken off; it ends at a blank or an operator.
    fn word(&mut self) -> Word {
        let mut word = Word {
            text: String::new(),
            literal: true,
            bare: true,
        };
        let mut braces = false;
        while let Some(next) = self.peek() {
            match next {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\'' => self.single_quoted(&mut word),
                '"' => self.double_quoted(&mut word),
                '\\' => self.escaped(&mut word),
                '$' => self.dollar(&mut word, false),
                '`' => self.backticks(&mut word),
                _ => {
                    if next.is_control() {
                        self.doubt("a control character");
                    }
                    let alone = word.text.is_empty()
                        && matches!(self.peek_at(1), None | Some(' ' | '\t' | '\n'));
                    word.literal &= !matches!(next, '*' | '?') && (next != '[' || alone);
                    braces |= next == '{';
                    word.text.push(next);
                    self.at += 1;
                }
            }
        }
        word.literal &= !braces || word.text == "{" || word.text == "{}";
        word
    }

    fn escaped(&mut self, word: &mut Word) {
        self.at += 1;
        word.bare = false;
        match self.peek() {
            None => self.doubt("a backslash at the end"),
            Some('\n') => {}
            Some(next) => word.text.push(next),
        }
        self.at += 1;
    }

    fn single_quoted(&mut self, word: &mut Word) {
        self.at += 1;
        word.bare = false;
        loop {
            let next = self.peek();
            self.at += 1;
            match next {
                None => return self.doubt("an open quote"),
                Some('\'') => return,
                Some(next) => word.text.push(next),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut Word) {
        self.at += 1;
        word.bare = false;
        loop {
            match self.peek() {
                None => return self.doubt("an open quote"),
                Some('"') => {
                    self.at += 1;
                    return;
                }
                Some('$') => self.dollar(word, true),
                Some('`') => self.backticks(word),
                Some('\\') if matches!(self.peek_at(1), Some('$' | '`' | '"' | '\\' | '\n')) => {
                    self.escaped(word);
                }
                Some(next) => {
                    word.text.push(next);
                    self.at += 1;
                }
            }
        }
    }

    fn dollar(&mut self, word: &mut Word, quoted: bool) {
        self.at += 1;
        word.text.push('$');
        match self.peek() {
            Some('(') => {
                word.literal = false;
                self.at += 1;
                if self.peek() == Some('(') {
                    self.doubt("arithmetic");
                }
                self.list(Some(')'));
            }
            Some('{') => self.parameter(word),
            Some('[') => self.doubt("arithmetic"),
            Some('\'' | '"') if !quoted => self.doubt("a quote of an unusual kind"),
            Some(next) if next.is_ascii_alphanumeric() || "_?!@*#$-".contains(next) => {
                word.literal = false;
                word.text.push(next);
                self.at += 1;
            }
            Some(_) | None => {}
        }
    }

    /// `${…}`: nothing in it may run.
    fn parameter(&mut self, word: &mut Word) {
        word.literal = false;
        loop {
            let next = self.peek();
            self.at += 1;
            match next {
                None => return self.doubt("an open bracket"),
                Some('}') => return word.text.push('}'),
                Some(next) => {
                    let plain = next.is_ascii_alphanumeric() || "{_#?:+-=%/., *".contains(next);
                    if !plain {
                        self.doubt("an unusual expansion");
                    }
                    word.text.push(next);
                }
            }
        }
    }

    fn backticks(&mut self, word: &mut Word) {
        word.literal = false;
        self.at += 1;
        let mut text = String::new();
        loop {
            let next = self.peek();
            self.at += 1;
            match next {
                None => return self.doubt("an open backtick"),
                Some('`') => break,
                Some(next) => text.push(next),
            }
        }
        if text.contains('\\') {
            self.doubt("a backslash in backticks");
        }
        self.nested(&text);
    }

    /// Takes off keywords; what stays is one simple command.
    fn finish(&mut self, command: Command) {
        let mut words = command.words;
        let keyword = |words: &[Word]| {
            let word = words.first().filter(|word| word.bare);
            word.map(|word| word.text.clone()).unwrap_or_default()
        };
        loop {
            match keyword(&words).as_str() {
                opening if OPENING.contains(&opening) => {
                    words.remove(0);
                }
                "fi" | "done" | "}" => {
                    if words.len() > 1 {
                        self.doubt("words after a keyword");
                    }
                    return;
                }
                "for" => return self.for_header(&words),
                "case" | "esac" | "select" | "function" | "coproc" | "[[" | "in" => {
                    self.doubt("a construct that is not looked into");
                    break;
                }
                _ => break,
            }
        }
        wrappers::take_off(self, words);
    }

    fn for_header(&mut self, words: &[Word]) {
        let named = words.get(1).is_some_and(|name| {
            wrappers::is_safe_variable(&name.text)
                && matches!(
                    words.get(2).map(|word| word.text.as_str()),
                    None | Some("in")
                )
        });
        if !named {
            self.doubt("an unusual loop");
        }
    }
}
