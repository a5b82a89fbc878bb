//! The commands of a conversation: lines that begin with a slash.
//!
//! It reads them; what they do is the conversation's.

#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    Help,
    Clear,
    Compact,
    Cost,
    Model(Option<String>),
    Exit,
    Unknown(String),
}

pub const HELP: &str = "\
/help           this list
/clear          forget what was said; the journal keeps it
/compact        make the conversation shorter now
/cost           what this session has taken
/model [NAME]   which model serves, or another one from here on
/exit           leave; so do Ctrl-D, and Ctrl-C twice
A line typed while the model works is queued for it. Ctrl-C interrupts.
A line that ends in a backslash goes on in the next.";

impl Command {
    /// `None` for what is said to the model. A path is no command: `/usr/bin is empty` is said.
    pub fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let bare = name.strip_prefix('/')?;
        Some(match (bare, rest) {
            ("help" | "?", "") => Self::Help,
            ("clear", "") => Self::Clear,
            ("compact", "") => Self::Compact,
            ("cost", "") => Self::Cost,
            ("model", "") => Self::Model(None),
            ("model", name) => Self::Model(Some(name.to_owned())),
            ("exit" | "quit", "") => Self::Exit,
            (word, "") if word.chars().all(|letter| letter.is_ascii_alphabetic()) => {
                Self::Unknown(name.to_owned())
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Command;

    #[test]
    fn a_slash_makes_a_command_and_a_path_does_not() {
        let table = [
            ("/help", Some(Command::Help)),
            (" /exit ", Some(Command::Exit)),
            ("/model", Some(Command::Model(None))),
            ("/model a/b", Some(Command::Model(Some("a/b".to_owned())))),
            ("/halp", Some(Command::Unknown("/halp".to_owned()))),
            ("/usr/bin is empty", None),
            ("/tmp/x", None),
            ("/clear the table, please", None),
            ("hello", None),
        ];
        for (line, command) in table {
            assert_eq!(Command::parse(line), command, "{line:?}");
        }
    }
}
