//! The ways in which a text is not JSON.

/// The levels of nesting that pydantic's parser accepts: 200 below the outermost value.
pub(super) const MAX_DEPTH: usize = 201;

/// The digits that pydantic's parser, like Python, accepts before the point of a number.
pub(crate) const MAX_DIGITS: usize = 4300;

/// What is wrong, and at which byte.
pub(super) struct Fault {
    pub(super) what: Stumble,
    pub(super) at: usize,
}

/// The kind of a [`Fault`].
#[derive(Clone, Copy)]
pub(super) enum Stumble {
    BadEscape,
    BadNumber,
    ControlCharacter,
    EndBeforeValue,
    EndInString,
    EndInside(Inside),
    LoneSurrogate,
    MoreText,
    NoColon,
    NoComma(Inside),
    NoKey,
    NoValue,
    TooDeep,
    TooManyDigits,
    TrailingComma,
}

/// A value with brackets around it.
#[derive(Clone, Copy)]
pub(super) enum Inside {
    Array,
    Object,
}

impl Inside {
    pub(super) fn closing(self) -> u8 {
        match self {
            Self::Array => b']',
            Self::Object => b'}',
        }
    }
}
