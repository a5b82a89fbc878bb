//! A shell's command line taken apart: the simple commands in it, as words.
//!
//! It is a reading for judging what a line may do, not a shell: it expands nothing, and where it
//! is unsure it finds a command too many rather than one too few.

/// The simple commands of a line, those inside substitutions and quoted scripts included.
pub fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let mut reader = Reader::default();
    reader.read(line, 0);
    reader.end_command();
    reader.commands
}

/// How deep substitutions are followed.
const DEEPEST: usize = 16;

#[derive(Default)]
struct Reader {
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
}

impl Reader {
    fn read(&mut self, line: &str, depth: usize) {
        let mut rest = line.chars().peekable();
        while let Some(char) = rest.next() {
            match char {
                '\'' => {
                    let quoted: String = rest.by_ref().take_while(|char| *char != '\'').collect();
                    self.word().push_str(&quoted);
                }
                '"' => self.read_double_quoted(&mut rest, depth),
                '\\' => match rest.next() {
                    Some('\n') | None => {}
                    Some(escaped) => self.word().push(escaped),
                },
                '`' => {
                    let inner: String = rest.by_ref().take_while(|char| *char != '`').collect();
                    self.aside(&inner, depth);
                }
                '$' if rest.peek() == Some(&'(') => {
                    rest.next();
                    let inner = balanced(&mut rest);
                    self.aside(&inner, depth);
                }
                '#' if self.word.is_none() => {
                    rest.by_ref()
                        .take_while(|char| *char != '\n')
                        .for_each(drop);
                    self.end_command();
                }
                ';' | '|' | '\n' | '(' | ')' => self.end_command(),
                '&' => self.ampersand(&mut rest),
                '<' | '>' => {
                    // What follows is a file's name, or `<(command)`, which the bracket begins.
                    self.word().push(char);
                }
                blank if blank.is_whitespace() => self.end_word(),
                other => self.word().push(other),
            }
        }
    }

    /// `2>&1` and `&>` are redirections; any other `&` ends a command.
    fn ampersand(&mut self, rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
        let redirects = self
            .word
            .as_deref()
            .is_some_and(|word| word.ends_with(['<', '>']));
        if redirects || rest.peek() == Some(&'>') {
            self.word().push('&');
        } else {
            self.end_command();
        }
    }

    fn read_double_quoted(
        &mut self,
        rest: &mut std::iter::Peekable<std::str::Chars<'_>>,
        depth: usize,
    ) {
        self.word();
        while let Some(char) = rest.next() {
            match char {
                '"' => return,
                '\\' => self.word().extend(rest.next()),
                '`' => {
                    let inner: String = rest.by_ref().take_while(|char| *char != '`').collect();
                    self.aside(&inner, depth);
                }
                '$' if rest.peek() == Some(&'(') => {
                    rest.next();
                    let inner = balanced(rest);
                    self.aside(&inner, depth);
                }
                other => self.word().push(other),
            }
        }
    }

    /// Commands of their own, found within a word of another.
    fn aside(&mut self, inner: &str, depth: usize) {
        self.word();
        if depth >= DEEPEST {
            return;
        }
        let mut reader = Self::default();
        reader.read(inner, depth + 1);
        reader.end_command();
        self.commands.append(&mut reader.commands);
    }

    fn word(&mut self) -> &mut String {
        self.word.get_or_insert_default()
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }
}

/// The text up to the bracket that closes the one before.
fn balanced(rest: &mut impl Iterator<Item = char>) -> String {
    let mut open = 1;
    let mut inner = String::new();
    for char in rest {
        match char {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            break;
        }
        inner.push(char);
    }
    inner
}
