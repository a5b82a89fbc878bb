//! What is typed at the terminal, line by line, from a thread that may block for it.
//!
//! It echoes nothing and edits nothing: the terminal does that.

use std::{
    io::{self, BufRead},
    thread,
};

use tokio::sync::mpsc;

/// Lines until the end of input; a line that ends in a backslash goes on in the next.
pub fn lines() -> io::Result<mpsc::UnboundedReceiver<String>> {
    let (typed, lines) = mpsc::unbounded_channel();
    let thread = thread::Builder::new().name("terminal".to_owned());
    thread.spawn(move || {
        let mut whole = String::new();
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else {
                return;
            };
            if let Some(begun) = line.strip_suffix('\\') {
                whole.push_str(begun);
                whole.push('\n');
                continue;
            }
            whole.push_str(&line);
            if typed.send(std::mem::take(&mut whole)).is_err() {
                return;
            }
        }
    })?;
    Ok(lines)
}

/// One yes-or-no question before anything runs; `None` when it is not answered.
pub fn yes_or_no(question: &str) -> Option<bool> {
    use io::Write;
    let mut err = io::stderr();
    write!(err, "{question} [y/n] ")
        .and_then(|()| err.flush())
        .ok()?;
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .ok()
        .filter(|read| *read > 0)?;
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    }
}
