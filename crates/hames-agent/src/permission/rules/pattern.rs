//! Patterns of rules: one for commands and names, one for paths.
//!
//! Matching is plain text against plain text; nothing is looked up on the disk.

/// `*` stands for any text; `\` takes the next character as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Wildcard {
    parts: Vec<Part>,
    /// `npm run *` is also `npm run`.
    bare_too: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    One(char),
    AnyOne,
    Any,
    /// One of these ranges, or none of them.
    Class(Vec<(char, char)>, bool),
}

impl Part {
    fn takes(&self, c: char) -> bool {
        match self {
            Self::One(own) => *own == c,
            Self::AnyOne => true,
            Self::Any => false,
            Self::Class(ranges, negated) => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated
            }
        }
    }
}

impl Wildcard {
    pub fn new(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            parts.push(match c {
                '*' => Part::Any,
                '\\' => Part::One(chars.next().unwrap_or('\\')),
                other => Part::One(other),
            });
        }
        let bare_too = parts.ends_with(&[Part::One(' '), Part::Any]);
        Self { parts, bare_too }
    }

    pub fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let bare = self
            .parts
            .split_at_checked(self.parts.len().saturating_sub(2));
        let bare = bare.filter(|_| self.bare_too);
        match_parts(&self.parts, &text) || bare.is_some_and(|(bare, _)| match_parts(bare, &text))
    }

    /// The one text that it stands for, if it has no `*`.
    pub fn exact(&self) -> Option<String> {
        let one = |part: &Part| match part {
            Part::One(c) => Some(*c),
            Part::AnyOne | Part::Any | Part::Class(..) => None,
        };
        self.parts.iter().map(one).collect()
    }

    /// The first word; `None` when a `*` is part of it.
    pub fn first_word(&self) -> Option<String> {
        let mut word = String::new();
        for part in &self.parts {
            match part {
                Part::One(c) if c.is_whitespace() => return Some(word),
                Part::One(c) => word.push(*c),
                Part::AnyOne | Part::Any | Part::Class(..) => return None,
            }
        }
        Some(word)
    }
}

/// The last `*` takes one character more whenever what follows does not fit.
fn match_parts(parts: &[Part], text: &[char]) -> bool {
    let (mut part, mut at, mut retry) = (0, 0, None);
    loop {
        match (parts.get(part), text.get(at)) {
            (None, None) => return true,
            (Some(Part::Any), _) => {
                retry = Some((part, at));
                part += 1;
                continue;
            }
            (Some(one), Some(c)) if one.takes(*c) => {
                (part, at) = (part + 1, at + 1);
                continue;
            }
            (Some(_) | None, _) => {}
        }
        let Some((star, taken)) = retry.filter(|(_, taken)| *taken < text.len()) else {
            return false;
        };
        retry = Some((star, taken + 1));
        (part, at) = (star + 1, taken + 1);
    }
}

/// What a path pattern is relative to.
#[derive(Debug, Clone, Copy)]
pub struct Anchors<'a> {
    /// The workspace; also what a leading `/` means. `//` is the root of the file system.
    pub root: &'a str,
    /// What `~` stands for.
    pub home: Option<&'a str>,
}

/// As in a `.gitignore`: `*` within a name, `**` over folders, `?`, `[a-z]`, `{a,b}`; a pattern of
/// one name fits at any depth.
#[derive(Debug, Clone, PartialEq)]
pub struct PathPattern(Vec<Anchored>);

#[derive(Debug, Clone, PartialEq)]
struct Anchored {
    segments: Vec<Segment>,
    /// `/etc` is the workspace's; one who denies it may have meant the system's.
    only_denies: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Segment {
    Depth,
    Name(Vec<Part>),
}

impl PathPattern {
    pub fn new(text: &str, anchors: Anchors<'_>) -> Result<Self, &'static str> {
        let mut anchored = Vec::new();
        for text in braces(text)? {
            for (path, only_denies) in absolute(&text, anchors)? {
                let segments = path
                    .split('/')
                    .filter(|name| !name.is_empty() && *name != ".");
                let segments = segments.map(segment).collect::<Result<_, _>>()?;
                anchored.push(Anchored {
                    segments,
                    only_denies,
                });
            }
        }
        Ok(Self(anchored))
    }

    /// For allowing: the path itself.
    pub fn allows(&self, path: &str) -> bool {
        let names = names(path);
        let allowing = self.0.iter().filter(|one| !one.only_denies);
        names.is_some_and(|names| {
            let mut allowing = allowing;
            allowing.any(|one| match_segments(&one.segments, &names))
        })
    }

    /// For denying: the path, or a folder above it.
    pub fn denies(&self, path: &str) -> bool {
        let Some(names) = names(path) else {
            return true;
        };
        (0..=names.len()).any(|end| {
            let above = names.get(..end).unwrap_or_default();
            self.0
                .iter()
                .any(|one| match_segments(&one.segments, above))
        })
    }
}

/// `None` where `..` would have to be resolved first.
fn names(path: &str) -> Option<Vec<Vec<char>>> {
    let names = path
        .split('/')
        .filter(|name| !name.is_empty() && *name != ".");
    let fold = cfg!(any(target_os = "macos", windows));
    let chars = |name: &str| -> Vec<char> {
        if fold {
            name.to_lowercase().chars().collect()
        } else {
            name.chars().collect()
        }
    };
    names
        .map(|name| (name != "..").then(|| chars(name)))
        .collect()
}

fn absolute(text: &str, anchors: Anchors<'_>) -> Result<Vec<(String, bool)>, &'static str> {
    let root = escape(anchors.root);
    if let Some(path) = text.strip_prefix("//") {
        return Ok(vec![(format!("/{path}"), false)]);
    }
    if let Some(path) = text.strip_prefix("~/").or((text == "~").then_some("")) {
        let home = anchors
            .home
            .ok_or("~ stands for a home that is not known")?;
        return Ok(vec![(format!("{}/{path}", escape(home)), false)]);
    }
    if let Some(path) = text.strip_prefix('/') {
        return Ok(vec![
            (format!("{root}/{path}"), false),
            (format!("/{path}"), true),
        ]);
    }
    let path = text.strip_prefix("./").unwrap_or(text);
    let floats = !text.starts_with("./") && !path.trim_end_matches('/').contains('/');
    let depth = if floats { "**/" } else { "" };
    Ok(vec![(format!("{root}/{depth}{path}"), false)])
}

/// So that a path is taken for nothing but itself.
pub fn escape(path: &str) -> String {
    let mut text = String::new();
    for c in path.chars() {
        if "*?[]{}\\()".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

fn segment(text: &str) -> Result<Segment, &'static str> {
    if text == "**" {
        return Ok(Segment::Depth);
    }
    if text == ".." {
        return Err("`..` leads out of what the rule is about: write the path it means");
    }
    let fold = cfg!(any(target_os = "macos", windows));
    let text = if fold {
        text.to_lowercase()
    } else {
        text.to_owned()
    };
    let mut parts = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        parts.push(match c {
            '*' => Part::Any,
            '?' => Part::AnyOne,
            '\\' => Part::One(chars.next().unwrap_or('\\')),
            '[' => class(&mut chars)?,
            other => Part::One(other),
        });
    }
    Ok(Segment::Name(parts))
}

fn class(chars: &mut std::str::Chars<'_>) -> Result<Part, &'static str> {
    let mut inside: Vec<char> = Vec::new();
    loop {
        match chars.next() {
            None => return Err("[ has no ]: write \\[ for the character itself"),
            Some(']') if !inside.is_empty() => break,
            Some(c) => inside.push(c),
        }
    }
    let negated = matches!(inside.first(), Some('!' | '^'));
    let mut ranges = Vec::new();
    let mut rest = inside.get(usize::from(negated)..).unwrap_or_default();
    while let Some((from, after)) = rest.split_first() {
        match after {
            ['-', to, after @ ..] => {
                ranges.push((*from, *to));
                rest = after;
            }
            _ => {
                ranges.push((*from, *from));
                rest = after;
            }
        }
    }
    Ok(Part::Class(ranges, negated))
}

/// `a{b,c}d` is `abd` and `acd`; one inside the other is not understood.
fn braces(text: &str) -> Result<Vec<String>, &'static str> {
    let Some(open) = unescaped(text, '{') else {
        return Ok(vec![text.to_owned()]);
    };
    let (before, rest) = text.split_at_checked(open).unwrap_or((text, ""));
    let rest = rest.strip_prefix('{').unwrap_or(rest);
    let (inside, after) = rest
        .split_once('}')
        .ok_or("{ has no }: write \\{ for the character itself")?;
    if inside.contains('{') {
        return Err("braces inside braces are not understood");
    }
    let mut all = Vec::new();
    for ending in braces(after)? {
        all.extend(
            inside
                .split(',')
                .map(|choice| format!("{before}{choice}{ending}")),
        );
    }
    Ok(all)
}

fn unescaped(text: &str, wanted: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == wanted && !escaped {
            return Some(at);
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

fn match_segments(segments: &[Segment], names: &[Vec<char>]) -> bool {
    let (mut segment, mut at, mut retry) = (0, 0, None);
    loop {
        match (segments.get(segment), names.get(at)) {
            (None, None) => return true,
            (Some(Segment::Depth), _) => {
                retry = Some((segment, at));
                segment += 1;
                continue;
            }
            (Some(Segment::Name(parts)), Some(name)) if match_parts(parts, name) => {
                (segment, at) = (segment + 1, at + 1);
                continue;
            }
            (Some(_) | None, _) => {}
        }
        let Some((depth, taken)) = retry.filter(|(_, taken)| *taken < names.len()) else {
            return false;
        };
        retry = Some((depth, taken + 1));
        (segment, at) = (depth + 1, taken + 1);
    }
}
