//! The page of `docs/` on this crate, as rustdoc.
//!
//! A page defines its reference links at its end, for readers of the repository. Here, definitions in front
//! of the page lead to the pages in rustdoc; the first of two definitions counts.

macro_rules! page {
    ($file:literal) => {
        concat!(
            // A definition cannot follow a line of text, and rustdoc takes one line break away.
            "\n\n",
            "[command line]: https://docs.rs/eval-core/latest/eval_core/_documentation/command_line\n",
            "[exports]: https://docs.rs/eval-core/latest/eval_core/_documentation/differences#exports\n",
            "[recorded calls]: https://docs.rs/eval-core/latest/eval_core/models#tokens-and-cost-in-reports\n",
            "[run]: https://docs.rs/eval-core/latest/eval_core/_documentation/command_line#run\n",
            "[worse]: https://docs.rs/eval-core/latest/eval_core/_documentation/worse\n",
            "\n",
            include_str!($file)
        )
    };
}

pub(crate) use page;
