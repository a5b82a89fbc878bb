//! `command:TEMPLATE`: any agent that a shell can start.
//!
//! Its output is kept as it is, and no turns are read from it.

use super::{launch, retelling::Retelling};
use crate::{
    adapter::{About, Adapter, Choice, CommandLine, Left, Options, Place, Plan, Reading},
    host::Host,
    instance::Task,
    stage::StageError,
};

#[derive(Debug, Default)]
pub struct Command {
    /// Else the options' own.
    template: Option<String>,
}

impl Command {
    pub fn of(template: &str) -> Self {
        Self {
            template: Some(template.to_owned()),
        }
    }

    fn template<'a>(&'a self, options: &'a Options) -> Result<&'a str, StageError> {
        let template = self.template.as_deref().unwrap_or(&options.command).trim();
        if template.is_empty() {
            return Err(StageError::BadInput(
                "command: say which, as command:'agent --task {prompt_file}'; \
                 {prompt}, {prompt_file}, {model} and {tree} are filled in"
                    .to_owned(),
            ));
        }
        Ok(template)
    }
}

impl Adapter for Command {
    fn name(&self) -> &'static str {
        "command"
    }

    fn about(&self) -> About {
        About {
            install: "whatever the command names",
            reads: "stdout whole as the answer, and a diff in it; no turns, no usage",
            stops: "as it will, killed after 5 s",
            takes: &[Choice::Model],
        }
    }

    fn check(&self, host: &Host, options: &Options) -> Result<(), StageError> {
        let template = self.template(options)?;
        let words = template.split_whitespace();
        let mut words = words.skip_while(|word| word.contains('='));
        match words.next() {
            // Anything but a plain word is for the shell to understand.
            Some(first) if first.chars().all(is_plain) && !is_shell_word(first) => {
                launch::program(host, first, "install it, or give its path").map(drop)
            }
            Some(_) | None => Ok(()),
        }
    }

    fn plan(
        &self,
        task: &Task,
        place: &Place,
        host: &Host,
        options: &Options,
    ) -> Result<Plan, StageError> {
        let template = self.template(options)?;
        let mut line = launch::command_line(self, "/bin/sh", place, host);
        let own = host.variables.iter();
        let own = own.filter(|(name, _)| is_named(template, name) && !is_set(&line, place, name));
        let own: Vec<_> = own
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        line.env.extend(own);
        for (placeholder, variable) in PLACEHOLDERS {
            if !template.contains(placeholder) {
                continue;
            }
            let value = value(placeholder, &mut line, task, place, options);
            if !launch::fits_an_argument(&value) {
                let id = &task.instance_id;
                return Err(StageError::BadInput(format!(
                    "{id}: the prompt is too long for an argument; use {{prompt_file}} in the command"
                )));
            }
            launch::set(&mut line, variable, value);
        }
        if !template.contains("{prompt}") && !template.contains("{prompt_file}") {
            line.stdin = Some(task.prompt.clone());
        }
        launch::add(&mut line, ["-c", &filled(template)]);
        Ok(Plan::Subprocess(line))
    }

    fn read(&self, left: &Left<'_>) -> Reading {
        let mut told = Retelling::default();
        let answer = left.stdout.trim();
        if !answer.is_empty() {
            told.trajectory.final_answer = Some(answer.to_owned());
        }
        told.finish(left, &self.about())
    }
}

/// Each stands for a variable, so that no text of a task is ever shell text.
const PLACEHOLDERS: [(&str, &str); 4] = [
    ("{prompt}", "HAMES_PROMPT"),
    ("{prompt_file}", "HAMES_PROMPT_FILE"),
    ("{model}", "HAMES_MODEL"),
    ("{tree}", "HAMES_TREE"),
];

fn value(
    placeholder: &str,
    line: &mut CommandLine,
    task: &Task,
    place: &Place,
    options: &Options,
) -> String {
    match placeholder {
        "{prompt}" => task.prompt.clone(),
        "{prompt_file}" => {
            let file = launch::prompt_file(line, task, place);
            file.to_string_lossy().into_owned()
        }
        "{model}" => options.model.clone(),
        _ => place.tree.to_string_lossy().into_owned(),
    }
}

/// The template with a variable at each placeholder, quoted as the place it stands in needs it.
fn filled(template: &str) -> String {
    #[derive(Clone, Copy, PartialEq)]
    enum Quote {
        None,
        Single,
        Double,
    }
    let (mut quote, mut out, mut rest) = (Quote::None, String::new(), template);
    while let Some(letter) = rest.chars().next() {
        let placeholder = PLACEHOLDERS.iter().find(|(name, _)| rest.starts_with(name));
        if let Some((name, variable)) = placeholder {
            out += &match quote {
                Quote::None => format!("\"${{{variable}}}\""),
                Quote::Double => format!("${{{variable}}}"),
                Quote::Single => format!("'\"${{{variable}}}\"'"),
            };
            rest = rest.strip_prefix(name).unwrap_or_default();
            continue;
        }
        let mut letters = rest.chars();
        letters.next();
        out.push(letter);
        match (quote, letter) {
            (Quote::None, '\'') => quote = Quote::Single,
            (Quote::None, '"') => quote = Quote::Double,
            (Quote::Single, '\'') | (Quote::Double, '"') => quote = Quote::None,
            (Quote::None | Quote::Double, '\\') => out.extend(letters.next()),
            (Quote::None | Quote::Single | Quote::Double, _) => {}
        }
        rest = letters.as_str();
    }
    out
}

/// `$NAME` or `${NAME` stands in the template: the user hands this variable on.
fn is_named(template: &str, name: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|next: char| next == '_' || next.is_alphanumeric());
    template.match_indices('$').any(|(at, _)| {
        let rest = template.get(at + 1..).unwrap_or_default();
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        rest.strip_prefix(name).is_some_and(ends)
    })
}

fn is_set(line: &CommandLine, place: &Place, name: &str) -> bool {
    launch::holds(line, name) || place.env.iter().any(|(known, _)| known == name)
}

fn is_plain(letter: char) -> bool {
    letter.is_alphanumeric() || "-_./+".contains(letter)
}

/// Found by the shell, not on the path: POSIX's reserved words and built-in utilities.
fn is_shell_word(word: &str) -> bool {
    let words = "case do done elif else esac fi for if in then until while . break continue eval exec exit \
                 export readonly return set shift times trap unset alias bg cd command echo false fc fg getopts \
                 hash jobs kill local printf pwd read source test true type ulimit umask unalias wait";
    words.split(' ').any(|known| known == word)
}
