//! The pages of `docs/` on the agents of this crate, as rustdoc.
//!
//! A page links to other pages by reference links. The definitions at its end are for readers of the
//! repository. Here, definitions in front of the page lead to the pages in rustdoc: of two definitions the
//! first one counts.

macro_rules! page {
    ($file:literal) => {
        concat!(
            // A definition cannot follow a line of text, and rustdoc takes one line break away.
            "\n\n",
            "[agents]: eval_core::agent\n",
            "[in src]: eval_core::agent#an-agent-in-src\n",
            "[any agent]: crate\n",
            "[begin]: eval_core::metric#which-metric-to-begin-with\n",
            "[ci]: https://docs.rs/eval-core/latest/eval_core/_documentation/ci\n",
            "[golden tools]: https://docs.rs/eval-core/latest/eval_core/_documentation/golden_tools\n",
            "[mcp]: https://docs.rs/eval-core/latest/eval_core/_documentation/golden_tools#tools-from-mcp-servers\n",
            "[goldens]: https://docs.rs/eval-core/latest/eval_core/_documentation/goldens\n",
            "[metric programs]: eval_core::metric#programs-as-metrics\n",
            "[programs]: eval_core::runner\n",
            "[recorded models]: https://docs.rs/eval-core/latest/eval_core/models\n",
            "[protocol]: crate::_documentation::protocol\n",
            "[python]: crate::_documentation::python\n",
            "[traces]: crate::_documentation::stored_traces\n",
            "[run]: https://docs.rs/eval-core/latest/eval_core/_documentation/command_line#run\n",
            "[unreachable]: eval_core::agent#when-an-agent-is-not-reached\n",
            "\n",
            include_str!($file)
        )
    };
}

pub(crate) use page;
