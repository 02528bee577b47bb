//! The Porter stemmer (M. F. Porter, "An algorithm for suffix stripping", 1980) in the default variant of NLTK, which
//! ADK uses.
//!
//! The variant differs from the published algorithm in a list of irregular words, in `ies` and `ied` of short words,
//! and in a few rules of step 2. Rules are looked up by the last two letters of their suffix: only rules that share them
//! can match.

/// Stems a word in place and gives the length of the stem.
///
/// The word must consist of lower-case ASCII letters and digits. A stem is never longer than its word.
pub(crate) fn stem(word: &mut [u8]) -> usize {
    if let Some(stem) = irregular(word) {
        word[..stem.len()].copy_from_slice(stem);
        return stem.len();
    }
    let len = word.len();
    if len <= 2 {
        return len;
    }
    let mut word = Word { letters: word, len };
    word.step_1a();
    word.step_1b();
    word.step_1c();
    word.step_2();
    word.replace_by(step_3, 0);
    word.step_4();
    word.step_5();
    word.len
}

fn irregular(word: &[u8]) -> Option<&'static [u8]> {
    Some(match word {
        b"sky" | b"skies" => b"sky",
        b"dying" => b"die",
        b"lying" => b"lie",
        b"tying" => b"tie",
        b"news" => b"news",
        b"inning" | b"innings" => b"inning",
        b"outing" | b"outings" => b"outing",
        b"canning" | b"cannings" => b"canning",
        b"howe" => b"howe",
        b"proceed" => b"proceed",
        b"exceed" => b"exceed",
        b"succeed" => b"succeed",
        _ => return None,
    })
}

type Rule = (&'static [u8], &'static [u8]);

/// The rules of step 2 whose suffix ends in these two letters. Longer suffixes come first.
fn step_2(ending: [u8; 2]) -> &'static [Rule] {
    match &ending {
        b"al" => &[(b"ational", b"ate"), (b"tional", b"tion")],
        b"ci" => &[(b"enci", b"ence"), (b"anci", b"ance")],
        b"er" => &[(b"izer", b"ize")],
        b"li" => &[
            (b"bli", b"ble"),
            (b"alli", b"al"),
            (b"entli", b"ent"),
            (b"eli", b"e"),
            (b"ousli", b"ous"),
            (b"fulli", b"ful"),
        ],
        b"on" => &[(b"ization", b"ize"), (b"ation", b"ate")],
        b"or" => &[(b"ator", b"ate")],
        b"sm" => &[(b"alism", b"al")],
        b"ss" => &[(b"iveness", b"ive"), (b"fulness", b"ful"), (b"ousness", b"ous")],
        b"ti" => &[(b"aliti", b"al"), (b"iviti", b"ive"), (b"biliti", b"ble")],
        _ => &[],
    }
}

/// The rules of step 3 whose suffix ends in these two letters.
fn step_3(ending: [u8; 2]) -> &'static [Rule] {
    match &ending {
        b"al" => &[(b"ical", b"ic")],
        b"ss" => &[(b"ness", b"")],
        b"te" => &[(b"icate", b"ic")],
        b"ti" => &[(b"iciti", b"ic")],
        b"ul" => &[(b"ful", b"")],
        b"ve" => &[(b"ative", b"")],
        b"ze" => &[(b"alize", b"al")],
        _ => &[],
    }
}

/// The rules of step 4 whose suffix ends in these two letters. Longer suffixes come first.
fn step_4(ending: [u8; 2]) -> &'static [Rule] {
    match &ending {
        b"al" => &[(b"al", b"")],
        b"ce" => &[(b"ance", b""), (b"ence", b"")],
        b"er" => &[(b"er", b"")],
        b"ic" => &[(b"ic", b"")],
        b"le" => &[(b"able", b""), (b"ible", b"")],
        b"nt" => &[(b"ant", b""), (b"ement", b""), (b"ment", b""), (b"ent", b"")],
        b"ou" => &[(b"ou", b"")],
        b"sm" => &[(b"ism", b"")],
        b"te" => &[(b"ate", b"")],
        b"ti" => &[(b"iti", b"")],
        b"us" => &[(b"ous", b"")],
        b"ve" => &[(b"ive", b"")],
        b"ze" => &[(b"ize", b"")],
        _ => &[],
    }
}

/// A word while it is stemmed. Its stem so far is the first `len` letters.
struct Word<'a> {
    letters: &'a mut [u8],
    len: usize,
}

impl Word<'_> {
    fn get(&self) -> &[u8] {
        &self.letters[..self.len]
    }

    /// Replaces all letters from `at` on. The replacement is never longer than the rest of the original word.
    fn rewrite(&mut self, at: usize, letters: &[u8]) {
        self.len = at + letters.len();
        self.letters[at..self.len].copy_from_slice(letters);
    }

    /// Applies the first rule whose suffix matches, if the part before it has a measure above `above`. If the
    /// measure is too low, no later rule is tried.
    fn replace_by(&mut self, rules: fn([u8; 2]) -> &'static [Rule], above: usize) {
        let word = self.get();
        let [.., last_but_one, last] = *word else { return };
        let mut rules = rules([last_but_one, last]).iter();
        if let Some((suffix, replacement)) = rules.find(|(suffix, _)| word.ends_with(suffix)) {
            let at = word.len() - suffix.len();
            if measure(&word[..at]) > above {
                self.rewrite(at, replacement);
            }
        }
    }

    /// Plurals.
    fn step_1a(&mut self) {
        match self.get() {
            [_, b'i', b'e', b's'] => self.len -= 1,
            [.., b's', b's', b'e', b's'] | [.., b'i', b'e', b's'] => self.len -= 2,
            [.., b's', b's'] => {}
            [.., b's'] => self.len -= 1,
            _ => {}
        }
    }

    /// Past tenses and participles.
    fn step_1b(&mut self) {
        match self.get() {
            [_, b'i', b'e', b'd'] => self.len -= 1,
            [.., b'i', b'e', b'd'] => self.len -= 2,
            [stem @ .., b'e', b'e', b'd'] => self.len -= usize::from(measure(stem) > 0),
            [stem @ .., b'e', b'd'] | [stem @ .., b'i', b'n', b'g'] if has_vowel(stem) => {
                self.len = stem.len();
                self.restore_ending();
            }
            _ => {}
        }
    }

    /// Restores the ending of the infinitive after `ed` or `ing` was removed.
    fn restore_ending(&mut self) {
        let stem = self.get();
        match stem {
            [.., b'a', b't'] | [.., b'b', b'l'] | [.., b'i', b'z'] => self.rewrite(self.len, b"e"),
            [.., a, b] if a == b && is_consonant(stem, stem.len() - 1) => {
                self.len -= usize::from(!matches!(b, b'l' | b's' | b'z'));
            }
            _ if measure(stem) == 1 && ends_short(stem) => self.rewrite(self.len, b"e"),
            _ => {}
        }
    }

    /// A final `y` after a consonant.
    fn step_1c(&mut self) {
        if let [stem @ .., b'y'] = self.get()
            && stem.len() > 1
            && is_consonant(stem, stem.len() - 1)
        {
            self.rewrite(self.len - 1, b"i");
        }
    }

    fn step_2(&mut self) {
        if let [rest @ .., b'a', b'l', b'l', b'i'] = self.get()
            && measure(rest) > 0
        {
            self.len -= 2;
        }
        match self.get() {
            // The measure of `logi` includes its `l`.
            [rest @ .., b'o', b'g', b'i'] if rest.ends_with(b"l") => {
                self.len -= usize::from(measure(rest) > 0);
            }
            _ => self.replace_by(step_2, 0),
        }
    }

    fn step_4(&mut self) {
        match self.get() {
            [rest @ .., b'i', b'o', b'n'] => {
                if rest.ends_with(b"s") || rest.ends_with(b"t") {
                    self.len -= if measure(rest) > 1 { 3 } else { 0 };
                }
            }
            _ => self.replace_by(step_4, 1),
        }
    }

    /// A final `e`, then a final double `l`.
    fn step_5(&mut self) {
        if let [stem @ .., b'e'] = self.get() {
            let measure = measure(stem);
            if measure > 1 || (measure == 1 && !ends_short(stem)) {
                self.len -= 1;
            }
        }
        if let [stem @ .., b'l'] = self.get()
            && stem.ends_with(b"l")
            && measure(stem) > 1
        {
            self.len -= 1;
        }
    }
}

/// Whether the letter at `at` is a consonant. Digits are consonants; so is `y` at the start and after a vowel.
fn is_consonant(word: &[u8], at: usize) -> bool {
    match word[..=at].iter().rev().take_while(|letter| **letter == b'y').count() {
        0 => !is_vowel_letter(word[at]),
        // In a run of `y`, consonants and vowels alternate. The first is a consonant at the start and after a vowel.
        ys if ys == at + 1 => ys % 2 == 1,
        ys => is_vowel_letter(word[at - ys]) == (ys % 2 == 1),
    }
}

fn is_vowel_letter(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u')
}

fn has_vowel(word: &[u8]) -> bool {
    // A `y` that comes first is a consonant, and one after consonants is a vowel.
    word.iter().enumerate().any(|(at, letter)| is_vowel_letter(*letter) || (*letter == b'y' && at > 0))
}

/// Porter's measure: the number of times that a consonant follows a vowel, about the number of syllables.
fn measure(word: &[u8]) -> usize {
    let mut count = 0;
    // A `y` at the start is a consonant, as after a vowel. A consonant at the start is not counted.
    let mut after_vowel = true;
    for (at, letter) in word.iter().enumerate() {
        let vowel = is_vowel_letter(*letter) || (*letter == b'y' && !after_vowel);
        count += usize::from(after_vowel && !vowel && at > 0);
        after_vowel = vowel;
    }
    count
}

/// Whether the word ends in consonant, vowel, consonant, the last not `w`, `x` or `y`; or is one vowel and one
/// consonant.
fn ends_short(word: &[u8]) -> bool {
    let len = word.len();
    let consonant = |from_end: usize| is_consonant(word, len - from_end);
    match word {
        [] | [_] => false,
        [_, _] => !consonant(2) && consonant(1),
        [.., last] => consonant(3) && !consonant(2) && consonant(1) && !matches!(last, b'w' | b'x' | b'y'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expected: &str) {
        let mut letters = word.as_bytes().to_vec();
        let len = stem(&mut letters);
        assert_eq!(std::str::from_utf8(&letters[..len]).unwrap(), expected, "{word}");
    }

    #[test]
    fn nltk_stems_each_word_of_the_vectors_the_same() {
        let vectors = include_str!("../../tests/vectors/porter_vectors.tsv");
        let mut count = 0;
        for line in vectors.lines() {
            let (word, expected) = line.split_once('\t').unwrap();
            check(word, expected);
            count += 1;
        }
        assert!(count > 1000, "{count}");
    }

    #[test]
    fn a_run_of_y_alternates() {
        let kinds = |word: &[u8]| (0..word.len()).map(|at| is_consonant(word, at)).collect::<Vec<_>>();
        for word in [b"yyyy".as_slice(), b"ayyyb", b"byyya", b"1yy"] {
            let measure_of_kinds = kinds(word).windows(2).filter(|pair| !pair[0] && pair[1]).count();
            assert_eq!(measure(word), measure_of_kinds, "{}", word.escape_ascii());
            assert_eq!(has_vowel(word), kinds(word).contains(&false), "{}", word.escape_ascii());
        }
        assert_eq!(kinds(b"yyy"), [true, false, true]);
        assert_eq!(kinds(b"ayy"), [false, true, false]);
        assert_eq!(kinds(b"byy"), [true, false, true]);
    }

    #[test]
    fn long_words_take_linear_time() {
        let mut word = "yi".repeat(500_000).into_bytes();
        word.extend(b"ational");
        assert!(stem(&mut word) < word.len());
    }
}
