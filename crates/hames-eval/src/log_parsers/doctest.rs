//! doctest's XML (`-s -r=xml`): a subcase passes if each of its expressions holds.

use roxmltree::{Document, Node};

use super::status::{Status, StatusMap};
use crate::official::Version;

/// Nothing where the document is cut: the official parser fails at such a log.
pub(super) fn parse(log: &str, _version: Version) -> StatusMap {
    let mut map = StatusMap::default();
    let Some(text) = document(log) else {
        return map;
    };
    let Ok(document) = Document::parse(text) else {
        return map;
    };
    for case in below(document.root_element(), "TestCase") {
        for subcase in below(case, "SubCase") {
            let holds = |node: Node<'_, '_>| node.attribute("success") == Some("true");
            let status = match below(subcase, "Expression").all(holds) {
                true => Status::Passed,
                false => Status::Failed,
            };
            map.set(&format!("{} > {}", named(case), named(subcase)), status);
        }
    }
    map
}

fn document(log: &str) -> Option<&str> {
    let end = "</doctest>";
    let from = log.get(log.find("<doctest")?..)?;
    from.get(..from.find(end)? + end.len())
}

fn below<'a, 'b: 'a>(node: Node<'a, 'b>, tag: &'static str) -> impl Iterator<Item = Node<'a, 'b>> {
    let inside = node.descendants().filter(move |below| *below != node);
    inside.filter(move |below| below.has_tag_name(tag))
}

/// What the official parser writes where there is no name.
fn named<'a>(node: Node<'a, '_>) -> &'a str {
    node.attribute("name").unwrap_or("None")
}
