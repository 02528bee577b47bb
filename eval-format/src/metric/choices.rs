//! The options of criteria that have a fixed set of values.

/// The required agreement of a turn's tool calls with the expected calls: `match_type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MatchType {
    /// The same calls in the same order.
    #[default]
    Exact,
    /// The expected calls in their order. Other calls are allowed between them.
    InOrder,
    /// The expected calls in any order. There may be other calls.
    AnyOrder,
}

/// The required agreement of the arguments of two tool calls: `args_match`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ArgsMatch {
    /// The arguments are equal.
    #[default]
    Exact,
    /// Each expected argument is equal. The actual call may have more arguments.
    Subset,
    /// Arguments are not compared.
    Ignore,
}

/// The algorithm by which `response_similarity` compares two texts: `algorithm`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Similarity {
    /// 1 if the texts are equal, else 0.
    Exact,
    /// 1 if the answer contains the expected text, else 0.
    Contains,
    /// 1 minus the edit distance divided by the length of the longer text, both in characters.
    Levenshtein,
    /// The number of different words in both texts, divided by the number of different words in either.
    #[default]
    Jaccard,
    /// ROUGE-1: the F1 score of the words that the texts share.
    Rouge1,
    /// ROUGE-2: the F1 score of the pairs of neighbouring words that the texts share.
    Rouge2,
    /// ROUGE-L: the F1 score of the longest sequence of words that both texts have in the same order.
    RougeL,
}

/// The side of a threshold on which scores pass: `direction`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Scores from the threshold up pass, as in ADK.
    #[default]
    AtLeast,
    /// Scores up to the threshold pass: for costs, tokens, seconds.
    AtMost,
}

macro_rules! names {
    ($choice:ident { $($value:ident = $name:literal,)+ }) => {
        impl $choice {
            pub(crate) const ALL: &[Self] = &[$(Self::$value),+];
            pub(crate) const NAMES: &[&str] = &[$($name),+];

            /// Its name in a config.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }
        }
    };
}

names!(MatchType { Exact = "EXACT", InOrder = "IN_ORDER", AnyOrder = "ANY_ORDER", });
names!(Direction { AtLeast = "at_least", AtMost = "at_most", });
names!(ArgsMatch { Exact = "exact", Subset = "subset", Ignore = "ignore", });
names!(Similarity {
    Exact = "exact",
    Contains = "contains",
    Levenshtein = "levenshtein",
    Jaccard = "jaccard",
    Rouge1 = "rouge_1",
    Rouge2 = "rouge_2",
    RougeL = "rouge_l",
});

impl Similarity {
    /// Whether upper and lower case can make a difference. They cannot for ROUGE, whose words are in lower case.
    pub fn sees_case(self) -> bool {
        !matches!(self, Self::Rouge1 | Self::Rouge2 | Self::RougeL)
    }

    /// Whether white space can make a difference. It cannot if texts are compared word by word.
    pub fn sees_white_space(self) -> bool {
        matches!(self, Self::Exact | Self::Contains | Self::Levenshtein)
    }
}
