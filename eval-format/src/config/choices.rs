//! The options of a criterion that are one of a few.

/// How the tool calls of a turn must agree with the expected ones: `match_type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MatchType {
    /// The same calls in the same order.
    #[default]
    Exact,
    /// The expected calls in order; others may stand between them.
    InOrder,
    /// The expected calls in any order; others may be there.
    AnyOrder,
}

/// How the arguments of two tool calls must agree: `args_match`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ArgsMatch {
    /// Equal.
    #[default]
    Exact,
    /// Each expected argument equal; the actual call may have more.
    Subset,
    /// Not compared.
    Ignore,
}

/// How `response_similarity` compares two texts: `algorithm`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Similarity {
    /// 1 where the texts are equal.
    Exact,
    /// 1 where the expected text stands in the answer.
    Contains,
    /// The share of characters that need no edit to get from one text to the other.
    Levenshtein,
    /// The share of the different words of both texts that are in both.
    #[default]
    Jaccard,
    /// F1 of the words that both texts have.
    Rouge1,
    /// F1 of the pairs of neighbouring words that both texts have.
    Rouge2,
    /// F1 of the longest sequence of words that both texts have in that order.
    RougeL,
}

impl MatchType {
    pub(super) const ALL: [Self; 3] = [Self::Exact, Self::InOrder, Self::AnyOrder];
    pub(crate) const NAMES: [&'static str; 3] = ["EXACT", "IN_ORDER", "ANY_ORDER"];

    /// The word that stands for it in a config.
    pub fn as_str(self) -> &'static str {
        // The names stand in the order of the variants.
        Self::NAMES[self as usize]
    }
}

impl ArgsMatch {
    pub(super) const ALL: [Self; 3] = [Self::Exact, Self::Subset, Self::Ignore];
    pub(crate) const NAMES: [&'static str; 3] = ["exact", "subset", "ignore"];

    /// The word that stands for it in a config.
    pub fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

impl Similarity {
    pub(super) const ALL: [Self; 7] = [
        Self::Exact,
        Self::Contains,
        Self::Levenshtein,
        Self::Jaccard,
        Self::Rouge1,
        Self::Rouge2,
        Self::RougeL,
    ];
    pub(crate) const NAMES: [&'static str; 7] =
        ["exact", "contains", "levenshtein", "jaccard", "rouge_1", "rouge_2", "rouge_l"];

    /// The word that stands for it in a config.
    pub fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Whether upper and lower case can make a difference: not to ROUGE, whose words are lower case.
    pub fn sees_case(self) -> bool {
        !matches!(self, Self::Rouge1 | Self::Rouge2 | Self::RougeL)
    }

    /// Whether white space can make a difference: not where texts are compared word by word.
    pub fn sees_white_space(self) -> bool {
        matches!(self, Self::Exact | Self::Contains | Self::Levenshtein)
    }
}
