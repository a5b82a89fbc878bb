//! `explain protocol`: how each wire calls the parts of a call, from the codecs' own table.
//!
//! The table is `hames_wire::protocol`; nothing of it is repeated here.

use std::fmt::Write;

use hames_wire::protocol::PROTOCOLS;

pub(crate) fn table() -> String {
    let mut text = String::from(
        "One call is JSON in, JSON out, and remembers nothing. The wires differ in their words:\n",
    );
    let columns = PROTOCOLS.each_ref().map(|protocol| protocol.rows());
    let rows = columns.first().map_or(0, |rows| rows.len());
    for at in 0..rows {
        for (protocol, column) in PROTOCOLS.iter().zip(&columns) {
            let Some((row, said)) = column.get(at) else {
                continue;
            };
            if protocol.api == PROTOCOLS[0].api {
                let _ = write!(text, "\n{row}\n");
            }
            let _ = writeln!(text, "  {:<24}  {said}", protocol.name);
        }
    }
    let spoken = PROTOCOLS.iter().filter(|protocol| protocol.is_spoken());
    let spoken: Vec<_> = spoken.map(|protocol| protocol.name).collect();
    let _ = writeln!(
        text,
        "\nSpoken by this version: {}. Tests in crates/hames-wire/tests/it/protocol.rs hold each of \
         their rows to the codec.",
        spoken.join(", ")
    );
    text
}
