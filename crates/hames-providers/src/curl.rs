//! A request as a curl command that repeats it, with the key as the shell variable that holds it.
//!
//! It quotes for a POSIX shell and sends nothing.

use crate::auth::{Header, Value};

/// One argument of a program may hold 128 KiB on Linux; past this the body goes through a pipe.
const INLINE: usize = 100_000;

pub(crate) fn curl(url: &str, headers: &[Header], body: &[u8]) -> String {
    let quoted_body = quote(&String::from_utf8_lossy(body));
    let mut command = format!("curl -sS -N -X POST {}", quote(url));
    for header in headers {
        command += &format!(" \\\n  -H {}", header_argument(header));
    }
    if body.len() <= INLINE {
        return format!("{command} \\\n  --data-binary {quoted_body}\n");
    }
    format!("printf '%s' {quoted_body} |\n{command} \\\n  --data-binary @-\n")
}

/// A secret stands in double quotes, where the shell fills it in; what precedes it is ours.
fn header_argument(header: &Header) -> String {
    let name = &header.name;
    match &header.value {
        Value::Plain(text) => quote(&format!("{name}: {text}")),
        Value::Secret { before, key } => format!("\"{name}: {before}{key}\""),
    }
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
