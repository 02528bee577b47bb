//! The arguments that select cases by their tags.

use eval_format::tags::TagSelection;
use eval_support::untrusted::one_line;

use crate::output::CommandError;

#[derive(Debug, Default, clap::Args)]
pub(crate) struct TagArgs {
    /// Takes only cases with this tag; if several are given, with one of them. Can be repeated.
    #[arg(long = "tag", value_name = "TAG")]
    any: Vec<String>,

    /// Takes no case with this tag. Can be repeated.
    #[arg(long = "skip-tag", value_name = "TAG")]
    none: Vec<String>,
}

impl TagArgs {
    /// The selection among cases with these tags. Fails if none of them has a tag that is named.
    pub(crate) fn among<T: AsRef<str>>(
        &self,
        known: impl IntoIterator<Item = T>,
    ) -> Result<TagSelection, CommandError> {
        let selection = TagSelection { any: self.any.clone(), none: self.none.clone() };
        match selection.check(known) {
            Ok(()) => Ok(selection),
            Err(unknown) => Err(CommandError::new(one_line(&unknown.to_string()), one_line(&unknown.help()))),
        }
    }
}
