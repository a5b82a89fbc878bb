//! Arguments as models write them: a number in quotes is a number.
//!
//! Only what can be read in one way is; anything else stays an error that the model is told.

use serde::{Deserialize, Deserializer, de::Error};

#[derive(Deserialize)]
#[serde(untagged)]
enum Written<T> {
    Plain(T),
    Quoted(String),
    Nothing(()),
}

pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    match Written::<f64>::deserialize(from) {
        Ok(Written::Plain(number)) => Ok(Some(number)),
        Ok(Written::Nothing(())) => Ok(None),
        Ok(Written::Quoted(text)) => match text.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(D::Error::custom(format!("{text:?} is not a number"))),
        },
        Err(_) => Err(D::Error::custom("a number is wanted here")),
    }
}

/// A count; what is below zero counts as none given, so that `-1` means "no limit of mine".
pub(crate) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    let number = number(from)?.filter(|number| *number >= 0.0);
    // Beyond what a count can be it saturates.
    Ok(number.map(|number| number as usize))
}

pub(crate) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    match Written::<bool>::deserialize(from) {
        Ok(Written::Plain(flag)) => Ok(flag),
        Ok(Written::Nothing(())) => Ok(false),
        Ok(Written::Quoted(text)) => match text.trim() {
            "true" | "True" => Ok(true),
            "false" | "False" | "" => Ok(false),
            _ => Err(D::Error::custom(format!(
                "{text:?} is neither true nor false"
            ))),
        },
        Err(_) => Err(D::Error::custom("true or false is wanted here")),
    }
}
