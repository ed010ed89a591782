//! Enumerations with a word for each value.

/// An enumeration with a word for each of its values.
pub(crate) trait Choice: Copy + PartialEq + 'static {
    const WORDS: &'static [(&'static str, Self)];
}

/// Reads a word.
pub(crate) fn parse<T: Choice>(text: &str) -> Result<T, String> {
    let value = T::WORDS.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    value.ok_or_else(|| {
        let words: Vec<&str> = T::WORDS.iter().map(|(word, _)| *word).collect();
        format!("`{text}` is not one of {}", words.join(", "))
    })
}

/// The word for a value.
pub(crate) fn word<T: Choice>(value: T) -> &'static str {
    T::WORDS.iter().find(|(_, other)| *other == value).map_or("", |(word, _)| word)
}

/// Implements `FromStr` and `Display` by words.
macro_rules! choice {
    ($type:ty, $($word:literal => $value:expr),+ $(,)?) => {
        impl $crate::choice::Choice for $type {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, $value)),+];
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                $crate::choice::parse(text)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::choice::word(*self))
            }
        }
    };
}
pub(crate) use choice;
